package pathdir_test

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"snens/internal/safefile"
	"snens/internal/testneed"
	"snens/supervisor/pathdir"
	"snens/supervisor/tool"
)

// world is a base, one tools folder and one folder of system commands.
type world struct {
	t      testing.TB
	opts   pathdir.Options
	tools  string
	system string
}

func newWorld(t testing.TB) world {
	t.Helper()
	root := t.TempDir()
	w := world{t: t, tools: filepath.Join(root, "tools"), system: filepath.Join(root, "system")}
	must(t, os.Mkdir(w.tools, 0o755))
	must(t, os.Mkdir(w.system, 0o755))
	w.opts = pathdir.Options{
		Base:      filepath.Join(root, "state", "snens"),
		ToolsDirs: []string{w.tools}, SystemPath: w.system, Self: "/opt/snens/bin/snens",
	}
	w.settle()
	return w
}

// settle gives the folders a past, so that stamps of them are not young.
func (w world) settle() {
	w.t.Helper()
	past := time.Now().Add(-time.Hour)
	for _, dir := range []string{w.tools, w.system} {
		must(w.t, os.Chtimes(dir, past, past))
	}
}

func (w world) command(name string, mode os.FileMode) string {
	w.t.Helper()
	path := filepath.Join(w.system, name)
	must(w.t, os.WriteFile(path, []byte("#!/bin/sh\n"), mode))
	w.settle()
	return path
}

func (w world) ensure(tools ...tool.Ref) (string, []pathdir.Skipped) {
	w.t.Helper()
	dir, skipped, err := pathdir.Ensure(w.opts, pathdir.Take(w.opts), tools)
	must(w.t, err)
	return dir, skipped
}

// generation is the folder that the stable path leads to now.
func (w world) generation() string {
	w.t.Helper()
	real, err := filepath.EvalSymlinks(w.opts.Dir())
	must(w.t, err)
	return real
}

func ref(name string) tool.Ref {
	return tool.Ref{Name: tool.Name(name), Path: "/srv/tools/" + name + "/" + name}
}

// links are the entries of dir and where they point.
func links(t testing.TB, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	out := map[string]string{}
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join(dir, e.Name()))
		must(t, err)
		out[e.Name()] = target
	}
	return out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantLinks(t testing.TB, dir string, want map[string]string) {
	t.Helper()
	if got := links(t, dir); !maps.Equal(got, want) {
		t.Errorf("links of %s:\n got %v\nwant %v", dir, got, want)
	}
}

func TestOneLinkPerToolAndSnens(t *testing.T) {
	w := newWorld(t)
	dir, skipped := w.ensure(ref("read"), ref("edit"))
	if dir != w.opts.Dir() || len(skipped) != 0 {
		t.Errorf("dir %q, skipped %v", dir, skipped)
	}
	wantLinks(t, dir, map[string]string{
		"snens": "/opt/snens/bin/snens", "read": "/srv/tools/read/read", "edit": "/srv/tools/edit/edit",
	})
	for path := filepath.Clean(w.generation()); path != filepath.Dir(w.opts.Base); path = filepath.Dir(path) {
		info, err := os.Stat(path)
		must(t, err)
		if info.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %v, want 0700", path, info.Mode().Perm())
		}
	}
}

func TestAToolNamedLikeACommandGetsNoLink(t *testing.T) {
	w := newWorld(t)
	command := w.command("grep", 0o755)
	w.command("notes", 0o644)                                // no command: not executable
	must(t, os.Mkdir(filepath.Join(w.system, "lib"), 0o755)) // no command: a folder
	must(t, os.Symlink("nowhere", filepath.Join(w.system, "gone")))
	w.settle()
	for range 2 { // the second answer comes from what was kept
		dir, skipped := w.ensure(ref("grep"), ref("notes"), ref("lib"), ref("gone"))
		if want := []pathdir.Skipped{{Name: "grep", Command: command}}; !reflect.DeepEqual(skipped, want) {
			t.Errorf("skipped %v, want %v", skipped, want)
		}
		if got := slices.Sorted(maps.Keys(links(t, dir))); !slices.Equal(got, []string{"gone", "lib", "notes", "snens"}) {
			t.Errorf("links %v", got)
		}
	}
}

func TestOnlyTheSystemsFoldersCount(t *testing.T) {
	w := newWorld(t)
	dir, _ := w.ensure(ref("read"))
	// A call inside a call: our own folder leads the PATH that was handed down.
	w.opts.SystemPath = dir + "::.:" + w.system + ":" + filepath.Join(w.system, "absent")
	must(t, os.Chdir(t.TempDir()))
	must(t, os.WriteFile("read", nil, 0o755))
	if _, skipped := w.ensure(ref("read")); len(skipped) != 0 {
		t.Errorf("skipped %v: neither our own folder nor the working folder is the system's", skipped)
	}
}

func TestUnchangedIsNotRebuilt(t *testing.T) {
	w := newWorld(t)
	w.ensure(ref("a"), ref("b"))
	first := w.generation()
	w.ensure(ref("b"), ref("a"))
	if again := w.generation(); again != first {
		t.Errorf("rebuilt: %s, then %s", first, again)
	}
	for name, change := range map[string]func(){
		"another tool":       func() { w.ensure(ref("a"), ref("c")) },
		"another place":      func() { w.ensure(ref("a"), tool.Ref{Name: "c", Path: "/elsewhere/c/c"}) },
		"a new command":      func() { w.command("zz", 0o755); w.touch(w.system); w.ensure(ref("a"), ref("c")) },
		"another snens":      func() { w.opts.Self = "/usr/bin/snens"; w.ensure(ref("a")) },
		"a link is lost":     func() { must(t, os.Remove(filepath.Join(w.opts.Dir(), "a"))); w.ensure(ref("a")) },
		"a foreign addition": func() { must(t, os.Symlink("/x", filepath.Join(w.opts.Dir(), "x"))); w.ensure(ref("a")) },
		"damaged content":    func() { w.damage("content"); w.ensure(ref("a")) },
		"damaged stamp":      func() { w.damage("stamp"); w.ensure(ref("a")) },
	} {
		w.ensure(ref("a"))
		before := w.generation()
		change()
		if w.generation() == before {
			t.Errorf("%s: not rebuilt", name)
		}
		w.opts.Self = "/opt/snens/bin/snens"
	}
	dir, _ := w.ensure(ref("a"))
	wantLinks(t, dir, map[string]string{"snens": "/opt/snens/bin/snens", "a": "/srv/tools/a/a"})
}

// touch gives a folder a time of change that it never had.
func (w world) touch(dir string) {
	w.t.Helper()
	info, err := os.Stat(dir)
	must(w.t, err)
	must(w.t, os.Chtimes(dir, time.Now(), info.ModTime().Add(-time.Minute)))
}

func (w world) damage(file string) {
	w.t.Helper()
	must(w.t, os.WriteFile(filepath.Join(w.opts.Base, "path", file), []byte("nonsense\n"), 0o600))
}

func TestOldFoldersGoButNotAtOnce(t *testing.T) {
	w := newWorld(t)
	w.ensure(ref("a"))
	first := w.generation()
	w.ensure(ref("b"))
	wantLinks(t, first, map[string]string{"snens": "/opt/snens/bin/snens", "a": "/srv/tools/a/a"})
	w.ensure(ref("c"))
	if _, err := os.Stat(first); !os.IsNotExist(err) {
		t.Errorf("the folder before the last is still there: %v", err)
	}
	entries, err := os.ReadDir(w.opts.Base)
	must(t, err)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".new") {
			t.Errorf("left behind: %s", e.Name())
		}
	}
	if len(entries) != 4 { // path, path.lock, two generations
		t.Errorf("%d entries in the base: %v", len(entries), entries)
	}
}

func TestCurrent(t *testing.T) {
	w := newWorld(t)
	current := func() bool {
		dir, ok := pathdir.Current(w.opts, pathdir.Take(w.opts))
		if ok && dir != w.opts.Dir() {
			t.Errorf("Current returned %q", dir)
		}
		return ok
	}
	if current() {
		t.Error("current before it was made")
	}
	w.ensure(ref("a"))
	if !current() {
		t.Error("not current after Ensure")
	}
	for name, change := range map[string]func(){
		"tool added":    func() { must(t, os.Mkdir(filepath.Join(w.tools, "new"), 0o755)) },
		"command added": func() { w.command("c", 0o755); w.touch(w.system) },
		"folder gone":   func() { must(t, os.RemoveAll(w.tools)) },
		"folder is new": func() {
			must(t, os.RemoveAll(w.tools))
			must(t, os.Mkdir(w.tools, 0o755))
		},
		"other folders":   func() { w.opts.ToolsDirs = append(w.opts.ToolsDirs, "/absent") },
		"other path":      func() { w.opts.SystemPath += ":/absent" },
		"link lost":       func() { must(t, os.Remove(filepath.Join(w.opts.Dir(), "a"))) },
		"open to others":  func() { must(t, os.Chmod(w.opts.Base, 0o755)) },
		"base not usable": func() { w.opts.Base = "relative" },
	} {
		change()
		if current() {
			t.Errorf("%s: still current", name)
		}
		w = newWorld(t)
		w.ensure(ref("a"))
	}
}

func TestAYoungFolderIsLookedAtAgain(t *testing.T) {
	w := newWorld(t)
	refs := []tool.Ref{ref("a")}
	synctest.Test(t, func(t *testing.T) { // the clock stands still
		must(t, os.Chtimes(w.tools, time.Now(), time.Now()))
		young := pathdir.Take(w.opts) // within the same tick another tool may come
		_, _, err := pathdir.Ensure(w.opts, young, refs)
		must(t, err)
		if _, ok := pathdir.Current(w.opts, young); ok {
			t.Error("current by a young stamp")
		}
		before := w.generation()
		if _, _, err := pathdir.Ensure(w.opts, young, refs); err != nil || w.generation() != before {
			t.Errorf("rebuilt while young: %v", err)
		}
		<-time.After(time.Second)
		aged := pathdir.Take(w.opts)
		if _, ok := pathdir.Current(w.opts, aged); ok {
			t.Error("current although the tools were listed when the folder was young")
		}
		if _, _, err := pathdir.Ensure(w.opts, aged, refs); err != nil {
			t.Error(err)
		}
		if _, ok := pathdir.Current(w.opts, aged); !ok {
			t.Error("not current after the state has aged")
		}
	})
}

func TestRefusedBases(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		change func(o *pathdir.Options)
		want   string
	}{
		"relative base": {func(o *pathdir.Options) { o.Base = "state" }, `base "state" is not an absolute path`},
		"no base":       {func(o *pathdir.Options) { o.Base = "" }, `base "" is not an absolute path`},
		"colon":         {func(o *pathdir.Options) { o.Base = "/tmp/a:b" }, "holds a colon"},
		"relative self": {func(o *pathdir.Options) { o.Self = "bin/snens" }, `program "bin/snens" is not an absolute path`},
		"open to group": {func(o *pathdir.Options) {
			must(t, os.MkdirAll(o.Base, 0o700))
			must(t, os.Chmod(o.Base, 0o770))
		}, "cannot make the PATH folder"},
	} {
		o := w.opts
		c.change(&o)
		_, _, err := pathdir.Ensure(o, pathdir.Take(o), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}

func TestAFolderOfAnotherUidIsRefused(t *testing.T) {
	testneed.Root(t)
	w := newWorld(t)
	must(t, os.MkdirAll(w.opts.Base, 0o700))
	must(t, os.Chown(w.opts.Base, 12345, 12345))
	if _, _, err := pathdir.Ensure(w.opts, pathdir.Take(w.opts), nil); err == nil || !strings.Contains(err.Error(), "12345") {
		t.Errorf("error %v, want one that names the owner", err)
	}
	if _, ok := pathdir.Current(w.opts, pathdir.Take(w.opts)); ok {
		t.Error("current")
	}
}

func TestSomebodyHangsWithTheLock(t *testing.T) {
	w := newWorld(t)
	dir, _ := w.ensure(ref("a"))
	lock, err := safefile.TryLock(filepath.Join(w.opts.Base, "path.lock"))
	must(t, err)
	defer lock.Unlock()
	synctest.Test(t, func(t *testing.T) {
		got, _, err := pathdir.Ensure(w.opts, pathdir.Take(w.opts), []tool.Ref{ref("b")})
		if err != nil || got != dir {
			t.Errorf("with an older folder: %q, %v", got, err)
		}
		must(t, os.Remove(filepath.Join(w.opts.Base, "path")))
		if _, _, err := pathdir.Ensure(w.opts, pathdir.Take(w.opts), []tool.Ref{ref("b")}); err == nil {
			t.Error("without one: no error")
		}
	})
}
