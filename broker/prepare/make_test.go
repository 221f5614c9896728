package prepare_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/broker/policy"
	"snens/broker/prepare"
)

// identity is what a request should say about a file.
func (w *world) identity(name string) action.File {
	w.t.Helper()
	var st unix.Stat_t
	must(w.t, unix.Stat(w.path(name), &st))
	data, err := os.ReadFile(w.path(name))
	must(w.t, err)
	return action.File{Path: w.path(name), Device: st.Dev, Inode: st.Ino, SHA256: sha256.Sum256(data)}
}

func TestEverythingOfARequest(t *testing.T) {
	w := newWorld(t, rule("everything", `args = ["go", {slot = "word", kind = "word", pattern = "(?s).*"}]`, `command = "DIR/bin/script"`,
		`run_as = {user = "service", group = "web"}`, `env = {MODE = "fast"}`, `env_pass = ["LANG"]`, `timeout = "90s"`, `umask = "0027"`,
		`limits = {memory = "64MiB", pids = 20, cpu = "5s", open_files = 64, file_size = "1MiB"}`, `stdin = "sealed"`, `detach = true`, `i_know = true`))
	input := "first\nsecond\x00\xff"
	p := w.make(prepare.Ask{
		From: policy.Subject{UID: alice, GID: alice, Groups: []policy.GID{web, team, web}},
		Rule: "everything", Slots: map[string][]string{"word": {"a b"}},
		Env:   []string{"LANG=de_DE.UTF-8", "LD_PRELOAD=/x", "PATH=/home/alice/bin", "MODE=slow"},
		Stdin: &input, Detach: true, Cwd: "/somewhere",
	})
	r := p.Request.Request()
	if r.Nonce == (action.Nonce{}) {
		t.Error("no nonce")
	}
	r.Nonce = action.Nonce{}
	want := action.Request{
		Argv: []string{w.path("bin/script"), "go", "a b"}, Executable: w.identity("bin/script"),
		Interpreters: []action.File{w.identity("bin/interpreter")},
		Cwd:          "/",
		Env: []action.Var{
			{Name: "HOME", Value: "/srv/service"},
			{Name: "LANG", Value: "de_DE.UTF-8"},
			{Name: "LOGNAME", Value: "service"},
			{Name: "MODE", Value: "fast"},
			{Name: "PAGER", Value: "cat"},
			{Name: "PATH", Value: strings.Join(w.policy.SecurePath, ":")},
			{Name: "SHELL", Value: "/bin/sh"},
			{Name: "SYSTEMD_PAGER", Value: "cat"},
			{Name: "TERM", Value: "dumb"},
			{Name: "USER", Value: "service"},
		},
		RunAs: action.RunAs{UID: service, User: "service", GID: web, Group: "web", Groups: []action.GID{service, web, logs}},
		Umask: 0o027, Timeout: 90 * time.Second,
		Limits: action.Limits{Memory: 64 << 20, Processes: 20, CPU: 5 * time.Second, OpenFiles: 64, FileSize: 1 << 20},
		Modes:  action.Modes{Detached: true}, Stdin: action.Stdin{Mode: action.StdinSealed, Content: input},
		Requester: action.Requester{UID: alice, GID: alice, Groups: []action.GID{team, web}},
		Rule:      "everything", RuleDigest: w.policy.Rule("everything").Digest,
		Expires: time.Date(2026, 12, 1, 12, 10, 1, 0, time.UTC), Install: install,
	}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("got  %+v\nwant %+v", r, want)
	}
	if p.Rule != w.policy.Rule("everything") || len(p.Opened) != 0 || len(p.Program.Files()) != 2 {
		t.Errorf("prepared: %+v", p)
	}
	w.holds(p.Request)
	p.Close()
	p.Close()
	w.holds(p.Request)
}

// What is approved is approved with its input and environment.
func TestTheDigestCoversWhatWasSent(t *testing.T) {
	w := newWorld(t, rule("r", `stdin = "sealed"`, `env_pass = ["LANG"]`))
	one, two := "one", "two"
	keys := map[action.Key]string{}
	for name, a := range map[string]prepare.Ask{
		"one": {Stdin: &one}, "two": {Stdin: &two}, "LANG": {Stdin: &one, Env: []string{"LANG=C"}}, "empty": {Stdin: new(string)},
	} {
		a.Argv = w.tool()
		p, q := w.make(a), w.make(a)
		if p.Request.Digest() == q.Request.Digest() || p.Request.Key() != q.Request.Key() {
			t.Errorf("%s: asked twice: digests must differ, keys must not", name)
		}
		if other := keys[p.Request.Key()]; other != "" {
			t.Errorf("%s has the key of %s", name, other)
		}
		keys[p.Request.Key()] = name
	}
}

func TestArgumentsArriveAsTheyWereSent(t *testing.T) {
	w := newWorld(t, rule("r", `args = [{slot = "any", kind = "enum", values = ["*", "$HOME", "a\nb", "true ", "\u202e"], many = 9}, {slot = "locale", kind = "path", beneath = "/", as = "text", optional = true}]`))
	words := []string{"*", "$HOME", "a\nb", "true ", "\u202e"}
	if got := w.make(prepare.Ask{Argv: w.tool(words...)}).Request.Request().Argv; !slices.Equal(got[1:], words) {
		t.Errorf("%q", got)
	}
	// Bytes that are no text fit a path, and nothing else.
	path := w.path("home") + "/\xff\xfe"
	p := w.make(prepare.Ask{Argv: w.tool("*", path)})
	if got := p.Request.Request().Argv[2]; got != path || !strings.Contains(p.Request.Text(), `\x{ff}\x{fe}`) {
		t.Errorf("%q in %s", got, p.Request.Text())
	}
	w.holds(p.Request)
}

func TestWhatIsNotPrepared(t *testing.T) {
	w := newWorld(t,
		rule("plain", `args = ["plain", {slot = "n", kind = "word", pattern = ".*", max = 4000, many = 100, optional = true}]`, `env_pass = ["LANG"]`),
		rule("sealed", `args = ["sealed"]`, `stdin = "sealed"`),
		rule("passed", `args = ["passed"]`, `stdin = "pass"`, `i_know = true`),
		rule("reason", `args = ["reason"]`, "approve = {from = [\"uid:0\"], reason = \"required\"}"),
		denies("never"),
		rule("gone", `command = "DIR/bin/gone"`))
	some := "x"
	for _, c := range []struct {
		ask    prepare.Ask
		reason action.Reason
		why    string
	}{
		{prepare.Ask{}, action.ReasonBadRequest, "no command"},
		{prepare.Ask{Argv: []string{""}}, action.ReasonBadRequest, "no command"},
		{prepare.Ask{Argv: w.tool("plain", "a\x00b")}, action.ReasonBadRequest, "NUL"},
		{prepare.Ask{Argv: w.tool("other")}, action.ReasonDenied, "plain"},
		{prepare.Ask{Argv: w.tool("never")}, action.ReasonRuleDenies, "rule never"},
		{prepare.Ask{Argv: w.tool("plain"), From: asBob}, action.ReasonDenied, ""},
		{prepare.Ask{Argv: w.tool("plain"), Stdin: &some}, action.ReasonBadRequest, "takes no input"},
		{prepare.Ask{Argv: w.tool("passed"), Stdin: &some}, action.ReasonBadRequest, "takes no input"},
		{prepare.Ask{Argv: w.tool("sealed")}, action.ReasonBadRequest, "send its content"},
		{prepare.Ask{Argv: w.tool("plain"), Detach: true}, action.ReasonBadRequest, "without its requester"},
		{prepare.Ask{Argv: w.tool("plain"), TTL: -1}, action.ReasonBadRequest, "negative"},
		{prepare.Ask{Argv: w.tool("reason")}, action.ReasonReasonRequired, ""},
		{prepare.Ask{Argv: w.tool("reason"), Claims: action.Claims{Reason: " \t"}}, action.ReasonReasonRequired, ""},
		{prepare.Ask{Argv: w.tool("plain"), Claims: action.Claims{Tool: strings.Repeat("x", 1000)}}, action.ReasonBadRequest, ""},
		{prepare.Ask{Argv: w.tool("plain"), Env: []string{"LANG=C", "LANG=C"}}, action.ReasonBadRequest, "twice"},
		{prepare.Ask{Argv: w.tool("plain"), Env: []string{"LANG=a\nb"}}, action.ReasonBadRequest, "control"},
		{prepare.Ask{Argv: w.tool("plain"), Env: []string{"LANG"}}, action.ReasonBadRequest, "NAME=value"},
		{prepare.Ask{Argv: w.tool(append([]string{"plain"}, slices.Repeat([]string{strings.Repeat("x", 4000)}, 20)...)...)}, action.ReasonTooLong, "read by a person"},
		{prepare.Ask{Argv: []string{w.path("bin/gone")}}, action.ReasonCommandMissing, "not installed"},
	} {
		no := w.refused(c.ask, c.reason, c.why)
		if strings.Contains(no.Why, "\n") {
			t.Errorf("more than a line: %q", no.Why)
		}
	}
	if no := w.refused(prepare.Ask{Argv: w.tool("plain"), From: asBob}, action.ReasonDenied, ""); no.Why != "" || no.Rule != "" {
		t.Errorf("a stranger learns: %v", no)
	}
	long := strings.Repeat("x", 70000)
	w.refused(prepare.Ask{Argv: w.tool("sealed"), Stdin: &long}, action.ReasonTooLong, "")
	w.make(prepare.Ask{Argv: w.tool("reason"), Claims: action.Claims{Reason: "because"}})
	if got := w.make(prepare.Ask{Argv: w.tool("passed")}).Request.Request().Stdin; got != (action.Stdin{Mode: action.StdinPass}) {
		t.Errorf("passed input: %+v", got)
	}
}

func denies(id string) string {
	return "[[rule]]\nid = \"" + id + "\"\ndecision = \"deny\"\ncommand = \"DIR/bin/tool\"\nargs = [\"" + id + "\"]\nfrom = [\"everyone\"]\n"
}

// A judgement that is not a yes makes nothing, whatever else is in it.
func TestOnlyAYesIsPrepared(t *testing.T) {
	w := newWorld(t, rule("r"))
	a := prepare.Ask{From: asAlice, Argv: w.tool()}
	yes := w.m.Judge(a)
	for _, d := range []policy.Decision{policy.Deny, -1, 3, 100} {
		j := yes
		j.Decision = d
		var no *prepare.Refusal
		if p, err := w.m.Make(t.Context(), a, j, noon); p != nil || !errors.As(err, &no) || no.Reason != action.ReasonDenied {
			t.Errorf("%d: %v, %v", d, p, err)
		}
	}
	for _, j := range []policy.Judgement{{Decision: policy.Allow}, {Decision: policy.Ask, Rule: yes.Rule}} {
		if p, err := w.m.Make(t.Context(), a, j, noon); p != nil || err == nil {
			t.Errorf("%+v: %v, %v", j, p, err)
		}
	}
}

func TestPinnedDigest(t *testing.T) {
	w := newWorld(t)
	sum := w.identity("bin/tool").SHA256
	w.load(0, rule("r", `sha256 = "`+hex.EncodeToString(sum[:])+`"`))
	p := w.make(prepare.Ask{Argv: w.tool()})
	w.copy("/bin/false", "bin/tool")
	no := w.refused(prepare.Ask{Argv: w.tool()}, action.ReasonCannotStart, "not the one that the rule names by its digest")
	if no.Cause == nil || strings.Contains(no.Why, w.dir) || !strings.Contains(no.Cause.Error(), sum.String()) {
		t.Errorf("the log: %v, the requester: %s", no.Cause, no.Why)
	}
	w.stale(p.Request, action.ReasonStaleFile, sum.String())
}

// What is wrong with the command is for the log; the requester learns that.
func TestAnUntrustedCommand(t *testing.T) {
	w := newWorld(t, rule("r"), rule("script", `command = "DIR/bin/script"`, `i_know = true`))
	must(t, os.Chmod(w.path("bin/tool"), 0o777))
	no := w.refused(prepare.Ask{Argv: w.tool()}, action.ReasonCannotStart, "log says why")
	if no.Cause == nil || !strings.Contains(no.Cause.Error(), "writable") || strings.Contains(no.Why, "writable") {
		t.Errorf("%v", no)
	}
	must(t, os.Remove(w.path("bin/interpreter")))
	w.refused(prepare.Ask{Rule: "script"}, action.ReasonCommandMissing, "interpreter")
	must(t, os.Chown(w.path("bin"), alice, alice))
	w.refused(prepare.Ask{Rule: "script"}, action.ReasonCannotStart, "")
}

func TestExpiry(t *testing.T) {
	w := newWorld(t, rule("ask", `args = ["ask"]`), rule("soon", `args = ["soon"]`, `approve = {from = ["uid:0"], ttl = "1s"}`), rule("allow", `decision = "allow"`, `args = ["allow"]`))
	for _, c := range []struct {
		word string
		ttl  time.Duration
		want time.Duration // after noon without its fraction
	}{
		{"ask", 0, 10*time.Minute + time.Second},
		{"ask", time.Hour, 10*time.Minute + time.Second},
		{"ask", 1<<63 - 1, 10*time.Minute + time.Second},
		{"ask", 10 * time.Minute, 10*time.Minute + time.Second},
		{"ask", 10*time.Minute - 1, 10*time.Minute + time.Second},
		{"ask", time.Minute, time.Minute + time.Second},
		{"ask", time.Millisecond, time.Second},
		{"allow", 0, 10*time.Minute + time.Second},
		{"allow", time.Second, 2 * time.Second},
	} {
		r := w.make(prepare.Ask{Argv: w.tool(c.word), TTL: c.ttl}).Request.Request()
		if got := r.Expires.Sub(noon.Truncate(time.Second)); got != c.want {
			t.Errorf("%s %v: expires after %v, want %v", c.word, c.ttl, got, c.want)
		}
	}
}
