package engine

import (
	"fmt"
	"math"
	"sync"

	"golang.org/x/sys/unix"

	"snens/internal/cgroup"
	"snens/supervisor/call"
)

// Engine starts calls. One engine serves a whole process; its methods may be
// used from several goroutines.
type Engine struct {
	orphans orphanage
	pieces  sync.Pool // of *[pieceSize]byte, for the output of calls

	mu     sync.Mutex   // guards the rest
	groups *cgroup.Tree // nil: the fallback; never changed, only replaced
	why    error        // why there are no groups
	probed bool
	deadly *cgroup.Tree // see bornDead
}

// Options chooses how an engine supervises.
type Options struct {
	// NoCgroup forces the fallback, for tests and for machines where it is wanted.
	NoCgroup bool
	// Probe tries a group at once, by a real clone. A process that makes many
	// calls wants it; one that makes a single call tries when there is doubt.
	Probe bool
}

// New looks for a cgroup hierarchy to work in. Without one the process becomes
// a subreaper, so that daemons a tool leaves behind can still be found.
func New(o Options) (*Engine, error) {
	e := &Engine{}
	e.pieces.New = func() any { return new([pieceSize]byte) }
	// A descriptor that the supervisor itself was started with (5>file, a
	// listener) must not reach a tool.
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return nil, fmt.Errorf("cannot mark inherited descriptors close-on-exec: %w", err)
	}
	if o.NoCgroup {
		e.why = fmt.Errorf("cgroups are switched off")
	} else {
		e.groups, e.why = cgroup.Detect()
	}
	if e.groups != nil && o.Probe {
		e.bornDead(nil)
	}
	if e.groups == nil {
		if err := e.becomeSubreaper(); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Supervision says in words how process trees are ended here; exact is false
// for the best-effort fallback.
func (e *Engine) Supervision() (words string, exact bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.groups != nil {
		return "a cgroup per call", true
	}
	return fmt.Sprintf("session, subreaper and sweep, best effort (no cgroup: %v)", e.why), false
}

// tree is where groups are made; nil in the fallback.
func (e *Engine) tree() *cgroup.Tree {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.groups
}

// bornDead says whether children started in the groups of made are killed at
// birth though the start reports success, as they are for a supervisor that sits
// in a group that was killed before it came there. It is tried once; afterwards
// groups are made so that children live, or not at all, and who is killed in one
// of those has run.
func (e *Engine) bornDead(made *cgroup.Tree) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.groups != nil && !e.probed {
		e.probed = true
		tried, proven := e.groups, *e.groups // other calls are reading the first
		if err := proven.Probe(); err != nil {
			e.groups, e.why, e.deadly = nil, err, tried
		} else {
			e.groups = &proven
			if proven.Adjusted() {
				e.deadly = tried
			}
		}
	}
	return made != nil && made == e.deadly
}

// Start starts spec and returns at once. It never fails: what cannot be
// started ends in a record of class start or refused.
func (e *Engine) Start(spec Spec) *Running {
	r := &Running{done: make(chan struct{}), wake: -1}
	l, rec := e.prepare(spec)
	if rec != nil {
		r.rec = rec
		close(r.done)
		return r
	}
	r.wake = l.wake
	l.commands = r.take
	go func() {
		defer close(r.done)
		r.rec = l.run()
		r.mu.Lock() // from here on no command is written to a closed descriptor
		r.wake = -1
		r.mu.Unlock()
		l.close()
	}()
	return r
}

// Run is Start and Wait.
func (e *Engine) Run(spec Spec) *call.Record { return e.Start(spec).Wait() }

// Running is a call in progress.
type Running struct {
	done chan struct{}
	rec  *call.Record // written before done is closed

	mu      sync.Mutex // guards wake and pending
	wake    int        // eventfd, -1 when the loop has ended
	pending []command
}

type verb int

const (
	cmdStop verb = iota
	cmdKill
	cmdSuspend
	cmdResume
)

type command struct {
	verb verb
	done chan struct{} // closed by the loop when it is carried out
}

// Stop cancels the call: TERM to the tree, KILL after the grace. A second Stop
// does nothing more.
func (r *Running) Stop() { r.post(cmdStop) }

// Kill cancels the call and ends the tree at once.
func (r *Running) Kill() { r.post(cmdKill) }

// Suspend stops every process of the tree and returns when that is done; time
// that passes until Resume does not count against the time limit.
func (r *Running) Suspend() { r.wait(r.post(cmdSuspend)) }

// Resume undoes Suspend.
func (r *Running) Resume() { r.wait(r.post(cmdResume)) }

// Wait blocks until the call has ended and returns its record.
func (r *Running) Wait() *call.Record {
	<-r.done
	return r.rec
}

// Done is closed when the call has ended.
func (r *Running) Done() <-chan struct{} { return r.done }

// wait returns when the command is carried out or the call has ended.
func (r *Running) wait(carriedOut <-chan struct{}) {
	select {
	case <-carriedOut:
	case <-r.done:
	}
}

func (r *Running) post(v verb) <-chan struct{} {
	c := command{verb: v, done: make(chan struct{})}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wake < 0 {
		close(c.done)
		return c.done
	}
	r.pending = append(r.pending, c)
	// The counter is eight bytes in the machine's order; only zero is no news.
	news := [8]byte{1, 1, 1, 1}
	_, _ = unix.Write(r.wake, news[:]) // a full counter is awake already
	return c.done
}

// take hands over what was posted since the last call.
func (r *Running) take() []command {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.pending
	r.pending = nil
	return p
}

// becomeSubreaper makes orphans come to this process, so that the fallback can
// find them.
func (e *Engine) becomeSubreaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot become a subreaper: %w", err)
	}
	e.orphans.remember()
	return nil
}
