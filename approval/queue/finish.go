package queue

import (
	"container/heap"
	"fmt"
	"slices"
	"time"

	"snens/approval/prompt"
	"snens/broker/action"
	"snens/internal/audit"
)

// note is what the record of an end says besides the result.
type note struct {
	uid       action.UID // who denied
	newDigest action.Digest
	detail    string
	space     Reservation // for the record; nil when none was reserved
}

// finish takes e to a final state, in memory. False: it cannot go there, because
// something else happened first. Who gets true calls settle. Caller holds mu.
func (q *Queue) finish(e *entry, now time.Time, s action.State, why action.Reason) bool {
	if e.claimed || !e.state.CanBecome(s) || !why.Explains(s) {
		return false
	}
	e.state = s
	e.result.ID, e.result.State, e.result.Reason, e.result.Ended = e.id, s, why, now.UTC()
	q.drop(e)
	keep := q.limits.KeepTrace
	if e.detached {
		keep = q.limits.KeepResult
	}
	q.remember(e, now.Add(keep))
	return true
}

// remember keeps the trace of an ended request until a time. Caller holds mu.
func (q *Queue) remember(e *entry, until time.Time) {
	q.past[e.id] = e
	uid := e.kase.Requester
	q.ended[uid] = append(q.ended[uid], e)
	q.wakeAt(e, until)
	// What is too much goes at once: the sweeper comes for it.
	if mine := q.ended[uid]; len(mine) > q.limits.KeptPerUID {
		q.wakeAt(mine[len(mine)-1-q.limits.KeptPerUID], time.Time{})
	}
	if len(q.past) > q.limits.Kept {
		q.wakeAt(q.earliest(), time.Time{})
	}
}

// earliest is the ended request that would be forgotten first. Caller holds mu.
func (q *Queue) earliest() (first *entry) {
	for _, mine := range q.ended {
		if e := mine[0]; first == nil || e.wake.Before(first.wake) {
			first = e
		}
	}
	return first
}

// forget drops the trace of an ended request. Caller holds mu.
func (q *Queue) forget(e *entry) {
	delete(q.past, e.id)
	uid := e.kase.Requester
	q.ended[uid] = slices.DeleteFunc(q.ended[uid], func(other *entry) bool { return other == e })
	if len(q.ended[uid]) == 0 {
		delete(q.ended, uid)
	}
	q.unwake(e)
}

// settle writes the end of a request down: the file first, so that a request
// that was refused is not taken up again, except for a run, whose record comes
// first. Whoever waits is told last.
func (q *Queue) settle(e *entry, n note) {
	if e.ended != nil {
		defer e.ended()
	}
	e.enter()
	defer e.leave()
	q.mu.Lock()
	r := e.record()
	result := e.result
	q.mu.Unlock()
	entry := audit.Entry{Kind: audit.Kind(result.State.String()), ID: e.id, Result: &result, Detail: n.detail}
	switch result.State {
	case action.Denied:
		entry.UID = n.uid
	case action.Stale:
		entry.Digest, entry.NewDigest = e.kase.Digest, n.newDigest
	}
	file := func() {
		if !e.detached {
			q.fault("forget a request that has ended", e.id, q.store.Remove(e.id))
			return
		}
		if err := q.store.Save(r, true); err != nil {
			q.fault("keep the result of a request", e.id, err)
			q.fault("forget it", e.id, q.store.Remove(e.id))
		}
	}
	ran := result.State == action.Exited || result.State == action.FailedToStart || result.State == action.Lost
	if !ran {
		file()
	}
	if n.space != nil {
		err := n.space.Append(result.Ended, entry)
		q.fault("record the end of a request", e.id, err)
		n.space.Release()
	} else {
		q.fault("record the end of a request", e.id, q.audit.Append(result.Ended, entry))
	}
	if ran {
		file()
	}
	q.publish(e, prompt.Event{Kind: result.State.Event(), ID: e.id, State: result.State, Reason: result.Reason})
	close(e.done)
}

// fault reports what nobody else hears of.
func (q *Queue) fault(what string, id action.RequestID, err error) {
	if err != nil {
		q.problem(fmt.Errorf("cannot %s (%s): %w", what, id, err))
	}
}

// unwake takes e from the sweeper. Caller holds mu.
func (q *Queue) unwake(e *entry) {
	if e.at >= 0 {
		heap.Remove(&q.wakes, e.at)
	}
}
