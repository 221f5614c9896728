package main

import (
	"encoding/json"
	"strings"
	"testing"

	"snens/broker/action"
	"snens/internal/wire"
)

func TestPrivRules(t *testing.T) {
	rules := []string{
		`{"rule":{"id":"web","about":"restart \u001b[1m the web","decision":"ask","command":"/bin/systemctl","args":[{"text":"restart"},` +
			`{"slot":"unit","kind":"enum","values":["a","b"],"many":2,"optional":true},{"slot":"n","kind":"int","min":1,"max":9},` +
			`{"slot":"p","kind":"path","beneath":"/srv/"},{"slot":"w","kind":"word","pattern":"x+"},{"slot":"u","kind":"user"}],` +
			`"run_as":"root","stdin":"sealed","detach":true,"cwd":"/","env_pass":["LANG"],"timeout":"1m","approvers":["group:ops"],"ttl":"15m","reason_required":true}}`,
		`{"rule":{"id":"who","decision":"allow","command":"/usr/bin/id","run_as":"www","stdin":"none"}}`,
		`{"count":2}`,
	}
	want := `snens priv web [unit=a|b ...] n=1..9 p=/srv/... w=/x+/ u=USER --stdin --reason TEXT
  restart \u{1b}[1m the web
  runs as root: /bin/systemctl restart {unit} {n} {p} {w} {u}
  when group:ops has approved, within 15m; at most 1m; variables (--env): LANG; --no-wait
snens priv who
  runs as www: /usr/bin/id
  at once
`
	if status, stdout, stderr := privRunner(t, answers(t, "rules", `{}`, rules...)).run("priv", "--user", "rules"); status != 0 || stdout != want || stderr != "" {
		t.Errorf("%d, %q:\n%s", status, stderr, stdout)
	}
	status, stdout, _ := privRunner(t, answers(t, "rules", `{}`, rules...)).run("priv", "--user", "rules", "--json")
	var list []struct{ ID, About string }
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || status != 0 || len(list) != 2 || list[0].ID != "web" || list[0].About != "restart \x1b[1m the web" {
		t.Errorf("%d, %v:\n%s", status, err, stdout)
	}
	if status, stdout, _ := privRunner(t, answers(t, "rules", `{}`, `{"count":0}`)).run("priv", "--user", "rules", "--json"); status != 0 || stdout != "[]\n" {
		t.Errorf("none: %d, %q", status, stdout)
	}
}

func TestPrivListResultCancel(t *testing.T) {
	id := someID.String()
	pending := `{"id":"` + id + `","state":"pending"}`
	failed := `{"id":"` + id + `","state":"exited","reason":"exited","exit_code":3}`
	killed := `{"id":"` + id + `","state":"exited","reason":"signalled","signal":9}`
	denied := `{"id":"` + id + `","state":"denied","reason":"approver_denied"}`
	list := []string{`{"request":` + pending + `}`, `{"request":` + failed + `}`, `{"request":` + killed + `}`, `{"request":` + denied + `}`, `{"count":4}`}
	for _, c := range []struct {
		args   string
		socket string
		status int
		stdout string
	}{
		{"list", answers(t, "list", `{}`, list...), 0, id + "  pending\n" + id + "  exited   exit status 3\n" + id + "  exited   ended by signal 9\n" + id + "  denied   an approver said no\n"},
		{"list", answers(t, "list", `{}`, `{"count":0}`), 0, ""},
		{"list --json", answers(t, "list", `{}`, `{"count":0}`), 0, "[]\n"},
		{"result " + id, answers(t, "result", `{"request":"`+id+`"}`, pending), 75, "pending\n"},
		{"result " + id + " --wait", answers(t, "result", `{"request":"`+id+`","wait":true}`, failed), 3, "exited: exit status 3\n"},
		{"result " + id, answers(t, "result", `{"request":"`+id+`"}`, killed), 137, "exited: ended by signal 9\n"},
		{"result " + id, answers(t, "result", `{"request":"`+id+`"}`, denied), 77, "denied: an approver said no\n"},
		{"cancel " + id, answers(t, "cancel", `{"request":"`+id+`"}`, `{}`), 0, ""},
	} {
		status, stdout, stderr := privRunner(t, c.socket).run(append([]string{"priv", "--user"}, strings.Fields(c.args)...)...)
		if status != c.status || stdout != c.stdout || stderr != "" {
			t.Errorf("%s: got %d, %q, %q, want %d, %q", c.args, status, stdout, stderr, c.status, c.stdout)
		}
	}
	status, stdout, _ := privRunner(t, answers(t, "result", `{"request":"`+id+`"}`, failed)).run("priv", "--user", "--json", "result", id)
	var told privRecord
	if err := json.Unmarshal([]byte(stdout), &told); err != nil || status != 3 || told.Exit != 3 || *told.ExitCode != 3 || told.Ours {
		t.Errorf("%d, %v, %s", status, err, stdout)
	}
	status, _, stderr := privRunner(t, refuses(t, wire.Errorf("not_found", "there is no such request"))).run("priv", "--user", "cancel", id)
	if status != action.ReasonNotFound.ExitStatus() || stderr != "snens: cannot do that: there is no such request\nhint: your requests: snens priv --user list\n" {
		t.Errorf("%d, %q", status, stderr)
	}
}

func TestPrivCheck(t *testing.T) {
	for _, c := range []struct {
		args, params, answer string
		status               int
		stdout               string
	}{
		{"web n=1", `{"rule":"web","slots":{"n":["1"]}}`, `{"decision":"allow","rule":"web","argv":["/bin/x","a\u001b"]}`, 0, "allow, by the rule web: /bin/x a\\u{1b}\n"},
		{
			"-- x", `{"argv":["x"]}`, `{"decision":"ask","rule":"web","argv":["/bin/x"],"approvers":["ann","bob","group:ops"],"reason_required":true}`, 1,
			"ask, by the rule web, of ann, bob or group:ops, with --reason: /bin/x\n",
		},
		{"-- x", `{"argv":["x"]}`, `{"decision":"deny","reason":"denied","why":"argument 1 is not one of a, b"}`, 77, "deny: this is not allowed: argument 1 is not one of a, b\n"},
	} {
		args := append([]string{"priv", "--user", "check"}, strings.Fields(c.args)...)
		if status, stdout, stderr := privRunner(t, answers(t, "check", c.params, c.answer)).run(args...); status != c.status || stdout != c.stdout || stderr != "" {
			t.Errorf("%s: got %d, %q, %q, want %d, %q", c.args, status, stdout, stderr, c.status, c.stdout)
		}
		args = append([]string{"--json"}, args...)
		status, stdout, _ := privRunner(t, answers(t, "check", c.params, c.answer)).run(args...)
		var j struct{ Decision string }
		if err := json.Unmarshal([]byte(stdout), &j); err != nil || status != c.status || !strings.HasPrefix(c.stdout, j.Decision) {
			t.Errorf("%s: %d, %v, %s", c.args, status, err, stdout)
		}
	}
}

// Completion asks the broker for rules and slots, and is silent without one.
func TestPrivCompletion(t *testing.T) {
	rules := []string{
		`{"rule":{"id":"web","about":"restart","decision":"ask","args":[{"slot":"unit","kind":"enum","values":["a","b"]},{"slot":"n","kind":"int"}]}}`,
		`{"rule":{"id":"who","decision":"allow"}}`, `{"count":2}`,
	}
	for args, want := range map[string]string{
		"w":          "web\trestart\nwho\n",
		"wh":         "who\n",
		"web |":      "unit=\nn=\n",
		"web unit=":  "unit=a\nunit=b\n",
		"web unit=b": "unit=b\n",
	} {
		r := newRunner(t)
		r.env = append(r.env, "SNENS_PRIV="+answers(t, "rules", `{}`, rules...), "SNENS_CONFIG="+userConfig(t))
		words := strings.Fields(args)
		for i := range words {
			words[i] = strings.Trim(words[i], "|")
		}
		_, stdout, _ := r.run(append([]string{"__complete", "priv"}, words...)...)
		if got, _, _ := strings.Cut(stdout, ":"); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", args, stdout, want)
		}
	}
}
