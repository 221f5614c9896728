package prepare_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"snens/approval/queue"
	"snens/broker/action"
	"snens/broker/policy"
	"snens/broker/prepare"
)

// The queue takes the answer as it is.
var _ = queue.Change(prepare.Change{})

func TestChangedWhilePending(t *testing.T) {
	base := rule("r", `args = ["a"]`, `env_pass = ["LANG"]`)
	other := func(lines ...string) string {
		return rule("r", append([]string{`args = ["a"]`, `env_pass = ["LANG"]`}, lines...)...)
	}
	before := rule("before", `args = ["a"]`)
	for name, c := range map[string]struct {
		rules  []string
		detail string // "" = it holds
	}{
		"nothing":         {[]string{base}, ""},
		"another rule":    {[]string{rule("x", `args = ["b"]`), base, rule("y", `decision = "allow"`, `args = ["c"]`)}, ""},
		"a later rule":    {[]string{base, before}, ""},
		"an example":      {[]string{other(`match = [["a"]]`)}, ""},
		"an earlier rule": {[]string{before, base}, "rule before decides now, not r"},
		"a deny":          {[]string{base, strings.Replace(denies("a"), `id = "a"`, `id = "no"`, 1)}, "refuses it now: rule_denies"},
		"gone":            {[]string{rule("x", `args = ["b"]`)}, "refuses it now: denied"},
		"no rule at all":  {nil, "refuses it now: denied"},
		"not for him":     {[]string{other(`from = ["uid:0"]`)}, "refuses it now"},
		"approvers":       {[]string{other(`approve = {from = ["uid:0"]}`)}, "rule r has the digest"},
		"allow":           {[]string{other(`decision = "allow"`)}, "rule r has the digest"},
		"time limit":      {[]string{other(`timeout = "61s"`)}, "rule r has the digest"},
		"environment":     {[]string{other(`env = {A = "b"}`)}, "rule r has the digest"},
		"run as":          {[]string{other(`run_as = {user = "service"}`)}, "rule r has the digest"},
		"input":           {[]string{other(`stdin = "sealed"`)}, "rule r has the digest"},
		"more arguments":  {[]string{strings.Replace(base, `["a"]`, `["a", {slot = "x", kind = "int", min = 1, max = 3, optional = true}]`, 1)}, "rule r has the digest"},
		"secure_path":     {[]string{`secure_path = ["/usr/sbin"]`, base}, "rule r has the digest"},
		"renamed":         {[]string{strings.Replace(base, `"r"`, `"s"`, 1)}, "rule s decides now, not r"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, base)
			p := w.make(prepare.Ask{Argv: w.tool("a"), Env: []string{"LANG=de_DE.UTF-8", "OTHER=1"}})
			w.load(0, c.rules...)
			if c.detail == "" {
				w.holds(p.Request)
				return
			}
			change := w.stale(p.Request, action.ReasonStaleRule, c.detail)
			if refused := strings.Contains(c.detail, "refuses"); refused != change.NewDigest.IsZero() {
				t.Errorf("the new digest is %s", change.NewDigest)
			}
		})
	}
}

func TestFilesChangedWhilePending(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *world)
		detail string // "" = it holds
		made   bool   // there is something that would be approved now
	}{
		"nothing": {func(*world) {}, "", false},
		"binary replaced": {func(w *world) {
			w.copy("/bin/false", "new")
			must(w.t, os.Rename(w.path("new"), w.path("bin/interpreter")))
		}, "bin/interpreter has the SHA-256", true},
		"same content, another file": {func(w *world) {
			w.copy("/bin/true", "new")
			must(w.t, os.Rename(w.path("new"), w.path("bin/interpreter")))
		}, "another file is at", true},
		"script edited in place": {func(w *world) {
			w.write("bin/script", "#!"+w.path("bin/interpreter")+" -x\n# more\n", 0o755)
		}, "bin/script has the SHA-256", true},
		"another interpreter": {func(w *world) { w.write("bin/script", "#!"+w.path("bin/tool")+"\n", 0o755) }, "bin/script has", true},
		"symlink":             {func(w *world) { w.swap("bin/script", "bin/tool") }, "bin/script has", true},
		"removed":             {func(w *world) { must(w.t, os.Remove(w.path("bin/script"))) }, "no such file", false},
		"writable": {
			func(w *world) {
				must(w.t, os.Chmod(w.path("bin/interpreter"), 0o775))
				must(w.t, os.Chown(w.path("bin/interpreter"), 0, team))
			},
			"writable", false,
		},
		"folder given away": {func(w *world) { must(w.t, os.Chown(w.path("bin"), alice, 0)) }, "belongs to", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, rule("r", `command = "DIR/bin/script"`, `i_know = true`))
			p := w.make(prepare.Ask{Rule: "r"})
			c.change(w)
			if c.detail == "" {
				w.holds(p.Request)
				return
			}
			if change := w.stale(p.Request, action.ReasonStaleFile, c.detail); change.NewDigest.IsZero() == c.made {
				t.Errorf("the new digest is %s", change.NewDigest)
			}
		})
	}
}

// swap puts a symlink where a file was.
func (w *world) swap(name, target string) {
	must(w.t, os.Remove(w.path(name)))
	must(w.t, os.Symlink(w.path(target), w.path(name)))
}

// The folders of a path that the command gets as text are looked at again.
func TestPathConditionsHoldAgain(t *testing.T) {
	w := newWorld(t, rule("r", `args = [{slot = "file", kind = "path", beneath = "DIR/conf"}]`))
	for _, dir := range []string{"conf", "conf/sub"} {
		must(t, os.Mkdir(w.path(dir), 0o755))
	}
	w.write("conf/sub/file", "", 0o644)
	p := w.make(prepare.Ask{Argv: w.tool(w.path("conf/sub/file"))})
	w.write("conf/sub/file", "changed", 0o644) // its content is not what was approved
	w.holds(p.Request)
	must(t, os.Rename(w.path("conf/sub"), w.path("conf/real")))
	must(t, os.Symlink("real", w.path("conf/sub")))
	w.stale(p.Request, action.ReasonStaleRule, "denied")
	must(t, os.Remove(w.path("conf/sub")))
	must(t, os.Rename(w.path("conf/real"), w.path("conf/sub")))
	w.holds(p.Request)
	must(t, os.Chown(w.path("conf/sub"), alice, alice))
	w.stale(p.Request, action.ReasonStaleRule, "denied")
}

func TestAnotherInstallationsRequest(t *testing.T) {
	w := newWorld(t, rule("r"))
	p := w.make(prepare.Ask{Rule: "r"})
	m := prepare.New(prepare.Options{Policy: func() *policy.Policy { return w.policy }, Opener: w.opener, Install: action.InstallID{2}})
	if c, ok := m.StillHolds(t.Context(), p.Request); ok || c.Reason != action.ReasonStaleFile || c.NewDigest.IsZero() {
		t.Errorf("%v %+v", ok, c)
	}
}

func TestResume(t *testing.T) {
	w := newWorld(t, rule("read", reads, `detach = true`))
	file := w.give("home/alice/file", alice, alice, 0o600)
	p := w.make(prepare.Ask{Argv: w.tool("read", file), Detach: true})
	sealed := p.Request
	p.Close()
	again, err := w.m.Resume(t.Context(), sealed)
	must(t, err)
	if again.Request != sealed || len(again.Opened) != 1 || len(again.Program.Files()) != 1 || again.Rule != w.policy.Rule("read") {
		t.Errorf("%+v", again)
	}
	again.Close()

	gone := func(reason action.Reason, detail string) {
		t.Helper()
		p, err := w.m.Resume(context.Background(), sealed)
		var no *prepare.Refusal
		if p != nil || !errors.As(err, &no) || no.Reason != reason || !strings.Contains(no.Error(), detail) {
			t.Errorf("want %v with %q: %v", reason, detail, err)
		}
	}
	must(t, os.Rename(file, file+".old"))
	gone(action.ReasonStaleFile, "no such file")
	must(t, os.Symlink(file+".old", file))
	gone(action.ReasonStaleFile, "symbolic links")
	must(t, os.Remove(file))
	w.give("home/alice/file", alice, alice, 0o600)
	gone(action.ReasonStaleFile, "another file is at the path")
	must(t, os.Rename(file+".old", file))
	must(t, os.Chown(file, bob, bob))
	gone(action.ReasonStaleFile, "permission denied")
	w.load(0)
	gone(action.ReasonStaleRule, "refuses it now")
	if open := len(w.discarded); open != 3 { // the first, the resumed one, and the other file
		t.Errorf("%d files were closed: %q", open, w.discarded)
	}
}

// A bare name is looked up once: what is found earlier later on changes nothing.
func TestTheNameIsLookedUpOnce(t *testing.T) {
	w := newWorld(t)
	must(t, os.Mkdir(w.path("first"), 0o755))
	rules := []string{`secure_path = ["DIR/first", "DIR/bin"]`, rule("r"), rule("other", `command = "DIR/first/tool"`)}
	w.load(0, rules...)
	p := w.make(prepare.Ask{Argv: []string{"tool"}})
	w.copy("/bin/false", "first/tool")
	w.holds(p.Request)
	if got := p.Request.Request(); got.Executable.Path != w.path("bin/tool") || got.Argv[0] != w.path("bin/tool") {
		t.Errorf("%q, %+v", got.Argv, got.Executable)
	}
	if got := w.make(prepare.Ask{Argv: []string{"tool"}}).Request.Request(); got.Executable.Path != w.path("first/tool") {
		t.Errorf("asked anew: %+v", got.Executable)
	}
}
