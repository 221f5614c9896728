package prompt

import (
	"math"

	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/strictjson"
)

// Event tells somebody who watches that a request has changed.
type Event struct {
	Kind   action.Event
	ID     action.RequestID
	State  action.State  // that the request is in now
	Reason action.Reason // of a final state
	// Missed is how many events before this one could not be delivered because
	// the watcher was too slow: it must list again.
	Missed uint64
}

// check refuses an event that contradicts itself.
func (e Event) check() string {
	switch {
	case e.Kind == action.EventVote && e.State != action.Pending,
		e.Kind != action.EventVote && e.State.Event() != e.Kind:
		return "the event " + e.Kind.String() + " does not lead to the state " + e.State.String()
	case e.State.Final() != (e.Reason != 0), e.State.Final() && !e.Reason.Explains(e.State):
		return "the reason " + e.Reason.String() + " does not go with the state " + e.State.String()
	}
	return ""
}

// Value is the JSON form.
func (e Event) Value() strictjson.Value {
	out := fields.Object(
		fields.Member("event", fields.Text(e.Kind.String())),
		fields.Member("id", fields.Text(e.ID.String())),
		fields.Member("state", fields.Text(e.State.String())),
	)
	if e.Reason != 0 {
		out.Members = append(out.Members, fields.Member("reason", fields.Text(e.Reason.String())))
	}
	if e.Missed != 0 {
		out.Members = append(out.Members, fields.Member("missed", fields.Uint(e.Missed)))
	}
	return out
}

// ReadEvent reads what Value makes.
func ReadEvent(o *fields.Reader) (e Event) {
	e.Kind = fields.Word(o.Field("event"), action.ParseEvent)
	e.ID = fields.Word(o.Field("id"), action.ParseRequestID)
	e.State = fields.Word(o.Field("state"), action.ParseState)
	if f, ok := o.Optional("reason"); ok {
		e.Reason = fields.Word(f, action.ParseReason)
	}
	if f, ok := o.Optional("missed"); ok {
		e.Missed = f.Uint(math.MaxUint64)
	}
	if wrong := e.check(); wrong != "" {
		o.Failf("%s", wrong)
	}
	return e
}
