package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/testneed"
	"snens/internal/wire"
)

// However a request ends: the exit status, what stderr says, and the line that
// tells the broker's statuses from the command's.
func TestPrivEndsLikeItsCommandOrSaysWhy(t *testing.T) {
	id := someID.String()
	type end struct {
		r      action.Result
		status int
		stderr string
		line   string
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []end{
		{
			action.Result{ID: someID, State: action.Exited, Reason: action.ReasonExited, Started: at, Ended: at.Add(time.Second)},
			0, "err\n",
			`{"id":"` + id + `","rule":"web","state":"exited","reason":"exited","exit_code":0,"signal":null,"started":"2026-01-02T03:04:05.000000Z",` +
				`"ended":"2026-01-02T03:04:06.000000Z","ours":false,"exit":0,"message":null}`,
		},
		{
			action.Result{ID: someID, State: action.Exited, Reason: action.ReasonExited, Code: 77},
			77, "err\n",
			`{"id":"` + id + `","rule":"web","state":"exited","reason":"exited","exit_code":77,"signal":null,"started":null,"ended":null,"ours":false,"exit":77,"message":null}`,
		},
		{
			action.Result{ID: someID, State: action.Exited, Reason: action.ReasonSignalled, Signal: 9},
			137, "err\n",
			`{"id":"` + id + `","rule":"web","state":"exited","reason":"signalled","exit_code":null,"signal":9,"started":null,"ended":null,"ours":false,"exit":137,"message":null}`,
		},
		{
			action.Result{ID: someID, State: action.Denied, Reason: action.ReasonApproverDenied},
			77,
			"err\nsnens: cannot run web: an approver said no\n",
			`{"id":"` + id + `","rule":"web","state":"denied","reason":"approver_denied","exit_code":null,"signal":null,"started":null,"ended":null,"ours":true,"exit":77,` +
				`"message":"cannot run web: an approver said no"}`,
		},
	} {
		r := privRunner(t, ends(t, c.r))
		if status, stdout, stderr, line := r.privStatus("web"); status != c.status || stdout != "out\n" || stderr != c.stderr || line != c.line+"\n" {
			t.Errorf("%+v: got %d, %q, %q\n%swant %d, %q\n%s", c.r, status, stdout, stderr, line, c.status, c.stderr, c.line)
		}
	}
}

// Each reason that can end a request gives its status, and a line that calls it
// the broker's.
func TestPrivOfEveryReason(t *testing.T) {
	for _, reason := range action.Reasons() {
		for _, state := range reason.States() {
			result := action.Result{ID: someID, State: state, Reason: reason}
			if reason == action.ReasonSignalled {
				result.Signal = 15
			}
			status, _, stderr, line := privRunner(t, ends(t, result)).privStatus("web")
			var told privRecord
			if err := json.Unmarshal([]byte(line), &told); err != nil {
				t.Fatal(err)
			}
			if status != result.ExitStatus() || told.Exit != status || told.Ours != result.Ours() || *told.Reason != reason.String() || *told.State != state.String() {
				t.Errorf("%s, %s: %d, %s", state, reason, status, line)
			}
			if told.Ours != strings.Contains(stderr, reason.Text()) {
				t.Errorf("%s: stderr %q", reason, stderr)
			}
		}
	}
}

func TestPrivRefusals(t *testing.T) {
	detail := fields.Object(fields.Member("rule", fields.Text("web")), fields.Member("id", fields.Text(someID.String())), fields.Member("why", fields.Text("argument 2 is \x1b[1m")))
	for _, c := range []struct {
		e      *wire.Error
		status int
		stderr string
	}{
		{
			&wire.Error{Code: "denied", Message: "this is not allowed", Detail: &detail}, 77,
			"snens: cannot run web unit=x: this is not allowed: argument 2 is \\u{1b}[1m\nhint: what you may ask for: snens priv --user rules\n",
		},
		{
			&wire.Error{Code: "duplicate", Message: "the same request is waiting already", Detail: &detail}, 75,
			"snens: cannot run web unit=x: the same request is waiting already: argument 2 is \\u{1b}[1m\nhint: wait for it: snens priv --user result " +
				someID.String() + " --wait; give it up: snens priv --user cancel " + someID.String() + "\n",
		},
		{wire.Errorf("reason_required", "cannot ask without a reason"), 64, "snens: cannot ask without a reason\nhint: add --reason TEXT\n"},
		{wire.Errorf("busy", "too many"), 75, "snens: cannot run web unit=x: too many\nhint: what waits: snens priv --user list\n"},
		{wire.Errorf("internal", "oh"), 70, "snens: cannot run web unit=x: oh\n"},
	} {
		status, stdout, stderr, line := privRunner(t, refuses(t, c.e)).privStatus("web", "unit=x")
		if status != c.status || stdout != "" || stderr != c.stderr {
			t.Errorf("%s: got %d, %q:\n%swant %d:\n%s", c.e.Code, status, stdout, stderr, c.status, c.stderr)
		}
		var told privRecord
		if err := json.Unmarshal([]byte(line), &told); err != nil || !told.Ours || told.Exit != c.status || *told.Reason != string(c.e.Code) || told.State != nil {
			t.Errorf("%s: %v, %s", c.e.Code, err, line)
		}
	}
}

// What the words of the command line become.
func TestPrivSendsWhatWasSaid(t *testing.T) {
	cwd := quoted(ownFolder())
	for _, c := range []struct {
		args, stdin, want string
	}{
		{"web unit=a unit=b how=x=y", "", `{"rule":"web","slots":{"how":["x=y"],"unit":["a","b"]},"cwd":` + cwd + `,"fds":3}`},
		{"-- ls -l --json web=1", "", `{"argv":["ls","-l","--json","web=1"],"cwd":` + cwd + `,"fds":3}`},
		{"-- rules", "", `{"argv":["rules"],"cwd":` + cwd + `,"fds":3}`},
		{"web --wait", "", `{"rule":"web","slots":{},"cwd":` + cwd + `,"fds":3}`},
		{"web --wait=90s --reason because", "", `{"rule":"web","slots":{},"cwd":` + cwd + `,"claims":{"reason":"because"},"ttl":"1m30s","fds":3}`},
		{"--session 01x web --env A --env EMPTY", "", `{"rule":"web","slots":{},"cwd":` + cwd + `,"env":["A=1=2","EMPTY="],"claims":{"session":"01x"},"fds":3}`},
		{"web --stdin", "se\xffaled", `{"rule":"web","slots":{},"cwd":` + cwd + `,"stdin":{"base64":"c2X/YWxlZA=="},"fds":3}`},
		{"web --stdin", "", `{"rule":"web","slots":{},"cwd":` + cwd + `,"stdin":"","fds":3}`},
		{"web --no-wait", "", `{"rule":"web","slots":{},"cwd":` + cwd + `,"detach":true,"fds":0}`},
	} {
		socket := fakeBroker(t, func(conn *wire.Conn, q wire.Request) {
			if got := string(q.Params.JSON()); q.Method != "run" || got != c.want {
				t.Errorf("%s:\ngot  %s\nwant %s", c.args, got, c.want)
			}
			takes(t, conn, q).Close()
			r := action.Result{ID: someID, State: action.Exited, Reason: action.ReasonExited}
			if strings.Contains(c.want, "detach") {
				r = action.Result{ID: someID, State: action.Pending}
			}
			_ = conn.Reply(q.ID, r.Value())
		})
		r := privRunner(t, socket)
		r.env = append(r.env, "A=1=2", "EMPTY=")
		if _, err := r.stdin.WriteString(c.stdin); err != nil {
			t.Fatal(err)
		}
		if _, err := r.stdin.Seek(0, 0); err != nil {
			t.Fatal(err)
		}
		want := ""
		if strings.Contains(c.args, "no-wait") {
			want = someID.String() + "\n"
		}
		if status, stdout, stderr := r.run(append([]string{"priv", "--user"}, strings.Fields(c.args)...)...); status != 0 || stdout != want || stderr != "" {
			t.Errorf("%s: %d, %q, %q", c.args, status, stdout, stderr)
		}
	}
}

func quoted(s string) string {
	v := fields.Text(s)
	return string(v.JSON())
}

// While people are asked one reads who they are, and at once when none of them
// can have seen it.
func TestPrivTellsWhoIsAsked(t *testing.T) {
	line := "snens: waiting at most 0s for group:ops or ann\\u{1b} to approve " + someID.String() + " (digest " + action.DigestOf("text").Short() + ")\n"
	for asked, want := range map[int]string{
		0: line + "hint: none of them is listening now; one of them can type: snens approve --user show " + someID.String() + "\n",
		2: line,
	} {
		socket := fakeBroker(t, func(c *wire.Conn, q wire.Request) {
			takes(t, c, q).Close()
			_ = c.More(q.ID, pendingNotice(asked))
			r := action.Result{ID: someID, State: action.Exited, Reason: action.ReasonExited}
			_ = c.Reply(q.ID, r.Value())
		})
		if status, stdout, stderr := privRunner(t, socket).run("priv", "--user", "web"); status != 0 || stdout != "" || stderr != want {
			t.Errorf("asked %d: %d, %q, %q, want %q", asked, status, stdout, stderr, want)
		}
	}
}

// With --json stdout holds the result and nothing else.
func TestPrivJSON(t *testing.T) {
	r := privRunner(t, ends(t, action.Result{ID: someID, State: action.Exited, Reason: action.ReasonExited, Code: 4}))
	status, stdout, stderr := r.run("priv", "--user", "--json", "web")
	var told privRecord
	if err := json.Unmarshal([]byte(stdout), &told); err != nil || status != 4 || told.Exit != 4 || *told.ID != someID.String() || told.Ours {
		t.Errorf("%d, %v, %s", status, err, stdout)
	}
	if stderr != "out\nerr\n" {
		t.Errorf("stderr %q", stderr)
	}
	r = privRunner(t, fakeBroker(t, func(c *wire.Conn, q wire.Request) {
		takes(t, c, q).Close()
		res := action.Result{ID: someID, State: action.Approved}
		_ = c.Reply(q.ID, res.Value())
	}))
	status, stdout, _ = r.run("priv", "--user", "--json", "--no-wait", "web")
	if err := json.Unmarshal([]byte(stdout), &told); err != nil || status != 0 || told.Exit != 0 || *told.State != "approved" {
		t.Errorf("%d, %v, %s", status, err, stdout)
	}
}

// A command line that cannot be is told before anybody is asked.
func TestPrivFaultsInTheCommandLine(t *testing.T) {
	for _, c := range []struct{ args, stderr string }{
		{"priv", "snens: cannot ask for nothing: name a rule or a command\n"},
		{"priv --", "snens: cannot ask for nothing: no command stands behind --\n"},
		{"priv web -- x", "snens: cannot ask for a rule and a command at once: \"web\" stands before --\n"},
		{"priv /bin/ls", "snens: cannot ask for \"/bin/ls\": it is no rule's name\nhint: a command goes behind --: snens priv -- /bin/ls\n"},
		{"priv web nginx", "snens: cannot use the word \"nginx\": the arguments of a rule are written SLOT=VALUE\n"},
		{"priv --wait 1s web", "snens: cannot ask for a rule \"1s\": that is a time\nhint: how long to wait is written with a =: --wait=1s\n"},
		{"priv --wait 1m30s -- id", "how long to wait is written with a =: --wait=1m30s\n"},
		{"priv web =x", "snens: cannot use the word \"=x\""},
		{"priv web --wait=0s", "snens: cannot read the options: "},
		{"priv web --wait=721h", "it must be from 1ms to 720h"},
		{"priv web --nope", "snens: cannot use the option --nope: snens priv has no such option\n"},
		{"priv web --env NOT_SET", "snens: cannot pass the variable NOT_SET: it is not set\n"},
		{"priv web --env A=b", "snens: cannot pass the variable \"A=b\": that is no name\n"},
		{"priv web --status-fd 987", "snens: cannot write to descriptor 987 of --status-fd: it is not open\n"},
		{"priv web --reason " + strings.Repeat("x", action.MaxReason+1), "snens: cannot ask: "},
		{"priv --socket= web", "snens: cannot use --socket: its value is empty\n"},
		{"priv rules x", "snens: cannot take arguments: snens priv rules needs none\n"},
		{"priv list x", "snens: cannot take arguments"},
		{"priv result", "snens: cannot tell which request is meant: give one id\n"},
		{"priv result x", "snens: cannot look for a request: \"x\" is no request id"},
		{"priv cancel a b", "snens: cannot tell which request is meant: give one id\n"},
		{"priv check", "snens: cannot ask for nothing"},
	} {
		r := privRunner(t, filepath.Join(t.TempDir(), "nobody"))
		status, stdout, stderr := r.run(strings.Fields(c.args)...)
		if status != 64 || stdout != "" || !strings.Contains(stderr, c.stderr) {
			t.Errorf("%.50s: got %d, %q, %q, want 64, %q", c.args, status, stdout, stderr, c.stderr)
		}
	}
	big := privRunner(t, filepath.Join(t.TempDir(), "nobody"))
	if err := os.Truncate(big.stdin.Name(), action.MaxText+1); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := big.run("priv", "web", "--stdin"); status != 64 || !strings.Contains(stderr, "cannot read stdin for --stdin") {
		t.Errorf("too much stdin: %d, %q", status, stderr)
	}
}

// Where the broker is: --socket, SNENS_PRIV, the configuration, the usual place.
func TestPrivFindsTheBroker(t *testing.T) {
	here := ends(t, action.Result{ID: someID, State: action.Exited, Reason: action.ReasonExited, Code: 9})
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	run := t.TempDir()
	if err := os.MkdirAll(filepath.Join(run, "snens-priv"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(here, filepath.Join(run, "snens-priv", "request.sock")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, conf string
		env, args  []string
		status     int
		stderr     string
	}{
		{"option", "", []string{"SNENS_PRIV=" + nowhere}, []string{"--socket", here, "--user"}, 9, ""},
		{"variable", "[priv]\nsocket = '" + nowhere + "'", []string{"SNENS_PRIV=" + here}, []string{"--user"}, 9, ""},
		{"configuration", "[priv]\nsocket = '" + here + "'\nuser = true", nil, nil, 9, ""},
		{"user by the configuration", "priv.user = true", []string{"XDG_RUNTIME_DIR=" + run}, nil, 9, ""},
		{"user by the option", "", []string{"XDG_RUNTIME_DIR=" + run}, []string{"--user"}, 9, ""},
		{"nobody there", "", []string{"SNENS_PRIV=" + nowhere}, nil, 69, "cannot reach the broker at " + nowhere},
		{"broken and not needed", "x", []string{"SNENS_PRIV=" + here}, []string{"--user"}, 9, ""},
		{"broken and needed", "x", nil, nil, 69, "cannot find out where the broker is: cannot use the configuration"},
		{"no place", "", []string{"HOME=", "XDG_STATE_HOME="}, []string{"--user"}, 69, "cannot find out where your broker is"},
	} {
		r := newRunner(t)
		conf := filepath.Join(t.TempDir(), "snens.toml")
		if err := os.WriteFile(conf, []byte(c.conf+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r.env = append(c.env, append(r.env, "SNENS_CONFIG="+conf)...)
		status, _, stderr := r.run(append([]string{"priv", "web"}, c.args...)...)
		if status != c.status || !strings.Contains(stderr, c.stderr) {
			t.Errorf("%s: got %d, %q, want %d, %q", c.name, status, stderr, c.status, c.stderr)
		}
	}
}

// A socket that another user serves gets nothing, whatever named it.
func TestPrivTrustsNoStranger(t *testing.T) {
	testneed.Root(t)
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	fake := filepath.Join(dir, "fake")
	listenAs(t, fake, 65534)
	r := privRunner(t, fake)
	for _, args := range [][]string{{"web"}, {"--user", "web"}, {"rules"}, {"check", "web"}} {
		status, stdout, stderr := r.run(append([]string{"priv"}, args...)...)
		if status != 69 || stdout != "" || !strings.Contains(stderr, "uid 65534 listens on it, not uid 0") {
			t.Errorf("%q: %d, %q, %q", args, status, stdout, stderr)
		}
	}
}
