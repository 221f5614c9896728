package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"snens/internal/cgroup"
	"snens/internal/rlimit"
	"snens/supervisor/call"
)

// groupTree is a tree held by a cgroup of the call's own: every descendant is
// in it, whatever session, parent or uid it gave itself.
type groupTree struct {
	group *cgroup.Group
	orph  *orphanage
	pid   int // of the child; 0 = none was started
}

func (t *groupTree) attach(a *syscall.SysProcAttr) { a.UseCgroupFD, a.CgroupFD = true, t.group.FD() }
func (t *groupTree) cgroup() string                { return t.group.Path() }
func (t *groupTree) exited()                       {}
func (t *groupTree) oom() bool                     { return t.group.OOMKilled() }

// started tells a supervisor that has become a subreaper (a program that could
// not be run is enough) whose child this is.
func (t *groupTree) started(pid, _ int) {
	t.pid = pid
	t.orph.add(pid)
}

func (t *groupTree) members() []call.Survivor {
	if t.empty() {
		return nil // one file to read instead of a walk
	}
	pids, _ := t.group.PIDs()
	out := make([]call.Survivor, 0, len(pids))
	for _, pid := range pids {
		if p, ok := lookAt(pid); ok && !p.dead() {
			out = append(out, call.Survivor{PID: pid, Name: strings.ToValidUTF8(p.comm, "\uFFFD")})
		}
	}
	return out
}

func (t *groupTree) signal(sig syscall.Signal) { _ = t.group.Signal(sig) } // those gone meanwhile need none
func (t *groupTree) kill()                     { _ = t.group.Kill() }      // the caller looks at empty

// freeze uses the cgroup freezer, which a process cannot notice; kernels
// without it get the signals.
func (t *groupTree) freeze(stop bool) {
	set, sig := t.group.Thaw, syscall.SIGCONT
	if stop {
		set, sig = t.group.Freeze, syscall.SIGSTOP
	}
	if set() != nil {
		t.signal(sig)
	}
}

func (t *groupTree) empty() bool {
	p, err := t.group.Populated()
	return err == nil && !p
}

// close removes the group, which waits a moment for the kernel to let go of
// the last process; a group whose survivors were left alone stays.
func (t *groupTree) close() {
	_ = t.group.Remove()
	if t.pid == 0 {
		t.orph.collect()
		return
	}
	t.orph.drop(t.pid)
	t.pid = 0
}

// launch starts the child with the limits and on the thread of the spec.
func (l *loop) launch(attr *syscall.ProcAttr) (pid int, err error) {
	lim, err := l.limits()
	if err != nil {
		return 0, err
	}
	start := func() error {
		var err error
		if lim.IsZero() {
			pid, err = syscall.ForkExec(l.spec.Path, l.spec.Argv, attr)
		} else {
			pid, err = rlimit.Start(l.spec.Path, l.spec.Argv, attr, lim)
		}
		return err
	}
	if l.spec.Thread != nil {
		err = l.spec.Thread.Run(start)
	} else {
		err = start()
	}
	if errors.Is(err, rlimit.ErrProcesses) {
		err = limitFault("pids", err)
	}
	return pid, err
}

// limits says what must be set on the stopped child: what its group does not
// hold. A limit that nothing here can hold is an error, never left out.
func (l *loop) limits() (rlimit.Limits, error) {
	want := l.spec.Limits
	lim := rlimit.Limits{CPU: want.CPU, OpenFiles: uint64(max(0, want.OpenFiles))}
	var held cgroup.Limited
	if g, ok := l.tree.(*groupTree); ok {
		held = g.group.Limited()
		if g.group.MustAdopt() {
			lim.Stopped = g.group.Adopt
		}
	}
	if want.Memory > 0 && !held.Memory {
		lim.Memory = uint64(want.Memory)
	}
	if want.PIDs > 0 && !held.PIDs {
		now, err := rlimit.UserTasks(os.Geteuid())
		if err != nil {
			return lim, limitFault("pids", err)
		}
		lim.Processes = now + uint64(want.PIDs)
	}
	return lim, nil
}

func limitFault(name string, err error) *Fault {
	return &Fault{
		Status: call.ExitOurs,
		Words:  fmt.Sprintf("the limit %q cannot be held on this machine: %v", name, err),
		Hint:   "take the limit out of the configuration or the schema, or run under a cgroup with that controller (snens doctor says which)",
	}
}

// needsGroup says that the call may not run without its group, because the
// group holds one of its limits.
func (l *loop) needsGroup() bool {
	g, ok := l.tree.(*groupTree)
	return ok && (g.group.Limited().Memory || g.group.Limited().PIDs)
}

// Tidy removes the empty groups of calls that have ended: those whose survivors
// were left alone and have gone since. Groups younger than age are another
// supervisor's that is about to start its child.
func (e *Engine) Tidy(age time.Duration) {
	groups := e.tree()
	if groups == nil {
		return
	}
	all, _ := filepath.Glob(filepath.Join(groups.Parent(), "snens-*"))
	for _, path := range all {
		st, err := os.Stat(path)
		if err != nil || time.Since(st.ModTime()) < age {
			continue
		}
		if g, err := cgroup.Open(path); err == nil {
			if p, err := g.Populated(); err != nil || p {
				_ = g.Close()
				continue
			}
			_ = g.Remove() // tried again the next time
		}
	}
}
