package wire

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Closer closes what peers own a part of, where closing can block for as long
// as they like: descriptors they sent, and connections with descriptors in
// their queue. Nobody waits for it. A uid has two workers at most, so it holds
// up itself and not others, and all together have sixteen. A worker that hangs
// is nudged by a signal to its own thread, which ends a wait for a lingering
// socket; what hangs on (a stalled FUSE file) keeps its worker and counts
// against its uid.
//
// Descriptors are another matter: one that waits for a worker would still be in
// our table, where each start of a child closes a copy of it and hangs as well.
// AtOnce, and CloseFDs with it, give each a worker of its own, which takes it out
// of the table before it can hang. Whoever takes descriptors asks Room before.
//
// A nil *Closer closes in place.
type Closer struct {
	mu      sync.Mutex
	queues  map[uint32]*closeQueue // no entry for a uid with nothing to do; guarded by mu
	running int                    // workers; guarded by mu
	apart   int                    // workers of AtOnce; guarded by mu
	waiters []chan struct{}        // closed when running is 0; guarded by mu
}

type closeQueue struct {
	waiting []func()
	running int
	apart   int
}

// idle says that there is nothing to do.
func (q *closeQueue) idle() bool { return len(q.waiting) == 0 && q.running == 0 && q.apart == 0 }

const (
	workersPerUID = 2
	workersTotal  = 16
	roomPerUID    = 64 // closings of one uid that wait or run, before Room says no
	nudgeAfter    = 100 * time.Millisecond
)

// NewCloser makes a Closer. Its goroutines exist only while there is work.
func NewCloser() *Closer { return &Closer{queues: map[uint32]*closeQueue{}} }

// Later runs f, which closes something of uid, on a worker.
func (c *Closer) Later(uid uint32, f func()) {
	if c == nil {
		f()
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.queue(uid)
	q.waiting = append(q.waiting, f)
	if c.running < workersTotal && q.running < workersPerUID {
		c.running++
		q.running++
		go c.work(uid, c.next(q))
	}
}

// queue: caller holds mu.
func (c *Closer) queue(uid uint32) *closeQueue {
	q := c.queues[uid]
	if q == nil {
		q = &closeQueue{}
		c.queues[uid] = q
	}
	return q
}

// AtOnce runs f, which closes one descriptor of uid, on a worker of its own.
func (c *Closer) AtOnce(uid uint32, f func()) {
	if c == nil {
		f()
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue(uid).apart++
	c.apart++
	go func() {
		runtime.LockOSThread() // the nudge must find this thread
		defer runtime.UnlockOSThread()
		stop := nudge(unix.Getpid(), unix.Gettid())
		f()
		stop()
		c.mu.Lock()
		defer c.mu.Unlock()
		q := c.queues[uid]
		if q.apart--; q.idle() {
			delete(c.queues, uid)
		}
		c.apart--
		c.wake()
	}()
}

// wake tells those who wait when nothing is left. Caller holds mu.
func (c *Closer) wake() {
	if c.running > 0 || c.apart > 0 {
		return
	}
	for _, w := range c.waiters {
		close(w)
	}
	c.waiters = nil
}

// CloseFDs closes descriptors of uid, each at once.
func (c *Closer) CloseFDs(uid uint32, fds ...int) {
	for _, fd := range fds {
		c.AtOnce(uid, func() { _ = unix.Close(fd) })
	}
}

// Pending is how many closings of uid have not ended.
func (c *Closer) Pending(uid uint32) int {
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if q := c.queues[uid]; q != nil {
		return len(q.waiting) + q.running + q.apart
	}
	return 0
}

// Room says whether more may be taken from uid.
func (c *Closer) Room(uid uint32) bool { return c.Pending(uid) < roomPerUID }

// Wait waits until everything is closed or ctx ends; then the error says how
// many workers hang.
func (c *Closer) Wait(ctx context.Context) error {
	c.mu.Lock()
	if c.running == 0 && c.apart == 0 {
		c.mu.Unlock()
		return nil
	}
	idle := make(chan struct{})
	c.waiters = append(c.waiters, idle)
	c.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		c.mu.Lock()
		defer c.mu.Unlock()
		return fmt.Errorf("cannot close everything: %d workers hang on what peers sent: %w", c.running+c.apart, context.Cause(ctx))
	}
}

// next: caller holds mu.
func (c *Closer) next(q *closeQueue) func() {
	f := q.waiting[0]
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
	return f
}

// work runs f and then whatever else waits.
func (c *Closer) work(uid uint32, f func()) {
	runtime.LockOSThread() // the nudge must find this thread
	defer runtime.UnlockOSThread()
	for f != nil {
		stop := nudge(unix.Getpid(), unix.Gettid())
		f()
		stop()
		uid, f = c.another(uid)
	}
}

// another takes the worker off uid and onto work that may run: of the same uid
// first, else of any. A nil f ends the worker.
func (c *Closer) another(uid uint32) (uint32, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	own := c.queues[uid]
	if len(own.waiting) > 0 {
		return uid, c.next(own)
	}
	if own.running--; own.idle() {
		delete(c.queues, uid)
	}
	for other, q := range c.queues {
		if len(q.waiting) > 0 && q.running < workersPerUID {
			q.running++
			return other, c.next(q)
		}
	}
	c.running--
	c.wake()
	return 0, nil
}

// nudge interrupts a thread of this process that does not come back, again and
// again until stop. The signal is the one the runtime preempts goroutines with,
// so that one too many does nothing.
func nudge(pid, tid int) (stop func()) {
	var (
		mu   sync.Mutex // guards t and done
		done bool
		t    *time.Timer
	)
	mu.Lock()
	defer mu.Unlock()
	t = time.AfterFunc(nudgeAfter, func() {
		mu.Lock()
		defer mu.Unlock()
		if !done {
			_ = unix.Tgkill(pid, tid, unix.SIGURG)
			t.Reset(nudgeAfter)
		}
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		done = true
		t.Stop()
	}
}
