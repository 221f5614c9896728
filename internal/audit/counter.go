package audit

import (
	"fmt"
	"sync"
	"time"

	"snens/broker/action"
)

// maxReady is how many records may wait for a slow disk: what two seconds of
// the worst flood make.
const maxReady = 2 * 257

// Counter counts refusals and writes one record per uid and second (Refusals),
// by a goroutine of its own: counting never waits for the disk.
type Counter struct {
	log     Appender
	problem func(error)
	kick    chan struct{}
	quit    chan struct{}
	once    sync.Once
	work    sync.WaitGroup

	mu    sync.Mutex
	sums  Refusals // guarded by mu
	ready []Entry  // to be written; guarded by mu
	lost  int      // records that found no room; guarded by mu
}

// Appender takes records: a Writer.
type Appender interface {
	Append(at time.Time, e Entry) error
}

// NewCounter makes a Counter; problem is told of records that could not be
// written. Close it.
func NewCounter(log Appender, problem func(error)) *Counter {
	c := &Counter{log: log, problem: problem, kick: make(chan struct{}, 1), quit: make(chan struct{})}
	c.work.Go(c.write)
	return c
}

// Add counts a refusal.
func (c *Counter) Add(uid action.UID, why action.Reason) {
	c.mu.Lock()
	_, counting := c.sums.Due()
	c.keep(c.sums.Add(time.Now(), uid, why))
	rouse := !counting || len(c.ready) > 0
	c.mu.Unlock()
	if rouse {
		select {
		case c.kick <- struct{}{}:
		default:
		}
	}
}

// keep takes records in for writing. Caller holds mu.
func (c *Counter) keep(e []Entry) {
	room := max(0, maxReady-len(c.ready))
	if len(e) > room {
		c.lost += len(e) - room
		e = e[:room]
	}
	c.ready = append(c.ready, e...)
}

// write is the one that writes, until close.
func (c *Counter) write() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for end := false; !end; {
		select {
		case <-c.kick:
		case <-timer.C:
		case <-c.quit:
			end = true
		}
		if next := c.flush(end); next > 0 {
			timer.Reset(next)
		}
	}
}

// flush writes what is complete, or all of it, and says when to come again;
// 0 when nothing is counted.
func (c *Counter) flush(all bool) (next time.Duration) {
	c.mu.Lock()
	if at, counting := c.sums.Due(); counting {
		if next = time.Until(at); next <= 0 || all {
			c.keep(c.sums.Flush())
			next = 0
		}
	}
	out, lost := c.ready, c.lost
	c.ready, c.lost = nil, 0
	c.mu.Unlock()
	for _, e := range out {
		if err := c.log.Append(time.Now(), e); err != nil {
			c.problem(fmt.Errorf("cannot record refusals: %w", err))
		}
	}
	if lost > 0 {
		c.problem(fmt.Errorf("cannot record refusals: %d records came faster than the disk took them", lost))
	}
	return next
}

// Close writes what is left. Nothing is counted afterwards.
func (c *Counter) Close() {
	c.once.Do(func() { close(c.quit) })
	c.work.Wait()
}
