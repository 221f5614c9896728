package engine

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// reap collects the child, which has exited. It comes after settle: until then
// its number is nobody else's, and the session it led is known by it.
func (l *loop) reap() {
	for {
		_, err := syscall.Wait4(l.pid, &l.status, 0, &l.usage)
		if err == syscall.EINTR {
			continue
		}
		l.lost = err // somebody else waited for it: never a success
		break
	}
	l.tree.exited()
}

// settle ends what the child left behind and empties the pipes.
func (l *loop) settle() {
	if !l.killed {
		l.resume() // nothing that may be left stays frozen
	}
	l.closeFD(&l.inFD)
	until := time.Now().Add(l.spec.Drain)
	l.drain(until)
	l.outputOpen = l.outFD >= 0 || l.errFD >= 0
	if !l.killAt.IsZero() && !l.killed {
		l.awaitGrace()
	}
	members := l.tree.members()
	if !l.killed && l.killAt.IsZero() {
		l.left = members
	}
	if !l.tree.empty() && (l.spec.Survivors == KillSurvivors || l.killed || !l.killAt.IsZero()) {
		l.end()
	}
	for now := time.Now(); (l.outFD >= 0 || l.errFD >= 0) && now.Before(until); now = time.Now() {
		l.step(until.Sub(now))
	}
}

// awaitGrace gives the rest of a tree that was sent TERM what is left of the
// grace: its first process has ended, others may still be cleaning up.
func (l *loop) awaitGrace() {
	for !l.killed && !l.tree.empty() && time.Now().Before(l.killAt) {
		l.step(min(lookAgain, max(0, time.Until(l.killAt))))
	}
}

// end kills the tree until it is empty.
func (l *loop) end() {
	until := time.Now().Add(settleFor)
	for {
		l.tree.kill()
		if l.tree.empty() || !time.Now().Before(until) {
			return
		}
		l.step(lookAgain / 10)
	}
}

// drain takes what the pipes hold now, without waiting for more.
func (l *loop) drain(until time.Time) {
	for time.Now().Before(until) {
		before := l.out.total + l.err.total
		l.pull(&l.outFD, l.out)
		l.pull(&l.errFD, l.err)
		if l.out.total+l.err.total == before {
			return
		}
	}
}

// close gives back every descriptor; the record is made.
func (l *loop) close() {
	for _, fd := range []*int{&l.wake, &l.pidfd, &l.outFD, &l.errFD, &l.inFD} {
		l.closeFD(fd)
	}
	for _, c := range l.commands() {
		close(c.done)
	}
	if l.tree != nil {
		l.tree.close()
	}
	if l.piece != nil {
		l.engine.pieces.Put(l.piece)
		l.piece, l.buf = nil, nil
	}
}

func (l *loop) closeFD(fd *int) {
	if *fd >= 0 {
		_ = unix.Close(*fd)
		*fd = -1
	}
}
