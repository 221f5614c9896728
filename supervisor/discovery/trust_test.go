package discovery_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snens/internal/testneed"
	"snens/supervisor/discovery"
)

// stranger is a uid that owns nothing here.
const stranger = 12345

// TestRootUsesOnlyWhatRootAloneCanChange: for root, a tool that somebody else
// can change is a way to become root.
func TestRootUsesOnlyWhatRootAloneCanChange(t *testing.T) {
	testneed.Root(t)
	chown := func(t *testing.T, path string) { must(t, os.Lchown(path, stranger, stranger)) }
	chmod := func(mode os.FileMode) func(*testing.T, string) {
		return func(t *testing.T, path string) { must(t, os.Chmod(path, mode)) }
	}
	for name, c := range map[string]struct {
		part  string // in the folder of the test: tools/x/x is the tool
		spoil func(t *testing.T, path string)
		rule  string // "" means that the tool is fine
	}{
		"nothing":            {"tools", func(*testing.T, string) {}, ""},
		"file, owner":        {"tools/x/x", chown, "belongs to uid 12345"},
		"file, group":        {"tools/x/x", chmod(0o775), "is writable by"},
		"file, others":       {"tools/x/x", chmod(0o757), "is writable by"},
		"file, sticky":       {"tools/x/x", chmod(0o777 | os.ModeSticky), "is writable by"},
		"folder, owner":      {"tools/x", chown, "belongs to uid 12345"},
		"folder, group":      {"tools/x", chmod(0o775), "is writable by"},
		"folder, sticky":     {"tools/x", chmod(0o777 | os.ModeSticky), "is writable by"},
		"tools, owner":       {"tools", chown, "belongs to uid 12345"},
		"tools, others":      {"tools", chmod(0o757), "is writable by"},
		"tools, sticky":      {"tools", chmod(0o777 | os.ModeSticky), "is writable by"},
		"above, others":      {"", chmod(0o757), "is writable by"},
		"above, sticky":      {"", chmod(0o777 | os.ModeSticky), ""},
		"schema, owner":      {"tools/x/schema.json", chown, "belongs to uid 12345"},
		"schema, others":     {"tools/x/schema.json", chmod(0o666), "is writable by"},
		"help, owner":        {"tools/x/help.txt", chown, "belongs to uid 12345"},
		"interpreter, owner": {"interp", chown, "belongs to uid 12345"},
		"interpreter, group": {"interp", chmod(0o775), "is writable by"},
		"unrelated file":     {"tools/x/notes", chown, ""},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			tr := tree{t, filepath.Join(root, "tools")}
			must(t, os.WriteFile(filepath.Join(root, "interp"), []byte("#!/bin/sh\n"), 0o755))
			tr.add("x", "#!"+filepath.Join(root, "interp")+"\n")
			tr.file("x", "schema.json", "{}", 0o644)
			tr.file("x", "notes", "", 0o644)
			if strings.HasPrefix(name, "help") {
				tr.file("x", "help.txt", "x\n", 0o644)
			}
			part := filepath.Join(root, c.part)
			c.spoil(t, part)
			checkTrust(t, tr, part, c.rule)
		})
	}
}

func checkTrust(t *testing.T, tr tree, part, rule string) {
	t.Helper()
	probes := newCounter(wellSpoken)
	f := discovery.New(discovery.Options{Dirs: []string{tr.dir}, Prober: probes})
	for range 2 {
		got := list(t, f, discovery.Cached)
		switch {
		case rule == "":
			if len(got.Tools) != 1 {
				t.Errorf("set aside: %v", got.Quarantined)
			}
		case len(got.Quarantined) != 1:
			t.Errorf("not set aside: %v", got.Tools)
		default:
			cause := got.Quarantined[0].Cause
			if want := "root does not use what others can change: " + part + " " + rule; !strings.HasPrefix(cause, want) {
				t.Errorf("cause %q\n want %q", cause, want)
			}
			if probes.total() != 0 {
				t.Error("it was run")
			}
		}
	}
}

func TestRootLooksBehindLinks(t *testing.T) {
	testneed.Root(t)
	for name, c := range map[string]struct {
		target string // what tools/x/x points to, in the folder of the test or as it is
		spoil  string // what belongs to a stranger
		rule   bool
	}{
		"good":                  {"bin/prog", "", false},
		"good, relative":        {"../../bin/prog", "", false},
		"good, link to link":    {"bin/other", "", false},
		"program":               {"bin/prog", "bin/prog", true},
		"program, relative":     {"../../bin/prog", "bin/prog", true},
		"behind link to link":   {"bin/other", "bin/prog", true},
		"folder of the program": {"bin/prog", "bin", true},
		"link on the way":       {"bin/other", "bin/other", true},
		"the link itself":       {"bin/prog", "tools/x/x", true},
		"folder that is a link": {"alias/prog", "alias", true},
		"its target":            {"alias/prog", "bin", true},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			tr := tree{t, filepath.Join(root, "tools")}
			bin := filepath.Join(root, "bin")
			must(t, os.Mkdir(bin, 0o755))
			must(t, os.WriteFile(filepath.Join(bin, "prog"), []byte(script), 0o755))
			must(t, os.Symlink("prog", filepath.Join(bin, "other")))
			must(t, os.Symlink("bin", filepath.Join(root, "alias")))
			target := c.target
			if target[0] != '.' {
				target = filepath.Join(root, target)
			}
			tr.link("x", target)
			rule, spoiled := "", filepath.Join(root, c.spoil)
			if c.rule {
				must(t, os.Lchown(spoiled, stranger, stranger))
				rule = "belongs to uid 12345"
			}
			checkTrust(t, tr, spoiled, rule)
		})
	}
}

// What env would run for root is root's alone, as an interpreter is, whether the
// tool is read anew or remembered from a time when PATH was another.
func TestRootLooksAtWhatEnvRuns(t *testing.T) {
	testneed.Root(t)
	k := newKept(t)
	bins := map[string]string{}
	for _, dir := range []string{"ours", "theirs", "empty"} {
		bins[dir] = filepath.Join(t.TempDir(), dir)
		must(t, os.Mkdir(bins[dir], 0o755))
		if dir != "empty" {
			must(t, os.WriteFile(filepath.Join(bins[dir], "interp"), []byte("#!/bin/sh\n"), 0o755))
		}
	}
	theirs := filepath.Join(bins["theirs"], "interp")
	must(t, os.Chown(theirs, stranger, stranger))
	must(t, os.Chown(bins["theirs"], stranger, stranger))
	k.add("plain", "#!/usr/bin/env interp\n")
	k.add("split", "#!/usr/bin/env -S A=b interp -u\n")
	k.add("whole", "#!/usr/bin/env "+theirs+"\n")
	for _, c := range []struct {
		path    string
		healthy int
	}{
		{bins["empty"] + ":" + bins["ours"] + ":" + bins["theirs"], 2},
		{bins["empty"] + ":" + bins["theirs"] + ":" + bins["ours"], 0},
		{bins["ours"], 2},
	} {
		k.opts.Env = []string{"PATH=" + c.path}
		got := list(t, discovery.New(k.opts), discovery.Cached)
		if len(got.Tools) != c.healthy {
			t.Errorf("PATH %s: %+v", c.path, got)
		}
		for _, q := range got.Quarantined {
			if want := "root does not use what others can change: " + bins["theirs"] + " belongs to uid 12345"; !strings.HasPrefix(q.Cause, want) {
				t.Errorf("cause %q\n want %q", q.Cause, want)
			}
		}
	}
	if n := k.probes.total(); n != 2 {
		t.Errorf("%d programs were run, want 2", n)
	}
}

func TestTrustIsAskedForRememberedToolsToo(t *testing.T) {
	testneed.Root(t)
	k := newKept(t)
	k.add("x", script)
	k.start()
	must(t, os.Chmod(filepath.Join(k.dir, "x"), 0o777))
	got := list(t, discovery.New(k.opts), discovery.Cached)
	if len(got.Tools) != 0 || len(got.Quarantined) != 1 {
		t.Errorf("the cache went round the check: %+v", got)
	}
}

// asStranger runs do with another effective uid, which a thread can have for
// itself. The thread ends with it.
func asStranger(t *testing.T, do func()) {
	t.Helper()
	testneed.Root(t)
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread dies with this goroutine
		_, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), stranger, ^uintptr(0))
		if errno == 0 {
			do()
			done <- nil
		} else {
			done <- errno
		}
	}()
	must(t, <-done)
}

func TestWhatAnOrdinaryUserMayNot(t *testing.T) {
	testneed.Root(t)
	for name, c := range map[string]struct {
		make   func(tr tree)
		result discovery.ProbeResult
		cause  string // "" means healthy
	}{
		"may not run it":         {func(tr tree) { tr.file("x", "x", script, 0o744) }, discovery.ProbeResult{}, "not executable for this user"},
		"may not enter":          {func(tr tree) { tr.add("x", script); must(tr.t, os.Chmod(filepath.Join(tr.dir, "x"), 0o700)) }, discovery.ProbeResult{}, "cannot be reached: permission denied"},
		"may not read a script":  {func(tr tree) { tr.file("x", "x", script, 0o711) }, discovery.ProbeResult{ExitCode: 126}, "--help ended with exit 126 and nothing on stdout; the file is not readable, which a script must be"},
		"may not read a program": {func(tr tree) { tr.file("x", "x", script, 0o711) }, wellSpoken("x"), ""},
		"may not read help.txt":  {func(tr tree) { tr.add("x", script); tr.file("x", "help.txt", "x\n", 0o600) }, discovery.ProbeResult{}, "help.txt cannot be read: permission denied"},
		"others may write": {func(tr tree) { // only root is that strict
			tr.add("x", script)
			must(tr.t, os.Chmod(filepath.Join(tr.dir, "x/x"), 0o777))
		}, wellSpoken("x"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTree(t)
			must(t, os.Chmod(filepath.Dir(tr.dir), 0o755))
			c.make(tr)
			asStranger(t, func() {
				f := finder(newCounter(func(string) discovery.ProbeResult { return c.result }), tr.dir)
				found, err := f.One(t.Context(), "x")
				switch {
				case err != nil:
					t.Error(err)
				case c.cause == "" && found.Tool == nil, c.cause != "" && (found.Quarantined == nil || found.Quarantined.Cause != c.cause):
					t.Errorf("tool %+v, quarantined %+v, want cause %q", found.Tool, found.Quarantined, c.cause)
				}
			})
		})
	}
}

func TestNoexecMount(t *testing.T) {
	testneed.Root(t)
	dir := t.TempDir()
	err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOEXEC, "size=1m,mode=755")
	testneed.Kernel(t, err == nil, "the right to mount (a privileged container)")
	t.Cleanup(func() { must(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	tr := tree{t, dir}
	tr.add("x", script)
	got := list(t, finder(newCounter(wellSpoken), dir), discovery.Cached)
	if len(got.Quarantined) != 1 || got.Quarantined[0].Cause != "lies on a file system mounted noexec" {
		t.Errorf("%+v", got)
	}
}
