package queue

import (
	"container/heap"
	"time"

	"snens/broker/action"
)

// sweep ends what has expired and forgets what is old, until the queue closes.
func (q *Queue) sweep() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-q.quit:
			return
		case <-q.kick:
		case <-timer.C:
		}
		if next, ok := q.round(time.Now()); ok {
			timer.Reset(max(time.Until(next), 0))
		} else {
			timer.Stop()
		}
	}
}

// round does what is due and says when to come back.
func (q *Queue) round(now time.Time) (next time.Time, ok bool) {
	var ended, old []*entry
	q.mu.Lock()
	for len(q.wakes) > 0 && !q.wakes[0].wake.After(now) {
		e := heap.Pop(&q.wakes).(*entry)
		switch {
		case e.state.Final():
			q.forget(e)
			old = append(old, e)
		case e.waits() && q.finish(e, now, action.Expired, action.ReasonExpired):
			ended = append(ended, e)
		}
		// One that is spent or runs has its own time limit, which is the runner's.
	}
	for k, until := range q.cooling {
		if !until.After(now) {
			delete(q.cooling, k)
		}
	}
	if len(q.wakes) > 0 {
		next, ok = q.wakes[0].wake, true
	}
	q.mu.Unlock()
	for _, e := range ended {
		q.settle(e, note{})
	}
	for _, e := range old {
		if e.detached {
			<-e.done // its end may just be being written
			q.fault("forget an old result", e.id, q.store.Remove(e.id))
		}
	}
	return next, ok
}
