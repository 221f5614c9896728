package client

import (
	"errors"
	"fmt"

	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/wire"
)

// Refused says that the broker did not do what was asked, or cannot be asked.
type Refused struct {
	Reason  action.Reason    // 0 where Code is none of the reasons
	Code    string           // the word for programs: Reason's, or the transport's
	Message string           // one line for people; may quote the caller, so escape it for a terminal
	Rule    action.RuleID    // the rule that decided, "" when it is not told
	ID      action.RequestID // the same request that waits already (duplicate), else zero
	Why     string           // what did not fit
	Faults  []string         // of a policy that does not load (reload_failed)
	Err     error            // the cause on this side, nil when the broker refused
}

// The transport's words for which there is no reason, and the broker's for a
// policy that does not load.
const (
	codeReloadFailed = "reload_failed"
	codeTimeout      = string(wire.TooSlow)
)

func (e *Refused) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %v", e.Message, e.Err)
	}
	return e.Message
}

func (e *Refused) Unwrap() error { return e.Err }

// ExitStatus is what a command ends with; never 0.
func (e *Refused) ExitStatus() int {
	if e.Reason != 0 {
		return e.Reason.ExitStatus()
	}
	switch e.Code {
	case codeReloadFailed:
		return action.ExitFailed
	case string(wire.TooLarge):
		return action.ExitBadRequest
	case codeTimeout, string(wire.BadVersion):
		return action.ExitUnreachable
	}
	return action.ExitInternal
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
	return action.ExitInternal
}

// refuse makes a Refused of our own.
func refuse(reason action.Reason, cause error, format string, args ...any) *Refused {
	return &Refused{Reason: reason, Code: reason.String(), Message: fmt.Sprintf(format, args...), Err: cause}
}

// refusedBy makes one of what the broker answered. A detail that cannot be
// understood is left out: the refusal itself is what counts.
func refusedBy(e *wire.Error) *Refused {
	r := &Refused{Code: string(e.Code), Message: e.Message}
	if reason, err := action.ParseReason(string(e.Code)); err == nil {
		r.Reason = reason
	}
	if e.Detail == nil {
		return r
	}
	o := fields.Of(e.Detail, "detail")
	if f, ok := o.Optional("rule"); ok {
		r.Rule = fields.Word(f, action.ParseRuleID)
	}
	if f, ok := o.Optional("id"); ok {
		r.ID = fields.Word(f, action.ParseRequestID)
	}
	if f, ok := o.Optional("why"); ok {
		r.Why = f.Text()
	}
	if f, ok := o.Optional("faults"); ok {
		r.Faults = f.Texts(maxItems)
	}
	_ = o.Close() // a newer broker may say more
	return r
}
