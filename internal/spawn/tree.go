package spawn

import (
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/cgroup"
)

// tree is everything that one action has started.
type tree interface {
	// attach prepares the start, stopped is called while the child stands at its
	// exec, started when it runs. reaping is called when it has ended and still
	// holds its pid.
	attach(*syscall.SysProcAttr)
	stopped(pid int) error
	started(pid int)
	reaping()
	// send signals every member once; KILL reaches those born meanwhile too.
	send(syscall.Signal)
	// waitEmpty waits up to d until no member lives.
	waitEmpty(d time.Duration) bool
	members() []int
	oom() bool
	group() string
	// close gives back what is held. Members that are left stay.
	close()
}

func (r *Runner) newTree(s *Spec) (tree, error) {
	if r.groups == nil {
		if s.Limits.Memory > 0 || s.Limits.Processes > 0 {
			return nil, fmt.Errorf("cannot limit the memory or the processes of a whole tree without control groups")
		}
		return r.orphans.newTree(), nil
	}
	g, err := r.groups.New(s.Name, cgroup.Limits{Memory: int64(s.Limits.Memory), PIDs: int(s.Limits.Processes)})
	if err != nil {
		return nil, err
	}
	held := g.Limited()
	for _, l := range []struct {
		name         string
		wanted, held bool
	}{{"memory", s.Limits.Memory > 0, held.Memory}, {"processes", s.Limits.Processes > 0, held.PIDs}} {
		if l.wanted && !l.held {
			_ = g.Remove() // nobody was ever in it
			return nil, fmt.Errorf("cannot limit the %s of the action: %s", l.name, r.groups.Describe())
		}
	}
	return &groupTree{g: g}, nil
}

type groupTree struct{ g *cgroup.Group }

func (t *groupTree) attach(sys *syscall.SysProcAttr) {
	sys.UseCgroupFD, sys.CgroupFD = true, t.g.FD()
}

func (t *groupTree) stopped(pid int) error { return t.g.Adopt(pid) }
func (t *groupTree) started(int)           {}
func (t *groupTree) reaping()              {}
func (t *groupTree) oom() bool             { return t.g.OOMKilled() }
func (t *groupTree) group() string         { return t.g.Path() }

// send does not report what fails: what counts is whether the group gets empty.
func (t *groupTree) send(sig syscall.Signal) {
	if sig == unix.SIGKILL {
		_ = t.g.Thaw()
		_ = t.g.Kill()
		return
	}
	_ = t.g.Signal(sig)
}

func (t *groupTree) waitEmpty(d time.Duration) bool {
	empty, err := t.g.WaitEmpty(d)
	return empty && err == nil
}

func (t *groupTree) members() []int {
	pids, _ := t.g.PIDs()
	return pids
}

func (t *groupTree) close() {
	if err := t.g.Remove(); err != nil {
		_ = t.g.Close()
	}
}
