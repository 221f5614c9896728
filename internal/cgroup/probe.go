package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// A path that no exec can succeed for, whatever the rights.
const noProgram = "/dev/null/none"

// Up to how many earlier kills of its own group Probe makes up for.
const maxKills = 8

var probes atomic.Uint64

// Probe starts a child in a fresh group and removes it again. The child's exec
// fails on purpose, so no program runs; what counts is that it lived until then.
//
// There is a fault to look for, measured on Linux 6.18: a process P sits in a
// group H into whose cgroup.kill was written before P came (mkdir H; echo 1 >
// H/cgroup.kill; echo P > H/cgroup.procs). P can fork within H. A child that P
// starts by clone3 with CLONE_INTO_CGROUP in a fresh group, be it below H or
// elsewhere, gets SIGKILL before its first instruction, and the call reports
// success. The kernel compares how often H and the target were killed: with H
// killed n times, the child lives exactly when the target was killed n times
// too (tried for 0 to 2 against 0 to 3), and once P is in another group all is
// well. So Probe tries targets that were killed 0, 1, ... 8 times while empty,
// and New does to its fresh groups what worked. The number cannot change later,
// because a kill of H would kill P.
//
// The error is an *UnavailableError. A long-lived process calls it before New;
// one that makes a single group may start its child first and call Probe when
// the child was killed by nobody: Adjusted then says whether it never ran.
func (t *Tree) Probe() error {
	for kills := range maxKills + 1 {
		alive, err := t.tryStart(kills)
		if err != nil {
			return err
		}
		if alive {
			t.kills = kills
			return nil
		}
	}
	return unavailable("children started in a fresh group are killed at once: the group of this process, %s, was killed before this process came into it; move the process to another group", t.parent)
}

// Adjusted says that Probe found the fault: a child started in a fresh group
// of New before it never got to its exec.
func (t *Tree) Adjusted() bool { return t.kills > 0 }

// tryStart reports whether a child in a group killed so often gets to its exec.
func (t *Tree) tryStart(kills int) (alive bool, err error) {
	try := *t
	try.kills = kills
	g, err := try.New("probe-"+strconv.Itoa(os.Getpid())+"-"+strconv.FormatUint(probes.Add(1), 10), Limits{})
	if err != nil {
		return false, unavailable("%v", err)
	}
	defer func() {
		if rerr := g.Remove(); rerr != nil && err == nil {
			err = unavailable("%v", rerr)
		}
	}()
	pid, err := syscall.ForkExec(noProgram, []string{"none"}, &syscall.ProcAttr{
		Sys: &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: g.FD()},
	})
	switch {
	case err == nil:
		// It ended before it could report the failed exec.
		return false, reap(pid)
	case errors.Is(err, unix.ENOTDIR):
		return true, nil
	case errors.Is(err, unix.ENOSYS):
		return false, unavailable("the kernel (before 5.7) or a container's filter has no clone3: %v", err)
	case errors.Is(err, unix.EBUSY), errors.Is(err, unix.EOPNOTSUPP):
		return false, unavailable("%s takes no processes in groups below it: %v", t.parent, err)
	}
	return false, unavailable("cannot start a child in a group below %s: %v", t.parent, err)
}

func reap(pid int) error {
	for {
		_, err := syscall.Wait4(pid, nil, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return unavailable("cannot wait for a child: %v", err)
		}
		return nil
	}
}

// Delegate makes limits possible in a group that was delegated to this process
// alone (systemd: Delegate=yes): it moves this process, and no other, into a
// group of its own below, so that the delegated one can hand controllers down.
// From then on the Tree makes its groups beside that one, and Detect does so in
// this process's children. When other processes live in the group, nothing is
// changed and the error says so. Probe again afterwards.
func (t *Tree) Delegate() error {
	if t.free {
		return nil
	}
	self := os.Getpid()
	others, err := (&Group{path: t.parent}).direct()
	if err != nil {
		return unavailable("%v", err)
	}
	for _, pid := range others {
		if pid != self {
			return unavailable("process %d lives in %s too and is not ours to move; delegate a group to this process alone", pid, t.parent)
		}
	}
	own := filepath.Join(t.parent, leaf)
	if err := os.Mkdir(own, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return unavailable("cannot make a group for this process: %v", err)
	}
	if err := writeControl(own, "cgroup.procs", strconv.Itoa(self)); err != nil {
		return unavailable("cannot move this process into %s: %v", own, err)
	}
	t.free, t.kills = true, 0 // another group of ours: ask Probe again
	return nil
}

// direct lists the processes of the group without those of groups below.
func (g *Group) direct() ([]int, error) {
	text, err := readControl(filepath.Join(g.path, "cgroup.procs"))
	if err != nil {
		return nil, fmt.Errorf("cannot list the processes of %s: %w", g.path, err)
	}
	return parsePIDs(text), nil
}
