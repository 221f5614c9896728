package spawn

import (
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Process is an action that was started. Its methods may be called from
// several goroutines.
type Process struct {
	pid      int
	pidfd    *os.File
	tree     tree
	grace    time.Duration
	lastWait time.Duration
	began    time.Time

	cancel sync.Once
	stop   chan struct{} // closed by Cancel
	exited chan struct{} // closed when the child was reaped, status and ended are set
	done   chan struct{} // closed when result is set
	gone   chan struct{} // closed when nothing is left

	status unix.WaitStatus
	lost   bool // somebody else took the status
	ended  time.Time
	result Result
}

func newProcess(r *Runner, l *launch) *Process {
	_ = unix.SetNonblock(l.pidfd, true) // so that the runtime polls it
	p := &Process{
		pid: l.pid, pidfd: os.NewFile(uintptr(l.pidfd), "pidfd"), tree: l.tree,
		grace: l.spec.Grace, lastWait: r.lastWait, began: time.Now(),
		stop: make(chan struct{}), exited: make(chan struct{}),
		done: make(chan struct{}), gone: make(chan struct{}),
	}
	go p.watch()
	go p.run(l.spec.Timeout)
	return p
}

// PID is the child's pid and the number of its session.
func (p *Process) PID() int { return p.pid }

// Group is the folder of its control group in the cgroup v2 hierarchy, "" in
// the fallback.
func (p *Process) Group() string { return p.tree.group() }

// Began is when the exec was confirmed.
func (p *Process) Began() time.Time { return p.began }

// Cancel ends the action: the requester is gone, or somebody said so. It does
// not wait. After the end it does nothing.
func (p *Process) Cancel() { p.cancel.Do(func() { close(p.stop) }) }

// Done is closed when there is a result: at the latest the grace and five
// seconds after the command's end, the time limit or Cancel.
func (p *Process) Done() <-chan struct{} { return p.done }

// Gone is closed when nothing of the action is left. It comes with Done, except
// after Unkillable.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Result waits for the result.
func (p *Process) Result() Result {
	<-p.done
	return p.result
}

// watch reaps the child.
func (p *Process) watch() {
	defer close(p.exited)
	p.waitPidfd()
	p.tree.reaping()
	for {
		_, err := unix.Wait4(p.pid, &p.status, 0, nil)
		if err == unix.EINTR {
			continue
		}
		p.lost = err != nil
		p.ended = time.Now()
		return
	}
}

// waitPidfd waits in the runtime's poller, which costs no thread; where it has
// no room, the wait4 that follows waits.
func (p *Process) waitPidfd() {
	conn, err := p.pidfd.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Read(func(fd uintptr) bool {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 0)
		return n > 0 || (err != nil && err != unix.EINTR)
	})
}

// sendChild signals the child, by pidfd.
func (p *Process) sendChild(sig syscall.Signal) {
	conn, err := p.pidfd.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) {
		_ = unix.PidfdSendSignal(int(fd), sig, nil, 0)
	})
}

// run ends with the action.
func (p *Process) run(timeout time.Duration) {
	defer close(p.gone)
	outcome := p.waitForEnd(timeout)
	var survivors []int
	if outcome == Exited {
		survivors = p.tree.members()
	}
	clean := p.end()
	p.result = p.makeResult(outcome, survivors, clean)
	close(p.done)
	for !clean {
		clean = p.wait(p.lastWait)
		if !clean {
			p.send(unix.SIGKILL)
		}
	}
	<-p.exited
	p.tree.close()
	p.pidfd.Close()
}

// waitForEnd gives Exited, TimedOut or Cancelled. What has exited has exited,
// whatever happens in the same moment.
func (p *Process) waitForEnd(timeout time.Duration) Outcome {
	limit := time.NewTimer(timeout)
	defer limit.Stop()
	outcome := Exited
	select {
	case <-p.exited:
	case <-limit.C:
		outcome = TimedOut
	case <-p.stop:
		outcome = Cancelled
	}
	select {
	case <-p.exited:
		return Exited
	default:
		return outcome
	}
}

// end ends whatever is left, gently first, and says whether nothing is.
func (p *Process) end() bool {
	if p.wait(0) {
		return true
	}
	p.send(unix.SIGTERM)
	p.send(unix.SIGCONT) // who is stopped hears of it
	if p.wait(p.grace) {
		return true
	}
	p.send(unix.SIGKILL)
	return p.wait(p.lastWait)
}

// wait waits up to d until the child is reaped and its tree empty.
func (p *Process) wait(d time.Duration) bool {
	end := time.Now().Add(d)
	limit := time.NewTimer(d)
	defer limit.Stop()
	select {
	case <-p.exited:
	case <-limit.C:
		select {
		case <-p.exited:
		default:
			return false
		}
	}
	return p.tree.waitEmpty(max(0, time.Until(end)))
}

// send is the only way in which a running action is signalled: its tree, and
// the child itself, which as root may have left its group.
func (p *Process) send(sig syscall.Signal) {
	p.tree.send(sig)
	select {
	case <-p.exited:
	default:
		p.sendChild(sig)
	}
}

func (p *Process) makeResult(outcome Outcome, survivors []int, clean bool) Result {
	r := Result{Outcome: outcome, ExitCode: -1, OOM: p.tree.oom(), Survivors: survivors, Ended: time.Now()}
	select {
	case <-p.exited:
		r.Ended = p.ended
		switch {
		case p.lost:
		case p.status.Signaled():
			r.Signal = p.status.Signal()
			if outcome == Exited {
				r.Outcome = Signalled
			}
		default:
			r.ExitCode = p.status.ExitStatus()
		}
	default:
		r.Left = append(r.Left, p.pid)
	}
	if !clean {
		r.Outcome = Unkillable
		for _, pid := range p.tree.members() {
			if pid != p.pid {
				r.Left = append(r.Left, pid)
			}
		}
	}
	return r
}
