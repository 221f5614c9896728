package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"snens/internal/testneed"
)

// Uids that no other test and no account of the system uses.
const (
	uidA = 54321
	uidB = 54322
)

// as is the world seen by another user: own home and working directory, the
// same tools.
func (w *world) as(uid int) *world {
	w.t.Helper()
	testneed.Root(w.t)
	other := *w
	other.home = filepath.Join(w.root, fmt.Sprintf("home-%d", uid))
	other.work = filepath.Join(w.root, fmt.Sprintf("work-%d", uid))
	other.state = filepath.Join(other.home, "state")
	runtime := filepath.Join(w.root, fmt.Sprintf("runtime-%d", uid))
	for _, dir := range []string{other.home, other.work, runtime} {
		must(w.t, os.Mkdir(dir, 0o755))
		must(w.t, os.Chown(dir, uid, uid))
	}
	must(w.t, os.Chmod(runtime, 0o700))
	other.cred = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	for name, value := range map[string]string{
		"HOME": other.home, "XDG_STATE_HOME": other.state, "XDG_RUNTIME_DIR": runtime,
		"XDG_CONFIG_HOME": filepath.Join(other.home, "config"), "XDG_CACHE_HOME": filepath.Join(other.home, "cache"),
	} {
		other.setenv(name, value)
	}
	w.t.Cleanup(other.nothingLeft)
	return &other
}

// What one user's killed snens left behind is that user's: neither another
// user's call nor root's touches it, not even with the same home.
func TestUsersDoNotTouchEachOther(t *testing.T) {
	t.Parallel()
	root := newWorld(t)
	root.tool("deaf", deafTree)
	root.tool("quick", "echo quick")
	a, b := root.as(uidA), root.as(uidB)

	doomed := a.command("call", "deaf")
	must(t, doomed.Start())
	waitFile(t, filepath.Join(a.work, "ready"))
	must(t, doomed.Process.Kill())
	_ = doomed.Wait()
	var tree []int
	for _, name := range []string{"a", "b", "c"} {
		tree = append(tree, number(t, waitFile(t, filepath.Join(a.work, name))))
	}
	before := root.shell("find home-54321 -printf '%p %U %m %s %T@\\n' | sort")

	// The same home for all: the state in it belongs to one of them.
	withHome := func(w *world) *world {
		other := *w
		other.unset("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
		other.setenv("HOME", a.home)
		other.setenv("XDG_STATE_HOME", a.state)
		return &other
	}
	runtime := filepath.Join(root.root, "runtime-0")
	must(t, os.Mkdir(runtime, 0o700))
	root.setenv("XDG_RUNTIME_DIR", runtime)
	for who, w := range map[string]*world{"b": b, "b in a's home": withHome(b), "root": root, "root in a's home": withHome(root)} {
		if r := w.run("call", "quick"); r.status != 0 || r.stdout != "quick\n" || r.stderr != "" {
			t.Errorf("%s: %+v", who, r)
		}
	}
	for _, pid := range tree {
		if !alive(pid) {
			t.Errorf("process %d was ended by somebody else's call", pid)
		}
	}
	if after := root.shell("find home-54321 -printf '%p %U %m %s %T@\\n' | sort"); after != before {
		t.Errorf("somebody else's call changed\n%s\nto\n%s", before, after)
	}
	if r := a.run("call", "quick"); r.status != 0 || r.stdout != "quick\n" {
		t.Errorf("a's own next call: %+v", r)
	}
	for _, pid := range tree {
		if alive(pid) {
			t.Errorf("process %d lives on after the next call of its user", pid)
		}
	}
}

// untrusted are ways in which another user could change what root would run.
var untrusted = []struct{ name, script, cause string }{
	{"open", "chmod 777 open/open", "$T/open/open is writable by others (mode 0777)"},
	{"grouped", "chmod 775 grouped/grouped", "$T/grouped/grouped is writable by"},
	{"owned", "chown 54321 owned/owned", "$T/owned/owned belongs to uid 54321"},
	{"in-open", "chmod 777 in-open", "$T/in-open is writable by others (mode 0777)"},
	{"in-owned", "chown 54321 in-owned", "$T/in-owned belongs to uid 54321"},
	{"link", "cp link/link ../target; chown 54321 ../target; ln -sf $T/../target link/link", "target belongs to uid 54321"},
	{"linked-owner", "mv linked-owner/linked-owner ../own; ln -s $T/../own linked-owner/linked-owner; chown -h 54321 linked-owner/linked-owner", "$T/linked-owner/linked-owner belongs to uid 54321"},
	{"interpreter", "cp /bin/sh ../sh; chown 54321 ../sh; sed -i \"1s,.*,#!$T/../sh,\" interpreter/interpreter; chmod 755 interpreter/interpreter", "sh belongs to uid 54321"},
}

func TestRootRunsNothingOfOthers(t *testing.T) {
	t.Parallel()
	testneed.Root(t)
	w := newWorld(t)
	for _, u := range untrusted {
		w.tool(u.name, "echo >>"+w.work+"/ran")
		w.shell("cd tools; T=$PWD; " + u.script)
	}
	w.tool("sound", "echo sound")
	all := definitions(t, w.run("tools", "--all", "--json").stdout)
	for _, u := range untrusted {
		cause := "root does not use what others can change: "
		want := strings.ReplaceAll(u.cause, "$T", w.tools)
		if got := all[u.name]; !got.Quarantined || !strings.HasPrefix(got.Cause, cause) || !strings.Contains(got.Cause, want) {
			t.Errorf("%s: %+v, want %q", u.name, got, want)
		}
		if r := w.run("call", u.name); r.status != 126 || !strings.Contains(r.stderr, want) {
			t.Errorf("call %s: %+v", u.name, r)
		}
	}
	if r := w.run("call", "sound"); r.status != 0 || r.stdout != "sound\n" {
		t.Errorf("the sound one: %+v", r)
	}
	// Another user may use them: it is their own risk, and only theirs.
	other := w.as(uidB)
	must(t, os.Chmod(w.work, 0o777))
	if r := other.run("call", "owned"); r.status != 0 {
		t.Errorf("another user: %+v", r)
	}
	must(t, os.Remove(filepath.Join(w.work, "ran")))

	must(t, os.Chmod(w.tools, 0o777))
	if r := w.run("call", "sound"); r.status != 126 || !strings.Contains(r.stderr, w.tools+" is writable by others (mode 0777)") {
		t.Errorf("in a folder that all can write: %+v", r)
	}
	if _, err := os.Stat(filepath.Join(w.work, "ran")); err == nil {
		t.Error("something of others was run")
	}
}

func TestRootReadsNoConfigurationOfOthers(t *testing.T) {
	t.Parallel()
	testneed.Root(t)
	w := newWorld(t)
	w.tool("quick", "echo quick")
	config := filepath.Join(w.home, "config", "snens", "snens.toml")
	for _, c := range []struct{ script, says string }{
		{"chmod 666 " + config, config + " is writable by others (mode 0666)"},
		{"chmod 644 " + config + "; chown 54321 " + config, config + " belongs to uid 54321"},
		{"chown 0 " + config + "; chmod 777 " + filepath.Dir(config), filepath.Dir(config) + " is writable by others (mode 0777)"},
	} {
		w.config("timeout = \"1m\"\n")
		w.shell(c.script)
		for _, args := range [][]string{{"call", "quick"}, {"tools"}} {
			want := map[string]int{"call": 125, "tools": 1}[args[0]]
			if r := w.run(args...); r.status != want || r.stdout != "" || !strings.Contains(r.stderr, strings.TrimPrefix(c.says, config+" ")) {
				t.Errorf("%s, %v: %+v; want %d, %q", c.script, args, r, want, c.says)
			}
		}
	}
	must(t, os.Chmod(filepath.Dir(config), 0o755))
	if r := w.run("call", "quick"); r.status != 0 {
		t.Errorf("mended: %+v", r)
	}
}

// The causes that only somebody without root's rights meets.
func TestCausesOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tool("sound", "echo sound")
	w.tool("mine", "echo mine")
	w.tool("shut", "echo shut")
	w.file("tools/unread/unread", "#!/bin/sh\necho unread\n", 0o711)
	must(t, os.Chmod(filepath.Join(w.tools, "mine", "mine"), 0o744))
	must(t, os.Chmod(filepath.Join(w.tools, "shut"), 0o700))
	a := w.as(uidA)
	r := a.run("tools", "--names")
	want := "snens: tool mine skipped: not executable for this user\n" +
		"snens: tool shut skipped: cannot be reached: permission denied\n" +
		"snens: tool unread skipped: --help ended with exit 2 and nothing on stdout; the file is not readable, which a script must be\n"
	if r.status != 0 || r.stdout != "sound\n" || r.stderr != want {
		t.Errorf("%d, %q, stderr:\n%s\nwant:\n%s", r.status, r.stdout, r.stderr, want)
	}
}

// Without a writable hierarchy of groups the limit on processes is the user's.
func TestProcessLimitOfAUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	testneed.Program(t, "perl")
	w.zoo(isCalled)
	const uid = 54323 // alone: the kernel counts all processes of a user
	a := w.as(uid)
	a.setenv("SNENS_CONFIG", w.file("limits.toml", zooConfig, 0o644))
	status, r := a.call("storm")
	a.nothingLeft()
	if n := number(t, r.out()); status != 0 || n < 1 || n > 19 || len(r.Survivors) != n {
		t.Errorf("%d, %d processes, %d survivors, %q", status, n, len(r.Survivors), r.Content)
	}
}
