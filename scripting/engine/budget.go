package engine

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Budget is what is left of an instance's operations. It belongs to the
// goroutine of the instance; engines embed it, others do not need it.
type Budget struct {
	limit int64
	spent time.Duration // in earlier runs
	away  atomic.Int64  // processor time in helpers during this run, ns
	since atomic.Int64  // when the helper that runs now began, 0 for none
	stop  atomic.Bool   // the watcher wants this run to end
	dead  *Error
}

// NewBudget starts with all operations of the limits.
func NewBudget(l Limits) *Budget { return &Budget{limit: l.Operations} }

// How often the watcher looks: often enough that a small limit is kept, seldom
// enough to cost nothing.
const (
	lookMin = time.Millisecond
	lookMax = 25 * time.Millisecond
)

// Run runs f, a piece of script, on a thread of its own and calls interrupt,
// again and again until f returns, when the operations are used up or ctx ends.
// The result says that this happened, and is what every later Run returns.
// f must not panic.
func (b *Budget) Run(ctx context.Context, interrupt func(), f func()) *Error {
	if b.dead == nil && ctx.Err() != nil {
		b.dead = errCancelled(ctx)
	}
	if b.dead != nil {
		return b.dead
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	clock := threadClock()
	start := readClock(clock)
	b.away.Store(0)
	used := func() time.Duration {
		now := readClock(clock)
		if since := b.since.Load(); since != 0 {
			now = time.Duration(since)
		}
		return b.spent + now - start - time.Duration(b.away.Load())
	}
	done, why := make(chan struct{}), make(chan *Error, 1)
	go func() { why <- b.watch(ctx, done, used, interrupt) }()
	f()
	close(done)
	b.dead = <-why
	b.spent = used()
	return b.dead
}

// watch waits for the first reason to stop; it returns when done is closed.
func (b *Budget) watch(ctx context.Context, done <-chan struct{}, used func() time.Duration, interrupt func()) (why *Error) {
	budget := time.Duration(b.limit) * OperationTime
	if budget/OperationTime != time.Duration(b.limit) {
		budget = 1<<63 - 1 // more operations than there is time
	}
	ended := ctx.Done()
	timer := time.NewTimer(clamp(budget - b.spent))
	defer timer.Stop()
	for {
		select {
		case <-done:
			return why
		case <-ended:
			why, ended = errCancelled(ctx), nil
		case <-timer.C:
			if why == nil && used() >= budget {
				why, ended = errOperations(b.limit), nil
			}
		}
		wait := clamp(budget - used())
		if why != nil {
			// An engine forgets an interruption that falls between two of its
			// own steps, so it is asked until it has ended.
			b.stop.Store(true)
			interrupt()
			wait = lookMin
		}
		timer.Reset(wait)
	}
}

// Away runs f, a helper or a preparation, without counting what it uses.
func (b *Budget) Away(f func()) {
	clock := threadClock()
	start := max(1, readClock(clock))
	b.since.Store(int64(start))
	defer func() {
		b.away.Add(int64(readClock(clock) - start))
		b.since.Store(0)
	}()
	f()
}

// Stopping says, inside Run, that the script is being interrupted.
func (b *Budget) Stopping() bool { return b.stop.Load() }

// Kill makes every later Run fail with e.
func (b *Budget) Kill(e *Error) { b.dead = e }

func clamp(d time.Duration) time.Duration { return max(lookMin, min(d, lookMax)) }

// threadClock is the processor clock of this thread in a form that other
// threads can read: see clock_getcpuclockid in the kernel's posix-timers.h.
func threadClock() int32 { return int32(^unix.Gettid())<<3 | 4 | 2 }

func readClock(clock int32) time.Duration {
	var at unix.Timespec
	if err := unix.ClockGettime(clock, &at); err != nil {
		return 0 // cannot happen while the thread lives, and Run holds it
	}
	return time.Duration(at.Nano())
}
