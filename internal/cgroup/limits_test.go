package cgroup_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"snens/internal/cgroup"
	"snens/internal/confine"
	"snens/internal/rlimit"
	"snens/internal/testneed"
)

// A fork bomb stays within the limit, through v2 or v1, started the way the
// engine does it: restricted thread, stopped at the exec, adopted, let go.
func TestForkStormContained(t *testing.T) {
	tree := newTree(t)
	testneed.Kernel(t, tree.Can().PIDs, "a pids controller for groups below "+tree.Parent())
	g := newGroup(t, tree, cgroup.Limits{PIDs: 30})
	if !g.Limited().PIDs {
		t.Fatal("the limit on processes is not held")
	}
	counters := g.Path()
	if g.MustAdopt() {
		counters = g.PIDs1()
	}
	var pid int
	err := confine.Run(confine.Rules{ReadOnly: true}, func() (err error) {
		pid, err = rlimit.Start("/bin/sh", []string{"sh", "-c", "b() { b 2>/dev/null | b 2>/dev/null & }; b; sleep 1000"}, &syscall.ProcAttr{
			Env: []string{"PATH=/usr/bin:/bin"},
			Sys: &syscall.SysProcAttr{Setsid: true, UseCgroupFD: true, CgroupFD: g.FD()},
		}, rlimit.Limits{Stopped: g.Adopt})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// The bomb hits the limit for certain; the kernel counts the refusals.
	for !refusedForks(t, counters) {
		if pids, err := g.PIDs(); err != nil || len(pids) > 30 {
			t.Fatalf("%d processes (%v), want at most 30", len(pids), err)
		}
	}
	peak, err := os.ReadFile(filepath.Join(counters, "pids.current"))
	if n, perr := strconv.Atoi(strings.TrimSpace(string(peak))); err != nil || perr != nil || n > 30 {
		t.Errorf("%s tasks, want at most 30", peak)
	}
	end(t, g)
	waitFor(pid)
}

func refusedForks(t *testing.T, folder string) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "pids.events"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.HasPrefix(string(text), "max ") && !strings.HasPrefix(string(text), "max 0\n")
}

func TestLimitsThatCannotBeHeldAreLeftOut(t *testing.T) {
	tree := newTree(t).WithoutPIDs1()
	can := tree.Can()
	g := newGroup(t, tree, cgroup.Limits{Memory: 64 << 20, PIDs: 30})
	if g.Limited() != can || g.MustAdopt() {
		t.Errorf("held %+v, want %+v; adopt: %v", g.Limited(), can, g.MustAdopt())
	}
	if err := g.Adopt(0); err != nil {
		t.Errorf("Adopt without a v1 limit: %v, want nothing to happen", err)
	}
}

func TestAdoptRefusesPIDZero(t *testing.T) {
	tree := newTree(t)
	g := newGroup(t, tree, cgroup.Limits{PIDs: 30})
	testneed.Kernel(t, g.MustAdopt(), "the pids controller in cgroup v1")
	if err := g.Adopt(0); err == nil {
		t.Error("the test itself was put into the group")
	}
	if err := g.Adopt(1 << 30); err == nil || !strings.Contains(err.Error(), "cannot put the child into") {
		t.Errorf("a pid of nobody: %v", err)
	}
}

// fakeGroup makes plain files in place of the kernel's.
func fakeGroup(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What is written where controllers are handed down; the files are plain ones,
// since few machines of the tests have v2 controllers.
func TestLimitFilesOfV2(t *testing.T) {
	group := map[string]string{"snens-x/memory.max": "", "snens-x/memory.swap.max": "", "snens-x/pids.max": ""}
	cases := []struct {
		name          string
		control, have string
		free          bool
		limits        cgroup.Limits
		held          cgroup.Limited
		want          map[string]string
	}{
		{
			"handed down already", "cpu memory pids", "cpu memory pids", false,
			cgroup.Limits{Memory: 1 << 20, PIDs: 9},
			cgroup.Limited{Memory: true, PIDs: true},
			map[string]string{"snens-x/memory.max": "1048576", "snens-x/memory.swap.max": "0", "snens-x/pids.max": "9", "cgroup.subtree_control": "cpu memory pids"},
		},
		{
			"not handed down", "cpu", "cpu memory pids", false,
			cgroup.Limits{Memory: 1 << 20, PIDs: 9},
			cgroup.Limited{},
			map[string]string{"snens-x/memory.max": "", "snens-x/pids.max": "", "cgroup.subtree_control": "cpu"},
		},
		{
			"can be handed down", "", "memory pids", true,
			cgroup.Limits{PIDs: 9},
			cgroup.Limited{PIDs: true},
			map[string]string{"snens-x/memory.max": "", "snens-x/pids.max": "9", "cgroup.subtree_control": "+pids"},
		},
		{
			"nothing asked", "memory pids", "memory pids", true,
			cgroup.Limits{},
			cgroup.Limited{},
			map[string]string{"snens-x/memory.max": "", "snens-x/pids.max": "", "cgroup.subtree_control": "memory pids"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"cgroup.subtree_control": c.control, "cgroup.controllers": c.have}
			for k, v := range group {
				files[k] = v
			}
			dir := fakeGroup(t, files)
			g, err := cgroup.FakeTree(dir, c.free).Prepare(filepath.Join(dir, "snens-x"), c.limits)
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			if g.Limited() != c.held {
				t.Errorf("held %+v, want %+v", g.Limited(), c.held)
			}
			for file, want := range c.want {
				// The kernel's files take each write as a whole; a plain one
				// keeps what it is longer by.
				got, err := os.ReadFile(filepath.Join(dir, file))
				if err != nil || !strings.HasPrefix(string(got), want) {
					t.Errorf("%s is %q (%v), want %q", file, got, err, want)
				}
			}
		})
	}
}

func TestBusyParentIsExplained(t *testing.T) {
	err := cgroup.HandDownError("/sys/fs/cgroup/x", "pids", unix.EBUSY)
	if want := "cannot hand the pids controller down in /sys/fs/cgroup/x: processes live in that group itself, and they are not ours to move: device or resource busy"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}

func TestOOMAndPeak(t *testing.T) {
	dir := fakeGroup(t, map[string]string{
		"snens-x/memory.events": "low 0\nhigh 0\nmax 12\noom 1\noom_kill 1\noom_group_kill 0\n",
		"snens-x/memory.peak":   "4096\n",
		"snens-x/cpu.stat":      "usage_usec 1500\nuser_usec 1000\nsystem_usec 500\n",
	})
	g, err := cgroup.FakeTree(dir, false).Prepare(filepath.Join(dir, "snens-x"), cgroup.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if !g.OOMKilled() {
		t.Error("oom_kill 1 is not seen")
	}
	if u := g.Usage(); u != (cgroup.Usage{CPU: 1500e3, User: 1000e3, System: 500e3, MemoryPeak: 4096}) {
		t.Errorf("usage %+v", u)
	}
}
