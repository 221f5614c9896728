package queue

import "snens/broker/action"

// Spend tries to run a request, as the approval itself does.
func (q *Queue) Spend(id action.RequestID) {
	if e := q.lookUp(id); e != nil {
		q.spend(e)
	}
}

// ForgetExpiry makes a queue that never looks at the time of a request again.
func (q *Queue) ForgetExpiry(id action.RequestID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e := q.live[id]; e != nil {
		e.deadline = e.deadline.AddDate(100, 0, 0)
		e.expires = e.expires.AddDate(100, 0, 0)
		q.wakeAt(e, e.deadline)
	}
}

// StopTimer makes a queue whose monotonic clock stands still, as it does while
// the machine sleeps.
func (q *Queue) StopTimer(id action.RequestID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e := q.live[id]; e != nil {
		e.deadline = e.deadline.AddDate(100, 0, 0)
		q.wakeAt(e, e.deadline)
	}
}

// SetBack makes a queue whose wall clock was set back by a hundred years.
func (q *Queue) SetBack(id action.RequestID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e := q.live[id]; e != nil {
		e.expires = e.expires.AddDate(100, 0, 0)
	}
}

// ForgetEnd makes a queue that takes an ended request for an approved one.
func (q *Queue) ForgetEnd(id action.RequestID, s *action.Sealed) {
	q.mu.Lock()
	e := q.past[id]
	if e != nil {
		q.forget(e)
		e.state, e.request, e.done = action.Approved, s, make(chan struct{})
		q.add(e)
	}
	q.mu.Unlock()
	if e != nil {
		q.work.Go(func() { q.spend(e) })
	}
}

// Bytes is what the live requests are taken to weigh.
func (q *Queue) Bytes() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes
}
