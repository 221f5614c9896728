package approval

import (
	"errors"
	"fmt"

	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/wire"
)

// refusal is the answer "no" to a call.
type refusal struct {
	reason  action.Reason
	message string // "" is the reason's
}

func (r *refusal) Error() string {
	if r.message != "" {
		return r.message
	}
	return r.reason.Text()
}

// told is a refusal as an answer, in the words of its reason.
func told(why action.Reason) *wire.Error {
	return wire.Errorf(wire.Code(why.String()), "%s", why.Text())
}

// read is the refusal of parameters that are wrong, nil when they are not.
func read(o *fields.Reader) error {
	if err := o.Close(); err != nil {
		return &refusal{action.ReasonBadRequest, err.Error()}
	}
	return nil
}

// explain makes an answer of an error, counts the refusals and tells of faults.
func (s *Server) explain(uid action.UID, err error) *wire.Error {
	var own *refusal
	var queued interface {
		error
		Refused() (action.Reason, action.RequestID)
	}
	sayable := new(wire.Error)
	switch {
	case errors.As(err, &own):
		s.refused.Add(uid, own.reason)
		return wire.Errorf(wire.Code(own.reason.String()), "%s", own.Error())
	case errors.As(err, &queued):
		why, _ := queued.Refused()
		if !recorded(why) {
			s.refused.Add(uid, why)
		}
		return told(why)
	case errors.As(err, &sayable) && !tooLong(err):
		return sayable
	}
	s.o.Problem(fmt.Errorf("cannot answer uid %d: %w", uid, err))
	s.refused.Add(uid, action.ReasonInternal)
	return told(action.ReasonInternal)
}

// recorded are the refusals of an answer for which the queue writes records.
func recorded(why action.Reason) bool {
	switch why {
	case action.ReasonSelfApproval, action.ReasonNotApprover, action.ReasonDigestMismatch,
		action.ReasonPresenceMissing, action.ReasonLifespanRefused:
		return true
	}
	return false
}
