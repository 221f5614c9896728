package action

import (
	"fmt"
	"strings"
	"time"

	"snens/internal/fields"
	"snens/internal/strictjson"
)

// Result is how far a request has come, as its requester is told.
type Result struct {
	ID     RequestID
	State  State
	Reason Reason // set exactly when State is final
	// Code is the command's exit status (0 to 255) for ReasonExited, Signal the
	// number behind ReasonSignalled; 0 otherwise.
	Code   int
	Signal int
	// Started and Ended are UTC and zero when it has not come to that.
	Started, Ended time.Time
}

// Check refuses a result that contradicts itself.
func (r *Result) Check() error {
	switch {
	case r.State < Received || r.State > Lost:
		return fmt.Errorf("the state of a result is %s", r.State)
	case !r.State.Final() && r.Reason != 0:
		return fmt.Errorf("a request that is %s has no reason yet, not %s", r.State, r.Reason)
	case r.State.Final() && !r.Reason.Explains(r.State):
		return fmt.Errorf("%s is no reason for the state %s", r.Reason, r.State)
	case r.Code < 0 || r.Code > 255 || r.Code != 0 && r.Reason != ReasonExited:
		return fmt.Errorf("the exit status %d does not go with the reason %s", r.Code, r.Reason)
	case r.Signal < 0 || r.Signal > 64 || (r.Signal == 0) == (r.Reason == ReasonSignalled):
		return fmt.Errorf("the signal %d does not go with the reason %s", r.Signal, r.Reason)
	}
	return nil
}

// ExitStatus is what the asking command ends with. A request that has not
// ended, and anything malformed, is an internal fault: never 0.
func (r *Result) ExitStatus() int {
	if r.Check() != nil || !r.State.Final() {
		return ExitInternal
	}
	switch {
	case r.Reason == ReasonExited:
		return r.Code
	case r.Reason == ReasonSignalled:
		return ExitSignal + r.Signal
	case r.State == Exited && r.Reason.row().exit == ExitTryLater:
		return exitKilled // it ran: nobody may take it for "try again"
	}
	return r.Reason.row().exit
}

// Ours says that the exit status is the broker's and not the command's.
func (r *Result) Ours() bool {
	return r.Check() != nil || r.Reason != ReasonExited && r.Reason != ReasonSignalled
}

// ExitStatus is what a command ends with that was refused for this reason.
// Never 0, also for what is no reason or comes from the command itself.
func (r Reason) ExitStatus() int {
	if row := r.row(); row != nil && row.exit > 0 {
		return row.exit
	}
	return ExitInternal
}

// Value is the result as JSON.
func (r *Result) Value() strictjson.Value {
	m := []strictjson.Member{
		fields.Member("id", fields.Text(r.ID.String())),
		fields.Member("state", fields.Text(r.State.String())),
	}
	if r.Reason != 0 {
		m = append(m, fields.Member("reason", fields.Text(r.Reason.String())))
	}
	if r.Reason == ReasonExited {
		m = append(m, fields.Member("exit_code", fields.Int(int64(r.Code))))
	}
	if r.Reason == ReasonSignalled {
		m = append(m, fields.Member("signal", fields.Int(int64(r.Signal))))
	}
	for _, t := range []struct {
		name string
		at   time.Time
	}{{"started", r.Started}, {"ended", r.Ended}} {
		if !t.at.IsZero() {
			m = append(m, fields.Member(t.name, fields.Text(FormatInstant(t.at))))
		}
	}
	return fields.Object(m...)
}

// ReadResult reads what Value makes.
func ReadResult(o *fields.Reader) (r Result) {
	r.ID = fields.Word(o.Field("id"), ParseRequestID)
	r.State = fields.Word(o.Field("state"), ParseState)
	if f, ok := o.Optional("reason"); ok {
		r.Reason = fields.Word(f, ParseReason)
	}
	if f, ok := o.Optional("exit_code"); ok {
		r.Code = int(f.Uint(255))
	} else if r.Reason == ReasonExited {
		o.Failf("a command that ended has an exit_code")
	}
	if f, ok := o.Optional("signal"); ok {
		r.Signal = int(f.Uint(64))
	}
	if f, ok := o.Optional("started"); ok {
		r.Started = fields.Word(f, ParseInstant)
	}
	if f, ok := o.Optional("ended"); ok {
		r.Ended = fields.Word(f, ParseInstant)
	}
	if err := r.Check(); err != nil {
		o.Failf("%v", err)
	}
	return r
}

const instantForm = "2006-01-02T15:04:05.000000Z"

// FormatInstant is how a point of time stands in results and records: UTC
// with microseconds.
func FormatInstant(t time.Time) string { return t.UTC().Format(instantForm) }

// ParseInstant reads what FormatInstant writes.
func ParseInstant(s string) (time.Time, error) {
	t, err := time.Parse(instantForm, s)
	if err != nil || FormatInstant(t) != s || strings.HasPrefix(s, "0000") {
		return time.Time{}, fmt.Errorf("%q is no time; write it like 2030-01-31T23:59:59.000000Z", s)
	}
	return t, nil
}
