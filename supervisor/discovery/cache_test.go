package discovery_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/safefile"
	"snens/internal/testneed"
	"snens/supervisor/discovery"
)

// kept is a tools folder with a cache, looked at by a new Finder each time, as
// by a new process.
type kept struct {
	tree
	opts   discovery.Options
	probes *counter
}

func newKept(t testing.TB) *kept {
	t.Helper()
	k := &kept{tree: newTree(t), probes: newCounter(wellSpoken)}
	k.opts = discovery.Options{
		Dirs: []string{k.dir}, CacheDir: filepath.Join(t.TempDir(), "cache", "snens"), Version: "1", Prober: k.probes,
	}
	return k
}

func (k *kept) file() string { return filepath.Join(k.opts.CacheDir, "tools.cache") }

// start looks at everything and returns how many programs were run for it.
func (k *kept) start() int {
	k.t.Helper()
	before := k.probes.total()
	list(k.t, discovery.New(k.opts), discovery.Cached)
	return k.probes.total() - before
}

func (k *kept) wantStart(what string, want int) {
	k.t.Helper()
	if ran := k.start(); ran != want {
		k.t.Errorf("%s: %d programs were run, want %d", what, ran, want)
	}
}

func TestASecondStartRunsNothing(t *testing.T) {
	k := newKept(t)
	for _, name := range []string{"a", "b", "c"} {
		k.add(name, script)
	}
	k.wantStart("first start", 3)
	first := list(t, discovery.New(k.opts), discovery.Cached)
	k.wantStart("second start", 0)
	if got := names(first.Tools); !slices.Equal(got, []string{"a", "b", "c"}) || first.Tools[1].Essence != "b — does it." {
		t.Errorf("from the cache: %+v", first.Tools)
	}
	found, err := discovery.New(k.opts).One(t.Context(), "b")
	if err != nil || found.Tool == nil || k.probes.total() != 3 {
		t.Errorf("One: %+v, %v, %d programs run", found, err, k.probes.total())
	}
	k.add("d", script)
	k.wantStart("one more tool", 1)

	ran := k.probes.total()
	list(t, discovery.New(k.opts), discovery.Refresh)
	if n := k.probes.total() - ran; n != 4 {
		t.Errorf("refresh ran %d programs, want 4", n)
	}
	if _, err := discovery.New(k.opts).Fresh(t.Context(), "a"); err != nil || k.probes.total() != ran+5 {
		t.Errorf("Fresh: %v, %d programs run", err, k.probes.total()-ran-4)
	}
	k.wantStart("after a refresh", 0)
}

func TestACallLooksAtOneTool(t *testing.T) {
	k := newKept(t)
	k.add("a", script)
	k.add("b", script)
	if _, err := discovery.New(k.opts).One(t.Context(), "a"); err != nil || k.probes.calls["b"] != 0 {
		t.Errorf("%v, b was run %d times", err, k.probes.calls["b"])
	}
	k.wantStart("the other one", 1)
	k.wantStart("both", 0)
}

func TestWhatMakesADescriptionOld(t *testing.T) {
	base := time.Now().Add(-time.Hour)
	interp := func(k *kept) string { return filepath.Join(k.dir, "interp") }
	for name, change := range map[string]func(k *kept){
		"content":            func(k *kept) { k.add("x", "#!"+interp(k)+"\necho other\n") },
		"same size":          func(k *kept) { k.add("x", "#!"+interp(k)+"\necho HELLO\n") },
		"only the time":      func(k *kept) { must(k.t, os.Chtimes(filepath.Join(k.dir, "x/x"), base, base)) },
		"only the mode":      func(k *kept) { must(k.t, os.Chmod(filepath.Join(k.dir, "x/x"), 0o700)) },
		"schema comes":       func(k *kept) { k.tree.file("x", "schema.json", "{}", 0o644) },
		"interpreter":        func(k *kept) { must(k.t, os.Chtimes(interp(k), base, base)) },
		"SNENS":              func(k *kept) { k.opts.Version = "2" },
		"LANG":               func(k *kept) { k.opts.Env = []string{"LANG=de_DE.UTF-8"} },
		"LC_*":               func(k *kept) { k.opts.Env = []string{"LC_MESSAGES=ru_RU.UTF-8"} },
		"replaced by rename": func(k *kept) { k.add("y", "#!"+interp(k)+"\necho hello\n"); k.rename("y/y", "x/x") },
		"made a link":        func(k *kept) { k.rename("x/x", "x/real"); k.link("x", "real") },
	} {
		k := newKept(t)
		must(t, os.WriteFile(interp(k), []byte("#!/bin/sh\n"), 0o755))
		must(t, os.Chmod(interp(k), 0o755))
		k.add("x", "#!"+interp(k)+"\necho hello\n")
		k.wantStart(name+", first", 1)
		k.wantStart(name+", unchanged", 0)
		change(k)
		ran := k.probes.calls["x"]
		k.start()
		if k.probes.calls["x"] != ran+1 {
			t.Errorf("%s: not read again", name)
		}
		k.wantStart(name+", again", 0)
	}
}

func (k *kept) rename(from, to string) {
	k.t.Helper()
	must(k.t, os.Rename(filepath.Join(k.dir, from), filepath.Join(k.dir, to)))
}

func TestHelpFileComesAndGoes(t *testing.T) {
	k := newKept(t)
	k.add("x", script)
	k.wantStart("first", 1)
	k.tree.file("x", "help.txt", "by file\n", 0o644)
	k.wantStart("help.txt comes", 0)
	if got := list(t, discovery.New(k.opts), discovery.Cached); got.Tools[0].Essence != "by file" {
		t.Errorf("%+v", got.Tools)
	}
	k.tree.file("x", "help.txt", "by another file\n", 0o644)
	if got := list(t, discovery.New(k.opts), discovery.Cached); got.Tools[0].Essence != "by another file" {
		t.Errorf("%+v", got.Tools)
	}
	must(t, os.Remove(filepath.Join(k.dir, "x/help.txt")))
	k.wantStart("help.txt goes", 1)
}

func TestEnvironmentsLiveSideBySide(t *testing.T) {
	k := newKept(t)
	k.add("x", script)
	german := []string{"PATH=/bin", "LANG=de_DE.UTF-8"}
	k.wantStart("without a language", 1)
	k.opts.Env = german
	k.wantStart("in German", 1)
	k.opts.Env = nil
	k.wantStart("without again", 0)
	k.opts.Env = append([]string{"LANG=overridden", "HOME=/x"}, german...)
	k.wantStart("the last LANG counts, HOME does not", 0)
}

func TestFailuresAreKeptForTenMinutes(t *testing.T) {
	k := newKept(t)
	k.add("bad", script)
	k.probes.answer = func(string) discovery.ProbeResult { return discovery.ProbeResult{ExitCode: 1} }
	var started time.Time
	synctest.Test(t, func(*testing.T) {
		started = time.Now()
		k.wantStart("first", 1)
		<-time.After(10*time.Minute - time.Second)
		k.wantStart("within ten minutes", 0)
		<-time.After(2 * time.Second)
		k.wantStart("after ten minutes", 1)
		<-time.After(time.Minute)
		k.wantStart("a minute after that", 0)
	})
	synctest.Test(t, func(t *testing.T) { // each bubble begins at the same time: the clock was set back
		if !time.Now().Equal(started) {
			t.Fatal("the bubbles do not begin at the same time")
		}
		k.wantStart("clock set back", 1)
		k.wantStart("right after", 0)
	})
}

func TestASuccessIsKeptWhateverTheClockSays(t *testing.T) {
	k := newKept(t)
	k.add("x", script)
	k.start() // by the real clock, which is ahead of a bubble's
	synctest.Test(t, func(*testing.T) { k.wantStart("clock set back", 0) })
}

func TestAMendedToolIsSeenAtOnce(t *testing.T) {
	k := newKept(t)
	k.add("x", script)
	answer := k.probes.answer
	k.probes.answer = func(string) discovery.ProbeResult { return discovery.ProbeResult{ExitCode: 1} }
	k.start()
	k.probes.answer = answer
	k.add("x", script+"# mended\n")
	if got := list(t, discovery.New(k.opts), discovery.Cached); len(got.Tools) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestAToolThatChangesWhileItIsReadIsNotKept(t *testing.T) {
	k := newKept(t)
	path := k.add("x", script)
	k.probes.answer = func(name string) discovery.ProbeResult {
		must(t, os.WriteFile(path, []byte(script+"# longer\n"), 0o755))
		return wellSpoken(name)
	}
	k.start()
	k.probes.answer = wellSpoken
	k.wantStart("after the change", 1)
	k.wantStart("and then", 0)
}

func TestTheCacheIsOursAlone(t *testing.T) {
	k := newKept(t)
	k.add("x", script)
	must(t, os.MkdirAll(filepath.Dir(k.opts.CacheDir), 0o755))
	old := unix.Umask(0)
	k.start()
	unix.Umask(old)
	for path, want := range map[string]os.FileMode{k.opts.CacheDir: 0o700, k.file(): 0o600} {
		info, err := os.Lstat(path)
		must(t, err)
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode().Perm(), want)
		}
	}
}

// TestCachesThatMustNotBeUsed: what somebody else could have written, or what
// is no cache at all, is passed over in silence and costs one probe per start
// until it can be replaced.
func TestCachesThatMustNotBeUsed(t *testing.T) {
	for name, c := range map[string]struct {
		spoil    func(k *kept)
		replaced bool // the next start mends it
	}{
		"cut short":      {func(k *kept) { must(k.t, os.Truncate(k.file(), 40)) }, true},
		"empty":          {func(k *kept) { must(k.t, os.Truncate(k.file(), 0)) }, true},
		"other text":     {func(k *kept) { must(k.t, os.WriteFile(k.file(), []byte("hello"), 0o600)) }, true},
		"huge":           {func(k *kept) { must(k.t, os.Truncate(k.file(), 1<<40)) }, true},
		"gone":           {func(k *kept) { must(k.t, os.Remove(k.file())) }, true},
		"open to others": {func(k *kept) { must(k.t, os.Chmod(k.file(), 0o666)) }, true},
		"a link": {func(k *kept) {
			must(k.t, os.Rename(k.file(), k.file()+".real"))
			must(k.t, os.Symlink("tools.cache.real", k.file()))
		}, true},
		"a pipe": {func(k *kept) {
			must(k.t, os.Remove(k.file()))
			must(k.t, unix.Mkfifo(k.file(), 0o600))
		}, true},
		"a folder": {func(k *kept) {
			must(k.t, os.Remove(k.file()))
			must(k.t, os.Mkdir(k.file(), 0o700))
		}, false},
		"folder open to others": {func(k *kept) { must(k.t, os.Chmod(k.opts.CacheDir, 0o777)) }, false},
		"folder a link": {func(k *kept) {
			must(k.t, os.Rename(k.opts.CacheDir, k.opts.CacheDir+".real"))
			must(k.t, os.Symlink("snens.real", k.opts.CacheDir))
		}, false},
		"folder a file": {func(k *kept) {
			must(k.t, os.RemoveAll(k.opts.CacheDir))
			must(k.t, os.WriteFile(k.opts.CacheDir, nil, 0o600))
		}, false},
	} {
		k := newKept(t)
		k.add("x", script)
		k.start()
		c.spoil(k)
		k.wantStart(name, 1)
		k.wantStart(name+", next start", map[bool]int{true: 0, false: 1}[c.replaced])
	}
}

func TestAForeignCacheIsNotUsed(t *testing.T) {
	testneed.Root(t)
	for name, path := range map[string]func(k *kept) string{
		"file":   func(k *kept) string { return k.file() },
		"folder": func(k *kept) string { return k.opts.CacheDir },
	} {
		k := newKept(t)
		k.add("x", script)
		k.start()
		must(t, os.Chown(path(k), 12345, 12345))
		k.wantStart("foreign "+name, 1)
	}
}

// A home that is not there is not made for a cache.
func TestNoHomeIsMadeForACache(t *testing.T) {
	k := newKept(t)
	k.add("x", script)
	root := t.TempDir()
	home := filepath.Join(root, "nonexistent")
	k.opts.CacheDir = filepath.Join(home, ".cache", "snens")
	k.wantStart("without a home", 1)
	if _, err := os.Lstat(home); !os.IsNotExist(err) {
		t.Errorf("the home was made: %v", err)
	}
	if got := list(t, discovery.New(k.opts), discovery.Cached); len(got.Notes) != 0 {
		t.Errorf("notes %+v", got.Notes)
	}
	must(t, os.Mkdir(home, 0o700))
	k.wantStart("with a home", 1)
	k.wantStart("and again", 0)
}

// In a home of somebody else no cache is begun, and nobody is told: it is
// nobody's fault.
func TestNoCacheIsMadeInAForeignFolder(t *testing.T) {
	testneed.Root(t)
	k := newKept(t)
	k.add("x", script)
	home := t.TempDir()
	k.opts.CacheDir = filepath.Join(home, ".cache", "snens")
	must(t, os.Chown(home, 12345, 12345))
	k.wantStart("in a foreign home", 1)
	if entries, err := os.ReadDir(home); err != nil || len(entries) != 0 {
		t.Errorf("made there: %v, %v", entries, err)
	}
	if got := list(t, discovery.New(k.opts), discovery.Cached); len(got.Notes) != 0 {
		t.Errorf("notes %+v", got.Notes)
	}
	must(t, os.Chown(home, 0, 0))
	k.wantStart("in a home of ours", 1)
	k.wantStart("and again", 0)
}

func TestAnUnusableCacheFolderIsTold(t *testing.T) {
	k := newKept(t)
	k.add("x", script)
	must(t, os.MkdirAll(k.opts.CacheDir, 0o777))
	must(t, os.Chmod(k.opts.CacheDir, 0o777))
	got := list(t, discovery.New(k.opts), discovery.Cached)
	if len(got.Notes) != 1 || got.Notes[0].Kind != discovery.NoteCache || got.Notes[0].Path != k.opts.CacheDir {
		t.Errorf("notes %+v", got.Notes)
	}
}

func TestWithoutAPlaceForTheCache(t *testing.T) {
	for _, dir := range []string{"", "/proc/absent/snens", "/dev/null/snens"} {
		k := newKept(t)
		k.opts.CacheDir = dir
		k.add("x", script)
		k.wantStart("cache in "+dir, 1)
		k.wantStart("cache in "+dir+" again", 1)
		f := discovery.New(k.opts) // one Finder still remembers
		first := list(t, f, discovery.Cached)
		ran := k.probes.total()
		if list(t, f, discovery.Cached); k.probes.total() != ran || len(first.Notes) != 0 {
			t.Errorf("cache in %q: %d programs run, notes %v", dir, k.probes.total()-ran, first.Notes)
		}
	}
}

func TestManyWritersAtOnce(t *testing.T) {
	k := newKept(t)
	var all []string
	for _, a := range "abcdefgh" {
		for _, b := range "wxyz" {
			all = append(all, string(a)+string(b))
			k.add(string(a)+string(b), script)
		}
	}
	var work sync.WaitGroup
	for _, name := range all {
		work.Go(func() {
			if found, err := discovery.New(k.opts).One(t.Context(), name); err != nil || found.Tool == nil {
				t.Errorf("%s: %+v, %v", name, found, err)
			}
		})
	}
	work.Wait()
	k.start() // whoever did not get the lock in time is read again now
	k.wantStart("after that", 0)
	entries, err := os.ReadDir(k.opts.CacheDir)
	must(t, err)
	if len(entries) != 2 { // tools.cache, tools.lock
		t.Errorf("left behind: %v", entries)
	}
}

func TestAHeldLockDelaysNobodyForLong(t *testing.T) {
	k := newKept(t)
	k.add("x", script)
	k.start()
	lock, err := safefile.TryLock(filepath.Join(k.opts.CacheDir, "tools.lock"))
	must(t, err)
	defer lock.Unlock()
	k.add("y", script)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		k.wantStart("with the lock held", 1)
		if waited := time.Since(began); waited > time.Second {
			t.Errorf("waited %v for the lock", waited)
		}
	})
}

func TestTheCacheForgetsWhatIsGone(t *testing.T) {
	k := newKept(t)
	gone, other := k.add("gone", script), newTree(t)
	elsewhere := other.add("elsewhere", script)
	k.start()
	k.opts.Dirs = []string{other.dir}
	k.start()
	k.opts.Dirs = []string{k.dir}
	must(t, os.RemoveAll(filepath.Dir(gone)))
	k.add("fresh", script)
	k.start()
	data, err := os.ReadFile(k.file())
	must(t, err)
	for path, want := range map[string]bool{gone: false, elsewhere: true, filepath.Join(k.dir, "fresh/fresh"): true} {
		if bytes.Contains(data, []byte(path)) != want {
			t.Errorf("%s is in the cache: %v, want %v", path, !want, want)
		}
	}
}
