package client

import (
	"errors"
	"fmt"

	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/wire"
)

// ErrDropped says that we read too slowly for a watch: list, and watch again.
var ErrDropped = errors.New("the broker has left off telling: it was not read fast enough")

// Refused says that the broker did not do what was asked, or cannot be asked.
type Refused struct {
	Reason  action.Reason // 0 where Code is none of the reasons
	Code    string        // the word for programs: Reason's, or the transport's
	Message string        // one line for people
	Why     string        // what more there is to say
	Err     error         // the cause on this side, nil when the broker refused
}

func (e *Refused) Error() string {
	text := e.Message
	if e.Why != "" {
		text += ": " + e.Why
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *Refused) Unwrap() error { return e.Err }

// ExitStatus is what a command ends with: 69 where there is no broker to be
// trusted, else 1.
func (e *Refused) ExitStatus() int {
	switch {
	case e.Reason == action.ReasonUnreachable, e.Reason == action.ReasonUntrustedBroker,
		e.Code == string(wire.BadVersion), e.Code == string(wire.TooSlow):
		return action.ExitUnreachable
	}
	return action.ExitFailed
}

// ExitStatus is the exit status for any error of this package, 0 for nil.
func ExitStatus(err error) int {
	var refused *Refused
	switch {
	case err == nil:
		return 0
	case errors.As(err, &refused):
		return refused.ExitStatus()
	}
	return action.ExitFailed
}

// refuse makes a Refused of our own.
func refuse(reason action.Reason, cause error, format string, args ...any) *Refused {
	return &Refused{Reason: reason, Code: reason.String(), Message: fmt.Sprintf(format, args...), Err: cause}
}

// refusedBy makes one of what the broker answered, in our own words where the
// code is known. A detail that cannot be understood is left out: the refusal
// itself is what counts.
func refusedBy(e *wire.Error) *Refused {
	r := &Refused{Code: string(e.Code), Message: e.Message}
	if reason, err := action.ParseReason(r.Code); err == nil {
		r.Reason, r.Message = reason, reason.Text()
	}
	if e.Detail == nil {
		return r
	}
	o := fields.Of(e.Detail, "detail")
	if f, ok := o.Optional("why"); ok {
		r.Why = f.Text()
	}
	_ = o.Close() // a newer broker may say more
	return r
}
