package broker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"snens/broker/action"
	"snens/broker/execute"
	"snens/broker/prepare"
	"snens/internal/escape"
	"snens/internal/fields"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

// maxWhy bounds what is told about a refusal, in bytes: it may quote what was
// sent, and spelled out that can be longer than a line.
const maxWhy = 16 << 10

// refusal is the answer "no" to a call.
type refusal struct {
	reason   action.Reason
	message  string           // "" is the reason's
	rule     action.RuleID    // that decided; "" for none
	id       action.RequestID // of the request that is there already
	why      string           // for the requester, escaped
	recorded bool             // it has records of its own, so it is not counted
}

func (r *refusal) Error() string {
	if r.message != "" {
		return r.message
	}
	return r.reason.Text()
}

// wire is the refusal as an answer.
func (r *refusal) wire() *wire.Error {
	e := wire.Errorf(wire.Code(r.reason.String()), "%s", r.Error())
	var detail []strictjson.Member
	if r.rule != "" {
		detail = append(detail, fields.Member("rule", fields.Text(string(r.rule))))
	}
	if !r.id.IsZero() {
		detail = append(detail, fields.Member("id", fields.Text(r.id.String())))
	}
	if why := r.why; why != "" {
		if len(why) > maxWhy {
			why = strings.ToValidUTF8(why[:maxWhy], "") + "..."
		}
		detail = append(detail, fields.Member("why", fields.Text(why)))
	}
	if detail != nil {
		v := fields.Object(detail...)
		e.Detail = &v
	}
	return e
}

// malformed is the refusal of parameters.
func malformed(err error) error {
	return &refusal{reason: action.ReasonBadRequest, message: err.Error()}
}

// refused finds the refusal in an error of those who do the work; nil when it is
// a fault.
func refused(ctx context.Context, err error) *refusal {
	var own *refusal
	var made *prepare.Refusal
	var queued interface {
		error
		Refused() (action.Reason, action.RequestID)
	}
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &made):
		return &refusal{reason: made.Reason, rule: made.Rule, why: made.Why}
	case errors.As(err, &queued):
		why, id := queued.Refused()
		return &refusal{reason: why, id: id}
	case errors.Is(err, execute.ErrBusy):
		return &refusal{reason: action.ReasonBusy}
	case errors.Is(err, execute.ErrDescriptors):
		return &refusal{reason: action.ReasonBadDescriptors, why: escape.Line(err.Error())}
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return &refusal{reason: action.ReasonShutdown}
	}
	return nil
}

// explain makes an answer of an error, counts the refusals and tells of faults.
func (s *Server) explain(ctx context.Context, uid action.UID, err error) *wire.Error {
	r := refused(ctx, err)
	if r == nil {
		if e := new(wire.Error); errors.As(err, &e) && !tooLong(err) {
			return e
		}
		s.fault(uid, fmt.Errorf("cannot answer uid %d: %w", uid, err))
		r = &refusal{reason: action.ReasonInternal}
	} else if made := new(prepare.Refusal); errors.As(err, &made) && made.Cause != nil {
		s.fault(uid, fmt.Errorf("a request of uid %d was refused: %w", uid, made))
	}
	if !r.recorded {
		s.refused.Add(uid, r.reason)
	}
	return r.wire()
}
