package queue

import (
	"context"
	"time"

	"snens/approval/prompt"
	"snens/broker/action"
	"snens/internal/audit"
)

// Cancel gives up a request of the peer's own: one that waits is cancelled, the
// run of another ended. Watch or wait for what comes of it.
func (q *Queue) Cancel(p prompt.Peer, id action.RequestID) error {
	e, err := q.mine(p, id)
	if err != nil {
		return err
	}
	return q.cancel(e, action.ReasonCancelled)
}

// Kill ends the run of a request that the peer oversees. Requests that wait are
// denied by Answer instead.
func (q *Queue) Kill(p prompt.Peer, id action.RequestID, seen action.Seen) error {
	e, err := q.overseen(p, id)
	if err != nil {
		return err
	}
	q.mu.Lock()
	stop, final := e.stop, e.state.Final()
	q.mu.Unlock()
	switch {
	case final:
		return refuse(action.ReasonGone)
	case stop == nil:
		return refuse(action.ReasonBadRequest)
	}
	q.fault("record the order to end a run", id, q.audit.Append(time.Now(), audit.Entry{Kind: audit.Kill, ID: id, UID: p.UID, Seen: &seen}))
	stop(end{action.ReasonKilled})
	return nil
}

func (q *Queue) cancel(e *entry, why action.Reason) error {
	now := time.Now()
	var stop context.CancelCauseFunc
	q.mu.Lock()
	ended := !e.due(now) && q.finish(e, now, action.Cancelled, why)
	if !ended {
		stop = e.stop
	}
	q.mu.Unlock()
	switch {
	case ended:
		q.settle(e, note{})
	case stop != nil:
		stop(end{why})
	default:
		return refuse(action.ReasonGone)
	}
	return nil
}
