package supervisor_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snens/session"
	"snens/supervisor"
	"snens/supervisor/call"
	"snens/supervisor/config"
)

const typed = `{"type": "object",
 "properties": {"word": {"type": "string"}, "n": {"type": "integer"}, "big": {"type": "string"}, "key": {"type": "string", "secret": true}},
 "x-snens": {"argv": [{"flag": "--n", "field": "n"}, {"flag": "--big", "field": "big", "as": "file"}, {"end_of_options": "--"}, {"field": "word"}],
  "stdin": {"mode": "field", "field": "key"}}}`

func TestTypedCall(t *testing.T) {
	w := newWorld(t)
	w.tool("show", `for a; do echo "arg=$a"; case $a in --big=*) f=${a#--big=}; echo "file=$f"; stat -c mode=%a "$f"; cat "$f";; esac; done; cat`,
		"schema.json", typed)
	r := w.call("show", `{"word": "-x y", "n": 1e2, "big": "large\n", "key": "s3cret"}`)
	file := line(r, "file")
	want := "arg=--n=100\narg=--big=" + file + "\nfile=" + file + "\nmode=600\nlarge\narg=--\narg=-x y\n[redacted]"
	if !r.OK || *r.Stdout != want {
		t.Errorf("%s\nwant\n%s", r.Content, want)
	}
	if exists(file) {
		t.Error("the file of the argument is still there")
	}
	calls, _ := os.ReadDir(filepath.Join(w.home, ".local/state/snens/calls"))
	for _, e := range calls {
		if _, err := session.ParseCallID(e.Name()); err == nil {
			t.Errorf("the folder of the call %s is still there", e.Name())
		}
	}
}

func TestGenericCall(t *testing.T) {
	w := newWorld(t)
	w.tool("show", `for a; do echo "arg=$a"; done; echo "in=$(cat)"`)
	for args, want := range map[string]string{
		`{"args": ["a b", "--c", ""], "stdin": "x"}`: "arg=a b\narg=--c\narg=\nin=x\n",
		`{"args": " a  b* "}`:                        "arg=a\narg=b*\nin=\n",
		`{}`:                                         "in=\n",
	} {
		if r := w.call("show", args); !r.OK || *r.Stdout != want {
			t.Errorf("%s: %q, want %q", args, r.Content, want)
		}
	}
	w.write(filepath.Join(w.home, "tools", "show", "help.txt"), "show — reads its stdin", 0o644)
	if r := w.call("show", "null", func(q *supervisor.Request) { q.Args, q.Words = nil, []string{} }); r.Class != call.ClassRefused || !strings.HasPrefix(r.Content, "stdin: is required") {
		t.Errorf("no stdin where the description asks for it: %q", r.Content)
	}
	if err := os.Remove(filepath.Join(w.home, "tools", "show", "help.txt")); err != nil {
		t.Fatal(err)
	}
	if r := w.call("show", "null", func(q *supervisor.Request) { q.Args, q.Words = nil, []string{"--help", "*"} }); *r.Stdout != "arg=--help\narg=*\nin=\n" {
		t.Errorf("words: %q", r.Content)
	}
}

// cwd and timeout_seconds are taken by every call, unless the tool has a field
// of that name.
func TestCommonArguments(t *testing.T) {
	w := newWorld(t)
	w.tool("where", `pwd; echo "cwd=$SNENS_CWD"; [ $# -eq 0 ] || echo "$@"`)
	sub := filepath.Join(w.home, "sub dir")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	r := w.call("where", `{"cwd": "`+sub+`"}`)
	if !r.OK || *r.Stdout != sub+"\ncwd="+sub+"\n" || r.Cwd != sub {
		t.Errorf("%q in %q", r.Content, r.Cwd)
	}
	if r := w.call("where", `{"cwd": "`+w.home+`"}`, func(q *supervisor.Request) { q.Cwd = sub }); r.Cwd != sub {
		t.Errorf("the request's own directory does not count first: %q", r.Cwd)
	}
	own := `{"type": "object", "properties": {"cwd": {"type": "string"}, "timeout_seconds": {"type": "string"}},
	 "x-snens": {"argv": [{"field": "cwd"}, {"field": "timeout_seconds"}]}}`
	w.tool("own", `echo "$1 $2"`, "schema.json", own)
	if r := w.call("own", `{"cwd": "a", "timeout_seconds": "b"}`); *r.Stdout != "a b\n" {
		t.Errorf("own fields: %q", r.Content)
	}
	for args, want := range map[string]string{
		`{"cwd": 1}`:                  "cwd: must be a non-empty string\nhint: give the path of a folder",
		`{"cwd": ""}`:                 "cwd: must be a non-empty string\nhint: give the path of a folder",
		`{"cwd": "a\u0000b"}`:         "cwd: must not hold a NUL byte\nhint: give the path of a folder",
		`{"cwd": "/no/such"}`:         "the working directory \"/no/such\" does not exist\nhint: choose another working directory (--cwd DIR, or cwd in JSON)",
		`{"timeout_seconds": 0}`:      "timeout_seconds: must be a number of seconds above zero\nhint: leave it out for the default",
		`{"timeout_seconds": -3}`:     "timeout_seconds: must be a number of seconds above zero\nhint: leave it out for the default",
		`{"timeout_seconds": "5"}`:    "timeout_seconds: must be a number of seconds above zero\nhint: leave it out for the default",
		`{"timeout_seconds": 1e-99}`:  "timeout_seconds: must be a number of seconds above zero\nhint: leave it out for the default",
		`{"timeout_seconds": -1e300}`: "timeout_seconds: must be a number of seconds above zero\nhint: leave it out for the default",
	} {
		r := w.call("where", args)
		if r.Class != call.ClassRefused || r.Content != want || r.ExitStatus() != 125 {
			t.Errorf("%s: %s %q, want %q", args, r.Class, r.Content, want)
		}
	}
	for _, args := range []string{`{"args": [], "args": []}`, `{`, "", "\xff", `["a"]`} {
		if r := w.call("where", args); r.Class != call.ClassRefused || !strings.HasPrefix(r.Content, "arguments: ") {
			t.Errorf("%q: %s %q", args, r.Class, r.Content)
		}
	}
	for _, args := range []string{`{"timeout_seconds": 1e10}`, `{"timeout_seconds": 0.5e2}`, `{"timeout_seconds": 99999999999999999999}`} {
		if r := w.call("where", args); !r.OK {
			t.Errorf("%s: %q", args, r.Content)
		}
	}
}

// The time limit nearest to the call counts.
func TestWhichTimeLimitCounts(t *testing.T) {
	w := newWorld(t)
	w.tool("nap", "exec sleep 1000", "schema.json",
		`{"type": "object", "properties": {}, "x-snens": {"argv": [], "limits": {"timeout": "200ms"}}}`)
	w.conf = "timeout = \"1h\"\n"
	said := func(r *call.Record) string { return r.Content }
	if got := said(w.call("nap", `{}`)); got != "timed out after 0.2 s" {
		t.Errorf("schema.json before the default: %q", got)
	}
	w.conf += "[tool.nap.limits]\ntimeout = \"100ms\"\n"
	if got := said(w.call("nap", `{}`)); got != "timed out after 0.1 s" {
		t.Errorf("the configuration before schema.json: %q", got)
	}
	if got := said(w.call("nap", `{"timeout_seconds": 0.15}`)); got != "timed out after 0.15 s" {
		t.Errorf("the arguments before the configuration: %q", got)
	}
	if got := said(w.call("nap", `{"timeout_seconds": 100}`, func(q *supervisor.Request) { q.Timeout = 50 * time.Millisecond })); got != "timed out after 0.05 s" {
		t.Errorf("the request before the arguments: %q", got)
	}
}

func TestSecretsAndPassMode(t *testing.T) {
	w := newWorld(t)
	w.tool("show", "cat", "schema.json", typed)
	r := w.call("show", `{"word": "x", "key": "s3cret"}`, func(q *supervisor.Request) { q.Pass = true })
	if r.Class != call.ClassRefused || r.Hint != "call it with --json" || r.Capture {
		t.Errorf("%s %q hint %q", r.Class, r.Content, r.Hint)
	}
	w.tool("token", `echo "key=$KEY service=$SECRET_OF_THE_SERVICE"`)
	w.conf = "[tool.token.env]\nKEY = \"granted-value\"\n"
	if r := w.call("token", `{}`); *r.Stdout != "key=[redacted] service=\n" {
		t.Errorf("%q", r.Content)
	}
}

func TestSessionOfACall(t *testing.T) {
	w := newWorld(t)
	w.tool("who", `echo "session=$SNENS_SESSION"; echo "dir=$SNENS_SESSIONS_DIR"; echo "conf=$SNENS_CONFIG"; echo "call=$SNENS_CALL_ID"; echo "cwd=$(pwd)"; echo "set=${SNENS_SESSION+yes}"`)
	if r := w.call("who", `{}`); line(r, "session") != "" || line(r, "set") != "" || line(r, "call") != string(r.CallID) {
		t.Errorf("without a session: %q", r.Content)
	}
	sessions := filepath.Join(w.home, ".local/state/snens/sessions")
	cwd := t.TempDir()
	s, err := session.Create(sessions, cwd, "")
	if err != nil {
		t.Fatal(err)
	}
	w.opt.SessionID = string(s.ID)
	r := w.call("who", `{}`)
	if line(r, "session") != string(s.ID) || line(r, "dir") != sessions || line(r, "conf") != filepath.Join(w.home, "snens.toml") || line(r, "cwd") != cwd {
		t.Errorf("in a session: %q", r.Content)
	}
	for _, id := range []string{"nonsense", string(session.NewID()), "../../etc"} {
		cfg, err := config.Load("/dev/null", w.env)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := supervisor.New(supervisor.Options{Config: cfg, Env: w.env, SessionID: id}); err == nil {
			t.Errorf("session %q is taken", id)
		}
	}
}

// A call is stopped when its context is done, and says so.
func TestContextStopsTheCall(t *testing.T) {
	w := newWorld(t)
	w.tool("nap", `echo >"$HOME/ready"; exec sleep 1000`)
	s := w.supervisor()
	h, err := s.Tool(context.Background(), "nap")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	run := s.Start(ctx, supervisor.Request{Handle: h, Args: []byte(`{}`)})
	until(t, "the tool", func() bool { return exists(filepath.Join(w.home, "ready")) })
	cancel()
	if r := run.Wait(); !r.Cancelled || r.Class != call.ClassCancelled {
		t.Errorf("%+v", r)
	}
}

// A home that cannot be used costs a call nothing: state goes elsewhere.
func TestUnusableHome(t *testing.T) {
	w := newWorld(t)
	w.tool("show", `cat "${1#--big=}"`, "schema.json", typed)
	blocked := filepath.Join(w.home, "blocked")
	w.write(blocked, "", 0o644)
	runtime := filepath.Join(w.home, "runtime")
	if err := os.Mkdir(runtime, 0o700); err != nil {
		t.Fatal(err)
	}
	w.env = append(w.env, "XDG_STATE_HOME="+blocked, "XDG_RUNTIME_DIR="+runtime, "XDG_CACHE_HOME="+blocked)
	if r := w.call("show", `{"word": "x", "big": "content"}`); !r.OK || *r.Stdout != "content" {
		t.Errorf("%q", r.Content)
	}
	if !exists(filepath.Join(runtime, "snens", "path")) {
		t.Error("state is not in the runtime folder")
	}
}

func TestSelfTest(t *testing.T) {
	w := newWorld(t)
	w.tool("good", "echo fine", "selftest.sh", `[ "$("$(dirname "$0")/good")" = fine ] && pwd && ls -A`)
	w.tool("bad", ":", "selftest.sh", "echo it is broken; exit 3")
	w.tool("none", ":")
	s := w.supervisor()
	for name, want := range map[string]struct {
		class call.Class
		exit  int
	}{"good": {call.ClassOK, 0}, "bad": {call.ClassError, 3}, "none": {call.ClassRefused, 125}} {
		h, err := s.Tool(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		r := s.SelfTest(context.Background(), h)
		if r.Class != want.class || r.ExitStatus() != want.exit {
			t.Errorf("%s: %s %d %q", name, r.Class, r.ExitStatus(), r.Content)
		}
		if name == "bad" && os.Geteuid() == 0 {
			script := filepath.Join(h.Dir, "selftest.sh")
			if err := os.Chmod(script, 0o777); err != nil {
				t.Fatal(err)
			}
			if r := s.SelfTest(context.Background(), h); r.Class != call.ClassRefused || !strings.Contains(r.Content, script) {
				t.Errorf("root runs a test that others can write: %q", r.Content)
			}
		}
		if name == "good" {
			if dir := strings.TrimSpace(*r.Stdout); exists(dir) || !strings.HasSuffix(dir, "/selftest") {
				t.Errorf("selftest ran in %q, which must be an empty folder that is gone now", dir)
			}
		}
	}
}
