package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"snens/broker/action"
)

// rulesAnswer are two rules, one of them about systemctl.
func rulesAnswer() []string {
	return []string{
		`{"rule":{"id":"restart-web","about":"Restart a web server","decision":"ask","command":"/usr/bin/systemctl","args":[{"text":"restart"},{"slot":"unit","kind":"enum","values":["nginx.service","caddy.service"],"many":1,"optional":false}],"run_as":"root","stdin":"none","detach":false,"cwd":"/","env_pass":[],"timeout":"1m","approvers":["group:ops"],"ttl":"10m","reason_required":true}}`,
		`{"rule":{"id":"motd","about":"","decision":"allow","command":"/usr/bin/tee","args":[{"text":"/etc/motd"},{"slot":"n","kind":"int","min":1,"max":9,"many":2,"optional":true}],"run_as":"root","stdin":"sealed","detach":true,"cwd":"/","env_pass":[],"timeout":"1m"}}`,
		`{"count":2}`,
	}
}

// What each tool asks for is exactly one command, its words one argument each.
func TestToolsAskForWholeCommands(t *testing.T) {
	s := newScript(t, map[string][]string{"run": {result()}})
	t.Chdir("/")
	for _, c := range []struct {
		argv       []string
		doing, ask string
	}{
		{[]string{"service", "--reason=why", "restart", "--", "nginx"}, "restart nginx.service", `"argv":["/usr/bin/systemctl","restart","nginx.service"]|service|why`},
		{[]string{"service", "start", "a@b.timer"}, "start a@b.timer", `"argv":["/usr/bin/systemctl","start","a@b.timer"]|service|`},
		{[]string{"service", "stop", "x.y"}, "stop x.y.service", `"argv":["/usr/bin/systemctl","stop","x.y.service"]|service|`},
		{[]string{"service", "reload", "x.service"}, "reload x.service", `"argv":["/usr/bin/systemctl","reload","x.service"]|service|`},
		{[]string{"package", "install", "--", "jq", "g++"}, "install jq g++", `"argv":["/usr/bin/apt-get","install","--yes","--no-remove","jq","g++"]|package|`},
		{[]string{"package", "remove", "jq:amd64"}, "remove jq:amd64", `"argv":["/usr/bin/apt-get","remove","--yes","jq:amd64"]|package|`},
		{[]string{"package", "upgrade"}, "upgrade", `"argv":["/usr/bin/apt-get","upgrade","--yes"]|package|`},
		{[]string{"package", "upgrade", "jq"}, "upgrade jq", `"argv":["/usr/bin/apt-get","install","--yes","--no-remove","--only-upgrade","jq"]|package|`},
		{[]string{"package", "update"}, "update", `"argv":["/usr/bin/apt-get","update"]|package|`},
		{[]string{"priv", "--", "/x", "", "-a", "$HOME *"}, "run /x  -a $HOME *", `"argv":["/x","","-a","$HOME *"]|priv|`},
		{[]string{"priv", `--slots={"unit":"a","n":3,"more":["x","-y"],"none":[]}`, "--rule=r"}, "run rule r", `"rule":"r","slots":{"more":["x","-y"],"n":["3"],"none":[],"unit":["a"]}|priv|`},
	} {
		sees(t, 0, "", "done: "+c.doing+" (request "+anID.String()+")\n", c.argv...)
		ask, rest, _ := strings.Cut(c.ask, "|")
		tool, reason, _ := strings.Cut(rest, "|")
		if reason != "" {
			reason = `,"reason":"` + reason + `"`
		}
		want := `run {` + ask + `,"cwd":"/","claims":{"tool":"` + tool + `"` + reason + `},"fds":3}`
		if got := s.asked(); got != want {
			t.Errorf("%q asked\n%s, want\n%s", c.argv, got, want)
		}
	}
}

// Nothing that apt-get or systemctl would take for more than a name leaves the tool.
func TestNoOptionIsSmuggledThroughATool(t *testing.T) {
	s := newScript(t, map[string][]string{"run": {result()}})
	for _, name := range []string{"--now", "-H", "-Hroot@other", "--root=/x", "--host=x", "*", "a b", "a;b", "a\nb", "", "../x", "/x", "-.mount", "a*"} {
		if status, _, errs := use(t, "", "service", "restart", "--", name); status != 2 || !strings.Contains(errs, "service: the unit must be") {
			t.Errorf("unit %q: %d %q", name, status, errs)
		}
	}
	for _, action := range []string{"install", "remove", "upgrade"} {
		for _, name := range []string{"-oDpkg::Pre-Invoke=id", "--allow-downgrades", "-y", "./x.deb", "/x.deb", "jq-", "jq-:amd64", "jq=1.0", "jq/sid", "jq*", "j q", "", "JQ", "^jq", "~njq", "?name(jq)", "jq\x00"} {
			if status, _, errs := use(t, "", "package", action, "--", name); status != 2 {
				t.Errorf("%s %q: %d %q", action, name, status, errs)
			}
		}
	}
	if status, _, _ := use(t, "", "package", "remove", "--", "nmap+"); status != 2 {
		t.Error("remove nmap+ would install it")
	}
	for _, word := range []string{"status --now", "daemon-reload", "edit", "--now", "mask"} {
		if status, _, _ := use(t, "", "service", "--", word, "ssh"); status != 2 {
			t.Errorf("action %q: %d", word, status)
		}
	}
	if asked := s.asked(); asked != "" {
		t.Errorf("asked %s", asked)
	}
}

// A refusal says why, and what may be asked for instead: the rules about the same
// program, with what fits.
func TestARefusalSaysWhatIsPossible(t *testing.T) {
	s := newScript(t, map[string][]string{
		"run":   {`!denied this is not allowed {"why":"argument 2, \"ssh.service\", is not one of nginx.service, caddy.service"}`},
		"rules": rulesAnswer(),
	})
	sees(t, action.ExitDenied, "", `service: cannot restart ssh.service: this is not allowed: argument 2, "ssh.service", is not one of nginx.service, caddy.service
you may ask for:
  rule restart-web: Restart a web server
    /usr/bin/systemctl restart {unit}
      {unit}: one of nginx.service, caddy.service
    runs as root when group:ops has approved; waits for that at most 10m0s; needs a reason
`, "service", "restart", "ssh")
	sees(t, action.ExitDenied, "", `package: cannot install jq: this is not allowed: argument 2, "ssh.service", is not one of nginx.service, caddy.service
no rule of yours is about this command; your rules: restart-web, motd (priv list=true shows them)
`, "package", "install", "jq")
	if got := s.asked(); strings.Count(got, "run ") != 2 || strings.Count(got, "rules {}") != 2 {
		t.Errorf("asked %s", got)
	}
	s.says("rules", "!denied this is not allowed")
	s.says("run", "!denied this is not allowed")
	sees(t, action.ExitDenied, "", `service: cannot restart ssh.service: this is not allowed
no rule of the policy names you, so there is nothing that you may ask for; root can add one (/etc/snens/priv.toml)
`, "service", "restart", "ssh")
	s.says("run", `!bad_request the request does not fit {"why":"slot \"unit\" is missing"}`)
	s.says("rules", rulesAnswer()...)
	if status, _, errs := use(t, "", "priv", "--rule=motd"); status != 64 || !strings.Contains(errs, `slot "unit" is missing`) ||
		!strings.Contains(errs, "{n}: a whole number from 1 to 9; up to 2 of them; may be left out") || strings.Contains(errs, "systemctl") {
		t.Errorf("%d %s", status, errs)
	}
}

// Waiting says for whom; when nobody came, what an approver types.
func TestPeopleAreNamed(t *testing.T) {
	pending := `{"state":"pending","id":"` + anID.String() + `","digest":"` + action.DigestOf("x").String() + `","rule":"restart-web","expires":"2000-01-31T23:59:59.000000Z","approvers":["group:ops","user:ann"],"asked":0}`
	newScript(t, map[string][]string{"run": {pending, `{"id":"` + anID.String() + `","state":"expired","reason":"expired"}`}})
	sees(t, action.ExitExpired, "", fmt.Sprintf(`waiting at most 0s for group:ops or user:ann to approve request %[1]s (digest %[2]s, rule restart-web)
none of them is listening now; one of them can type: snens approve show %[1]s
service: cannot restart nginx.service: nobody answered in time
hint: tell group:ops or user:ann; then ask again, and one of them types: snens approve
`, anID, action.DigestOf("x").Short()), "service", "restart", "nginx")
}

// Each end has a status of its own, and a command's own status is never one of ours.
func TestHowToolsEnd(t *testing.T) {
	s := newScript(t, map[string][]string{})
	end := func(state, reason string) string {
		return `{"id":"` + anID.String() + `","state":"` + state + `","reason":"` + reason + `"}`
	}
	for _, c := range []struct {
		answer string
		status int
		text   string
	}{
		{result(`"exit_code":0`, `"exit_code":77`), 1, "the command ended with status 77"},
		{result(`"exited","exit_code":0`, `"signalled","signal":9`), 1, "ended by SIGKILL"},
		{result(`"exited","exit_code":0`, `"timed_out"`), 1, "longer than the rule allows"},
		{end("denied", "approver_denied"), 77, "do not ask for the same again"},
		{end("stale", "stale_rule"), 75, "ask again"},
		{end("cancelled", "daemon_restart"), 75, "ask again"},
		{end("failed_to_start", "command_missing"), 127, "not there"},
		{end("lost", "lost"), 70, "look at what it has done"},
		{"!busy too many", 75, "later"},
		{`!duplicate the same request is waiting already {"id":"` + anID.String() + `"}`, 75, "priv result=" + anID.String()},
		{"!cooling_down wait", 75, "something has changed"},
		{"!reason_required words", 64, "fill in reason"},
		{"!too_long x", 64, "x"},
		{"!internal x", 70, "x"},
	} {
		s.says("run", c.answer)
		if status, out, errs := use(t, "", "package", "install", "jq"); status != c.status || out != "" || !strings.Contains(errs, c.text) || !strings.HasPrefix(errs, "package: cannot install jq: ") {
			t.Errorf("%s: %d %q %q", c.answer, status, out, errs)
		}
	}
	s.says("run", result())
	s.mu.Lock()
	s.writes = "Setting up jq\n"
	s.mu.Unlock()
	sees(t, 0, "Setting up jq\n", "done: install jq (request "+anID.String()+")\n", "package", "install", "jq")
}

func TestPrivShowsAndFollows(t *testing.T) {
	id := anID.String()
	s := newScript(t, map[string][]string{
		"rules":  rulesAnswer(),
		"check":  {`{"decision":"ask","rule":"restart-web","argv":["/x"],"approvers":["group:ops"],"stdin":"none","reason_required":true}`},
		"result": {result()},
		"cancel": {`{}`},
		"run":    {`{"id":"` + id + `","state":"pending"}`},
	})
	if status, out, errs := use(t, "", "priv", "--list"); status != 0 || errs != "" || !strings.Contains(out, "  rule motd\n    /usr/bin/tee /etc/motd {n}\n") ||
		!strings.Contains(out, "runs as root at once; reads stdin; no_wait is possible\n") {
		t.Errorf("%d %q %q", status, out, errs)
	}
	sees(t, 0, "ask, by rule restart-web, of group:ops; needs a reason\n", "", "priv", "--check", "--", "/x")
	sees(t, 0, id+": exited: the command ended with status 0\n", "", "priv", "--result", id)
	sees(t, 0, "cancelled "+id+"\n", "", "priv", "--cancel="+id)
	s.asked()
	status, out, errs := use(t, "a\n", "priv", "--no-wait", "--stdin", "--rule=motd")
	if status != 0 || errs != "" || out != "pending: run rule motd, as request "+id+"\npriv result="+id+" tells what became of it, priv cancel="+id+" gives it up\n" {
		t.Errorf("%d %q %q", status, out, errs)
	}
	if got := s.asked(); !strings.Contains(got, `"stdin":"a\n"`) || !strings.Contains(got, `"detach":true`) || !strings.Contains(got, `"fds":0`) {
		t.Errorf("asked %s", got)
	}
	s.says("check", `{"decision":"deny","reason":"rule_denies","why":"rule no denies this"}`)
	sees(t, 0, "deny: a rule denies this: rule no denies this\n", "", "priv", "--check", "--", "/x")
	s.says("rules", `{"count":0}`)
	sees(t, 3, "there is nothing that you may ask for\n", "", "priv", "--list")
	s.says("result", "!not_found there is no such request")
	sees(t, 64, "", "priv: cannot find request "+id+": there is no such request\n", "priv", "--result", id)
	if status, _, errs := use(t, strings.Repeat("x", action.MaxText+1), "priv", "--stdin", "--rule=motd"); status != 2 || !strings.Contains(errs, "65536 bytes") {
		t.Errorf("%d %q", status, errs)
	}
}

// What the broker says cannot steer a terminal.
func TestTheBrokersWordsAreEscaped(t *testing.T) {
	s := newScript(t, map[string][]string{"run": {`!denied no` + `\u001b`}, "rules": {strings.Replace(rulesAnswer()[0], "Restart a web", `\u001b[2J\u202e`, 1), `{"count":1}`}})
	s.says("run", `!denied no {"why":"\u001b]52;c;x\u0007"}`)
	_, out, errs := use(t, "", "service", "restart", "ssh")
	if strings.ContainsAny(out+errs, "\x1b\x07\u202e") || !strings.Contains(errs, `\u{1b}`) || !strings.Contains(errs, `\u{202e}`) {
		t.Errorf("%q %q", out, errs)
	}
}

// The classes that models are told follow from the reasons' exit statuses.
func TestClassesOfRefusals(t *testing.T) {
	for _, name := range []string{"package", "priv", "service"} {
		exit := readSchema(t, name).XSnens.Exit
		for _, r := range action.Reasons() {
			want := "error"
			switch r.ExitStatus() {
			case action.ExitTryLater, action.ExitExpired:
				want = "retry"
			case action.ExitBadRequest:
				want = "usage"
			case action.ExitTimedOut, 128 + 9: // told as 1
				continue
			}
			if got := exit[fmt.Sprint(r.ExitStatus())]; got != want && r.ExitStatus() > 0 {
				t.Errorf("%s: %s has status %d, which is %q, not %q", name, r, r.ExitStatus(), got, want)
			}
		}
		if classes := []string{exit["1"], exit["2"], exit["3"]}; !slices.Equal(classes, []string{"error", "usage", "empty"}) {
			t.Errorf("%s: %q", name, classes)
		}
	}
}

// Whatever slots are read are lists of words under names that were sent.
func FuzzParseSlots(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":"b"}`, `{"a":["b","c"],"n":3}`, `{"a":null}`, `{"a":{}}`, `[]`, `{"a":[1,true]}`, `{"a":1e99}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		slots, err := parseSlots(s)
		if err != nil && slots != nil {
			t.Errorf("%q gives %v and %v", s, slots, err)
		}
		for name, words := range slots {
			if words == nil {
				t.Errorf("%q: slot %q is nil", s, name)
			}
		}
	})
}
