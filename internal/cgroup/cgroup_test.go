package cgroup_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"snens/internal/cgroup"
	"snens/internal/testneed"
)

// Everything a tree can do to stay: sessions of its own, TERM ignored, children
// left to init, processes that keep forking.
const stubborn = `trap '' TERM HUP INT
setsid sh -c 'trap "" TERM; sleep 1000 & sleep 1000' &
(sh -c 'sleep 1000 & sleep 1000 &')
sh -c 'trap "" TERM; while :; do /bin/true; done' &
until [ $(wc -l <$GROUP/cgroup.procs) -ge 8 ]; do :; done
echo ready; exec >&-; wait; sleep 1000`

func TestKillEndsAStubbornTree(t *testing.T) {
	for name, kill := range map[string]func(*cgroup.Group) error{
		"cgroup.kill":       (*cgroup.Group).Kill,
		"before Linux 5.14": (*cgroup.Group).KillEach,
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t, newTree(t), cgroup.Limits{})
			pid := startIn(t, g, stubborn)
			pids, err := g.PIDs()
			if err != nil || !slices.Contains(pids, pid) || len(pids) < 7 {
				t.Errorf("processes %v (%v), want at least 7 with %d", pids, err, pid)
			}
			if err := g.Signal(unix.SIGTERM); err != nil {
				t.Error(err)
			}
			if empty, err := g.WaitEmpty(0); empty || err != nil {
				t.Fatalf("control: the tree ended by TERM (%v, %v)", empty, err)
			}
			if err := kill(g); err != nil {
				t.Fatal(err)
			}
			waitEmpty(t, g)
			if pids, err := g.PIDs(); err != nil || len(pids) != 0 {
				t.Errorf("left: %v (%v)", pids, err)
			}
			if ws := waitFor(pid); !ws.Signaled() || ws.Signal() != unix.SIGKILL {
				t.Errorf("the first process ended with %#x, want SIGKILL", ws)
			}
		})
	}
}

func TestNestedGroupsOfTheChild(t *testing.T) {
	g := newGroup(t, newTree(t), cgroup.Limits{})
	pid := startIn(t, g, `mkdir -p $GROUP/a/b $GROUP/c
sh -c 'echo $$ >$GROUP/a/b/cgroup.procs; exec >&-; sleep 1000' &
until [ -n "$(cat $GROUP/a/b/cgroup.procs)" ]; do :; done
echo $$ >$GROUP/c/cgroup.procs; echo ready; exec >&-; wait`)
	pids, err := g.PIDs()
	if err != nil || !slices.Contains(pids, pid) || len(pids) < 2 {
		t.Errorf("processes %v (%v), want %d and another", pids, err, pid)
	}
	if p, err := g.Populated(); err != nil || !p {
		t.Errorf("populated: %v %v", p, err)
	}
	err = g.Remove()
	if !errors.Is(err, unix.EBUSY) || !strings.Contains(err.Error(), "processes live in it") {
		t.Errorf("removing a populated group: %v, want EBUSY with the processes", err)
	}
	// newGroup's cleanup kills, removes and sees that nothing is left.
}

func TestSignalReachesEveryProcess(t *testing.T) {
	g := newGroup(t, newTree(t), cgroup.Limits{})
	// Ready is when each sleep is one: a shell that is just forking can miss a signal.
	pid := startIn(t, g, `setsid sleep 1000 & sleep 1000 & sh -c 'sleep 1000 & wait' &
sleeping() { for p in $(cat $GROUP/cgroup.procs); do cat /proc/$p/comm; done 2>/dev/null | grep -c '^sleep$'; }
until [ "$(sleeping)" -ge 3 ]; do :; done
echo ready; exec >&-; exec sleep 1000`)
	if err := g.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	waitEmpty(t, g)
	if ws := waitFor(pid); ws.Signal() != unix.SIGTERM {
		t.Errorf("ended with %#x, want SIGTERM", ws)
	}
}

func TestNames(t *testing.T) {
	tree := newTree(t)
	for _, bad := range []string{
		"", ".", "..", "a/b", "../x", "a b", "a\n", "a\x00b", "é", "a.b", "snens.self",
		strings.Repeat("a", 65),
	} {
		if g, err := tree.New(bad, cgroup.Limits{}); err == nil || !strings.Contains(err.Error(), "letters, digits") {
			t.Errorf("name %q: %v, want a refusal", bad, err)
			if g != nil {
				g.Remove()
			}
		}
	}
	long := name(t, 1)
	long += strings.Repeat("z", 64-len(long))
	g, err := tree.New(long, cgroup.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer end(t, g)
	if want := filepath.Join(tree.Parent(), "snens-"+long); g.Path() != want {
		t.Errorf("path %s, want %s", g.Path(), want)
	}
	if _, err := tree.New(long, cgroup.Limits{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the same name again: %v, want ErrExist", err)
	}
	if _, err := os.Stat(g.Path()); err != nil {
		t.Errorf("the refused second New removed the first group: %v", err)
	}
}

func TestLeftover(t *testing.T) {
	tree := newTree(t)
	g := newGroup(t, tree, cgroup.Limits{PIDs: 50})
	pid := startIn(t, g, `sleep 1000 & echo ready; exec >&-; wait`)
	found, err := cgroup.Open(g.Path())
	if err != nil {
		t.Fatal(err)
	}
	if pids, err := found.PIDs(); err != nil || !slices.Contains(pids, pid) {
		t.Errorf("processes %v (%v), want %d among them", pids, err, pid)
	}
	if found.PIDs1() != g.PIDs1() {
		t.Errorf("v1 half %q, want %q", found.PIDs1(), g.PIDs1())
	}
	end(t, found)
	if ws := waitFor(pid); ws.Signal() != unix.SIGKILL {
		t.Errorf("ended with %#x, want SIGKILL", ws)
	}
	if _, err := cgroup.Open(g.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening it again: %v, want ErrNotExist", err)
	}
	for what, err := range map[string]error{"Kill": g.Kill(), "Signal": g.Signal(unix.SIGTERM), "Remove": g.Remove()} {
		if err != nil {
			t.Errorf("%s of a group that is gone: %v", what, err)
		}
	}
	if p, err := g.Populated(); p || err != nil {
		t.Errorf("populated though gone: %v %v", p, err)
	}
	if empty, err := g.WaitEmpty(-1); !empty || err != nil {
		t.Errorf("not empty though gone: %v %v", empty, err)
	}
}

func TestOpenOnlyOurs(t *testing.T) {
	tree := newTree(t)
	other := filepath.Join(tree.Parent(), "other-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(other)
	plain := filepath.Join(t.TempDir(), "snens-x")
	if err := os.Mkdir(plain, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		other, plain, tree.Parent(), tree.Mount(), "/", "", "snens-x",
		tree.Mount() + "/x/../snens-x", tree.Mount() + "//snens-x", tree.Mount() + "/snens-x/", tree.Mount() + "/snens-",
		tree.Mount() + "/snens-a.b",
	} {
		g, err := cgroup.Open(bad)
		if err == nil {
			g.Close()
			t.Errorf("%q was opened", bad)
		} else if errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q was looked for (%v), want a refusal", bad, err)
		}
	}
}

func TestHundredInParallel(t *testing.T) {
	tree := newTree(t)
	var group sync.WaitGroup
	for i := range 100 {
		group.Go(func() {
			g, err := tree.New(name(t, i), cgroup.Limits{})
			if err != nil {
				t.Error(err)
				return
			}
			pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", "sleep 1000 & exit " + strconv.Itoa(i)}, &syscall.ProcAttr{
				Sys: &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: g.FD()},
			})
			if err != nil {
				t.Error(err)
			} else if ws := waitFor(pid); ws.ExitStatus() != i {
				t.Errorf("group %d: %#x", i, ws)
			}
			end(t, g)
		})
	}
	group.Wait()
	left, err := filepath.Glob(filepath.Join(tree.Parent(), "snens-"+name(t, 0)[:20]+"*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left: %v (%v)", left, err)
	}
}

func TestFreeze(t *testing.T) {
	g := newGroup(t, newTree(t), cgroup.Limits{})
	err := g.Freeze()
	testneed.Kernel(t, !errors.Is(err, errors.ErrUnsupported), "cgroup.freeze (Linux 5.2)")
	if err := errors.Join(err, g.Thaw()); err != nil {
		t.Fatal(err)
	}
	pid := startIn(t, g, `echo ready; exec >&-; while :; do /bin/true; done`)
	for _, c := range []struct {
		set  func() error
		want string
	}{{g.Freeze, "frozen 1"}, {g.Thaw, "frozen 0"}, {g.Freeze, "frozen 1"}} {
		if err := c.set(); err != nil {
			t.Fatal(err)
		}
		waitEvent(t, g, c.want)
	}
	if err := g.Kill(); err != nil {
		t.Fatal(err)
	}
	waitEmpty(t, g) // frozen as it was
	if ws := waitFor(pid); ws.Signal() != unix.SIGKILL {
		t.Errorf("ended with %#x, want SIGKILL", ws)
	}
}

// waitEvent polls cgroup.events until it has the line.
func waitEvent(t *testing.T, g *cgroup.Group, want string) {
	t.Helper()
	f, err := g.OpenEvents()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		buf := make([]byte, 256)
		n, _ := f.ReadAt(buf, 0)
		if strings.Contains(string(buf[:n]), want+"\n") {
			return
		}
		if _, err := unix.Poll([]unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLPRI}}, 1000); err != nil && err != unix.EINTR {
			t.Fatal(err)
		}
	}
	t.Fatalf("no %q in cgroup.events", want)
}

func TestWaitEmptyTimesOutAndWakesUp(t *testing.T) {
	g := newGroup(t, newTree(t), cgroup.Limits{})
	pid := startIn(t, g, `echo ready; exec >&-; exec sleep 1000`)
	if empty, err := g.WaitEmpty(time.Millisecond); empty || err != nil {
		t.Errorf("with a process: %v %v, want false", empty, err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := g.WaitEmpty(-1)
		done <- err
	}()
	if err := syscall.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestUsage(t *testing.T) {
	g := newGroup(t, newTree(t), cgroup.Limits{})
	pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done"}, &syscall.ProcAttr{
		Sys: &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: g.FD()},
	})
	if err != nil {
		t.Fatal(err)
	}
	waitFor(pid)
	u := g.Usage()
	if u.CPU <= 0 || u.CPU < u.User {
		t.Errorf("usage %+v, want processor time", u)
	}
	if g.OOMKilled() {
		t.Error("out of memory is reported")
	}
}

func TestDescribe(t *testing.T) {
	tree := newTree(t)
	want := fmt.Sprintf("groups are made in %s, limits held: ", tree.Parent())
	if got := tree.Describe(); !strings.HasPrefix(got, want) || len(got) == len(want) {
		t.Errorf("%q, want it to begin with %q", got, want)
	}
}
