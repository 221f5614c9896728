package queue

import (
	"context"
	"errors"

	"snens/broker/action"
)

// Refusal is the answer "no" to a call of a peer.
type Refusal struct {
	Reason action.Reason
	ID     action.RequestID // of the request that is there already, for ReasonDuplicate
}

func (r *Refusal) Error() string { return r.Reason.Text() }

// Refused is the reason and the ID, for callers who do not know this type.
func (r *Refusal) Refused() (action.Reason, action.RequestID) { return r.Reason, r.ID }

func refuse(why action.Reason) error { return &Refusal{Reason: why} }

// end is the cause with which the context of a run is cancelled.
type end struct{ reason action.Reason }

func (e end) Error() string { return e.reason.Text() }

// WhyEnded is the reason for which the queue ended a run's context; 0 while it
// did not.
func WhyEnded(ctx context.Context) action.Reason {
	var e end
	if errors.As(context.Cause(ctx), &e) {
		return e.reason
	}
	return 0
}
