package main

import (
	"fmt"
	"strings"

	"snens/broker/action"
	"snens/broker/client"
)

// explainRefusal puts a refusal into words, with a way out. asked is what was
// asked for, "" when it is no command.
func explainRefusal(asked string, r *client.Refused) *failure {
	text := r.Error()
	if r.Why != "" && !strings.Contains(text, r.Why) {
		text += ": " + r.Why
	}
	if !strings.HasPrefix(text, "cannot ") {
		if asked == "" {
			text = "cannot do that: " + text
		} else {
			text = "cannot run " + asked + ": " + text
		}
	}
	for _, fault := range r.Faults {
		text += "\n" + fault
	}
	f := failf(r.ExitStatus(), "%s", text)
	f.hint = refusalHint(r.Reason, r.ID)
	return f
}

// explainResult does so for a request that ended, but not by its command's own
// will.
func explainResult(asked string, r *action.Result) *failure {
	f := failf(r.ExitStatus(), "cannot run %s: %s", asked, r.Reason.Text())
	if r.State == action.Exited {
		f = failf(r.ExitStatus(), "%s: %s", asked, r.Reason.Text())
	}
	f.hint = refusalHint(r.Reason, action.RequestID{})
	return f
}

// refusalHint says what one can do about it; "" for nothing.
func refusalHint(reason action.Reason, waiting action.RequestID) string {
	switch reason {
	case action.ReasonDenied, action.ReasonRuleDenies:
		return "what you may ask for: snens priv rules"
	case action.ReasonBadRequest:
		return "the rules and their slots: snens priv rules"
	case action.ReasonRuleShadowed:
		return "which rule decides: snens priv check -- COMMAND [ARG ...]"
	case action.ReasonReasonRequired:
		return "add --reason TEXT"
	case action.ReasonDuplicate:
		if waiting.IsZero() {
			return "what waits: snens priv list"
		}
		return fmt.Sprintf("wait for it: snens priv result %s --wait; give it up: snens priv cancel %s", waiting, waiting)
	case action.ReasonBusy:
		return "what waits: snens priv list"
	case action.ReasonCoolingDown:
		return "speak with whoever said no before you ask again"
	case action.ReasonStaleRule, action.ReasonStaleFile, action.ReasonDaemonRestart, action.ReasonShutdown:
		return "ask again"
	case action.ReasonLost:
		return "look at what it has done before you ask again"
	case action.ReasonUnreachable:
		return "does it run: systemctl status snens-priv-request.socket; for a broker of one's own: --user"
	case action.ReasonUntrustedBroker:
		return "nothing was sent to it; a broker of one's own needs --user"
	case action.ReasonNotFound:
		return "your requests: snens priv list"
	}
	return ""
}
