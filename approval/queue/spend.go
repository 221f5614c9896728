package queue

import (
	"context"
	"errors"
	"time"

	"snens/approval/prompt"
	"snens/broker/action"
	"snens/internal/audit"
)

// goSpend runs an approved request in a goroutine that Close waits for.
func (q *Queue) goSpend(e *entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.work.Go(func() { q.spend(e) })
	}
}

// run is one execution, from the claim to the end.
type run struct {
	e       *entry
	sealed  *action.Sealed
	ctx     context.Context
	stop    context.CancelCauseFunc
	started Reservation // space for the record that it runs
	ended   Reservation // and for the one that it does no more
}

// spend uses up the approval of a request and runs it. However often and at
// whatever time it is called, it runs a request once at most.
func (q *Queue) spend(e *entry) {
	q.mu.Lock()
	sealed, approved := e.request, e.state == action.Approved && !e.claimed
	q.mu.Unlock()
	if !approved {
		return
	}
	change, holds := q.policy.StillHolds(q.life, sealed)
	e.enter()
	r, ended := q.claim(e, change, holds)
	if r != nil {
		ended = q.write(r)
	}
	e.leave()
	switch {
	case ended:
		q.settle(e, note{newDigest: change.NewDigest, detail: change.Detail})
	case r != nil:
		q.execute(r)
	}
}

// claim takes the request for the one run that it is worth. It has the lane.
// Without a run, ended says that the request must be settled.
func (q *Queue) claim(e *entry, change Change, holds bool) (r *run, ended bool) {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case e.claimed || e.state != action.Approved:
		return nil, false
	case e.due(now):
		return nil, q.finish(e, now, action.Expired, action.ReasonExpired)
	case q.closed && e.detached: // stays on the disk
		return nil, false
	case q.closed:
		return nil, q.finish(e, now, action.Cancelled, action.ReasonShutdown)
	case !holds:
		if !change.Reason.Explains(action.Stale) {
			change.Reason = action.ReasonStaleRule
		}
		return nil, q.finish(e, now, action.Stale, change.Reason)
	}
	r = &run{e: e, sealed: e.request}
	r.ctx, r.stop = context.WithCancelCause(context.Background())
	e.claimed, e.stop = true, r.stop
	return r, false
}

// write makes the request spent, on the disk and in the log. ended: it could
// not; nothing runs, and the request must be settled. It has the lane.
func (q *Queue) write(r *run) (ended bool) {
	e := r.e
	q.mu.Lock()
	file := e.record()
	q.mu.Unlock()
	file.State = action.Spent
	now := time.Now()
	var err error
	if r.started, err = q.audit.Reserve(); err == nil {
		r.ended, err = q.audit.Reserve()
	}
	if err == nil {
		err = q.store.Save(file, e.detached)
	}
	if err == nil {
		record := q.audit.AppendSync
		if e.allowed { // nobody's approval is used up: after a power cut there is nothing to run again
			record = q.audit.Append
		}
		err = record(now, audit.Entry{Kind: audit.Spent, ID: e.id, Digest: e.kase.Digest})
	}
	if err != nil {
		q.fault("record that a request is spent, so it is not run", e.id, err)
		r.release()
		r.stop(nil)
		return q.deny(e, action.ReasonNoRecord)
	}
	q.mu.Lock()
	e.state, e.claimed = action.Spent, false
	q.mu.Unlock()
	q.publish(e, prompt.Event{Kind: action.EventSpent, ID: e.id, State: action.Spent})
	return false
}

// execute has the request run and writes down how that ended.
func (q *Queue) execute(r *run) {
	var how Ending
	if why := WhyEnded(r.ctx); why != 0 { // given up in the last moment
		how = Ending{Reason: why, Detail: "given up before it was started: " + why.String()}
	} else {
		how = q.runner.Run(r.ctx, r.e.id, r.sealed, func(pid uint32) { q.running(r, pid) })
	}
	now := time.Now()
	q.mu.Lock()
	e := r.e
	state := action.Exited
	if e.state == action.Spent {
		state = action.FailedToStart
	}
	result := action.Result{ID: e.id, State: state, Reason: how.Reason, Code: how.Code, Signal: how.Signal}
	switch {
	case result.Check() == nil:
	case state == action.FailedToStart && WhyEnded(r.ctx) != 0:
		result.Reason, result.Code, result.Signal = action.ReasonCannotStart, 0, 0
	case state == action.FailedToStart:
		result.Reason, result.Code, result.Signal = action.ReasonInternal, 0, 0
	default: // it ran, and nobody can say how it ended
		result.State, result.Reason, result.Code, result.Signal = action.Lost, action.ReasonLost, 0, 0
	}
	e.result.Code, e.result.Signal = result.Code, result.Signal
	ended := q.finish(e, now, result.State, result.Reason)
	q.mu.Unlock()
	r.stop(nil) // frees the context
	if ended {
		q.settle(e, note{detail: how.Detail, space: r.ended})
	}
	r.release()
}

// running notes that the execution was confirmed.
func (q *Queue) running(r *run, pid uint32) {
	e := r.e
	e.enter()
	defer e.leave()
	now := time.Now()
	q.mu.Lock()
	first := e.state == action.Spent
	if first {
		e.state, e.result.Started = action.Running, now.UTC()
	}
	q.mu.Unlock()
	if !first {
		q.fault("take a run for started", e.id, errors.New("it was not waiting for that"))
		return
	}
	q.fault("record a started run", e.id, r.started.Append(now, audit.Entry{Kind: audit.Started, ID: e.id, PID: pid}))
	q.publish(e, prompt.Event{Kind: action.EventStarted, ID: e.id, State: action.Running})
}

// release gives back the space that no record took.
func (r *run) release() {
	for _, space := range []Reservation{r.started, r.ended} {
		if space != nil {
			space.Release()
		}
	}
}
