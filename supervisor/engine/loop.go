package engine

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/cgroup"
	"snens/supervisor/call"
)

const (
	defaultHeadTail = 64 << 10
	defaultDrain    = 50 * time.Millisecond
	// settleFor bounds the wait for a killed tree to be gone. What is still
	// there then sits in the kernel and no signal reaches it.
	settleFor = 2 * time.Second
	// lookAgain is how often the emptiness of a tree is looked at where the
	// kernel does not tell of it.
	lookAgain = 10 * time.Millisecond
	// killAgain is how often a kill is repeated while the child lives.
	killAgain = 100 * time.Millisecond
	// unkillableAfter is when a child that no KILL ends is given up: it sits in
	// the kernel, on a file system that does not answer.
	unkillableAfter = 10 * time.Second
	pieceSize       = 64 << 10
	// bigPiece and bigPipe serve a stream that has filled a whole piece.
	bigPiece = 256 << 10
	bigPipe  = 1 << 20
)

var errUnkillable = errors.New("it survives SIGKILL")

// loop is one call: the state and the poll loop around it. One goroutine owns it.
type loop struct {
	engine   *Engine
	spec     Spec
	wake     int
	commands func() []command

	tree       tree
	groups     *cgroup.Tree // in which tree was made, nil in the fallback
	pid, pidfd int
	outFD      int // read ends of the pipes, -1 when closed or in Pass mode
	errFD      int
	inFD       int // write end, -1 when closed
	inLeft     []byte
	out, err   *stream
	piece      *[pieceSize]byte // borrowed from the engine
	buf        []byte           // piece, or a bigger one

	start     time.Time
	deadline  time.Time // of the time limit; zero = none
	killAt    time.Time // end of the grace; zero = TERM was not sent
	suspended time.Time // since when; zero = running
	killed    bool      // KILL was sent to the tree
	killedAt  time.Time // when first
	timedOut  bool
	cancelled bool

	exited     bool  // the child has; it is reaped when the tree is settled
	lost       error // the status cannot be had
	status     syscall.WaitStatus
	usage      syscall.Rusage
	outputOpen bool
	left       []call.Survivor
}

// prepare checks what can be checked before anything is started.
func (e *Engine) prepare(s Spec) (*loop, *call.Record) {
	if s.HeadTail <= 0 {
		s.HeadTail = defaultHeadTail
	}
	if s.Drain <= 0 {
		s.Drain = defaultDrain
	}
	if f := checkDir(s.Dir); f != nil {
		return nil, f.record(s)
	}
	l := &loop{engine: e, spec: s, pidfd: -1, outFD: -1, errFD: -1, inFD: -1, inLeft: s.StdinBytes}
	var err error
	if l.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return nil, explain(s, err).record(s)
	}
	l.out, l.err = l.stream("stdout"), l.stream("stderr")
	l.out.always = s.Binary
	return l, nil
}

func (l *loop) stream(name string) *stream {
	s := l.spec
	dir := s.SpillDir
	if s.SpillMax <= 0 {
		dir = ""
	}
	return &stream{
		name: name, limit: s.HeadTail, tailOff: s.TailOff,
		spillDir: dir, spillMax: s.SpillMax, red: newRedactor(s.Secrets),
	}
}

// run is the whole life of the call.
func (l *loop) run() *call.Record {
	l.start = time.Now()
	err := l.live()
	if err == nil && l.neverRan() {
		l.again()
		err = l.live()
	}
	if err != nil {
		var f *Fault
		if !errors.As(err, &f) {
			f = explain(l.spec, err)
		}
		rec := f.record(l.spec)
		rec.StartedAt, rec.DurationMS = l.start, time.Since(l.start).Milliseconds()
		return rec
	}
	l.out.finish()
	l.err.finish()
	return l.record()
}

// live starts the child and stays with it until its tree is settled.
func (l *loop) live() error {
	if err := l.begin(); err != nil {
		return err
	}
	if l.spec.Timeout > 0 {
		l.deadline = l.start.Add(l.spec.Timeout)
	}
	for !l.exited && l.lost == nil {
		l.turn()
	}
	l.settle()
	if l.exited {
		l.reap()
	}
	return nil
}

// turn is one round of the loop. What has ended in time is not late because we
// come to see it late.
func (l *loop) turn() {
	l.step(l.untilNext())
	if !l.exited {
		l.onTime()
	}
}

// neverRan says that the child was killed by nobody before its exec: groups
// made here kill what is born in them. The program has not run, so it may be
// started once more.
func (l *loop) neverRan() bool {
	return l.status.Signaled() && l.status.Signal() == syscall.SIGKILL &&
		!l.killed && l.killAt.IsZero() && l.tree.cgroup() != "" && !l.tree.oom() &&
		l.out.total+l.err.total == 0 && l.engine.bornDead(l.groups)
}

// again makes the loop ready for another start.
func (l *loop) again() {
	for _, fd := range []*int{&l.pidfd, &l.outFD, &l.errFD, &l.inFD} {
		l.closeFD(fd)
	}
	l.tree.close()
	l.exited, l.outputOpen, l.left, l.inLeft = false, false, nil, l.spec.StdinBytes
}

// untilNext is how long the loop may sleep; negative = until something happens.
func (l *loop) untilNext() time.Duration {
	next := l.deadline
	if !l.killAt.IsZero() {
		next = l.killAt
	}
	switch {
	case l.killed:
		return killAgain
	case next.IsZero() || !l.suspended.IsZero():
		return -1
	}
	return max(0, time.Until(next))
}

// onTime carries out what the clock asks for.
func (l *loop) onTime() {
	now := time.Now()
	switch {
	case l.killed && now.Sub(l.killedAt) > unkillableAfter:
		l.lost = errUnkillable
	case l.killed:
		l.tree.kill()
	case !l.suspended.IsZero():
	case !l.killAt.IsZero():
		if !now.Before(l.killAt) {
			l.kill()
		}
	case !l.deadline.IsZero() && !now.Before(l.deadline):
		l.timedOut = true
		l.stop()
	}
}

// stop sends TERM and begins the grace. A stopped process is continued, since
// it would not see the signal.
func (l *loop) stop() {
	if !l.killAt.IsZero() || l.killed {
		return
	}
	l.resume()
	l.tree.signal(syscall.SIGTERM)
	l.tree.signal(syscall.SIGCONT)
	l.killAt = time.Now().Add(l.spec.Grace)
}

// kill sends KILL to the tree, and to the child by its own descriptor, which
// needs nothing that could be missing. The loop repeats it until the child is
// gone or nothing can end it.
func (l *loop) kill() {
	if !l.killed {
		l.killed, l.killedAt = true, time.Now()
	}
	l.tree.kill()
	if !l.exited {
		_ = unix.PidfdSendSignal(l.pidfd, unix.SIGKILL, nil, 0) // gone is as good
	}
}

func (l *loop) resume() {
	if l.suspended.IsZero() {
		return
	}
	l.tree.freeze(false)
	away := time.Since(l.suspended)
	l.suspended = time.Time{}
	if !l.deadline.IsZero() {
		l.deadline = l.deadline.Add(away)
	}
	if !l.killAt.IsZero() {
		l.killAt = l.killAt.Add(away)
	}
}

func (l *loop) obey() {
	var b [8]byte
	_, _ = unix.Read(l.wake, b[:])
	for _, c := range l.commands() {
		if l.exited && l.killAt.IsZero() && !l.killed {
			close(c.done) // it had ended by itself: nothing is left to be asked
			continue
		}
		switch c.verb {
		case cmdStop:
			l.cancelled = l.cancelled || !l.timedOut
			l.stop()
		case cmdKill:
			l.cancelled = l.cancelled || !l.timedOut
			l.kill()
		case cmdSuspend:
			if l.suspended.IsZero() && !l.exited {
				l.suspended = time.Now()
				l.tree.freeze(true)
			}
		case cmdResume:
			l.resume()
		}
		close(c.done)
	}
}

// step sleeps in poll for at most d (negative: for ever) and serves what is ready.
func (l *loop) step(d time.Duration) {
	fds := [5]unix.PollFd{
		{Fd: -1, Events: unix.POLLIN},
		{Fd: int32(l.wake), Events: unix.POLLIN},
		{Fd: int32(l.outFD), Events: unix.POLLIN},
		{Fd: int32(l.errFD), Events: unix.POLLIN},
		{Fd: int32(l.inFD), Events: unix.POLLOUT},
	}
	if !l.exited {
		fds[0].Fd = int32(l.pidfd)
	}
	if n, err := unix.Poll(fds[:], pollTime(d)); err != nil || n == 0 {
		return // EINTR and time: the caller looks at the clock and comes again
	}
	if fds[1].Revents != 0 {
		l.obey()
	}
	if fds[2].Revents != 0 {
		l.pull(&l.outFD, l.out)
	}
	if fds[3].Revents != 0 {
		l.pull(&l.errFD, l.err)
	}
	if fds[4].Revents != 0 {
		l.feed()
	}
	if fds[0].Revents != 0 {
		l.exited = true
	}
}

// pollTime is d for poll(2): whole milliseconds, rounded up, -1 for ever. The
// kernel takes 32 bits: a month would be a negative number. Woken early, the loop
// sleeps on.
func pollTime(d time.Duration) int {
	if d < 0 {
		return -1
	}
	return int((min(d, time.Hour) + time.Millisecond - 1) / time.Millisecond)
}
