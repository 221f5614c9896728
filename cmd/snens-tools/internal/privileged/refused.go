package privileged

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"snens/broker/action"
	"snens/broker/client"
	"snens/cmd/snens-tools/internal/cli"
	"snens/cmd/snens-tools/internal/visible"
)

// Explain makes an error of the broker's client one that is ready to be reported.
func Explain(doing string, err error) error {
	var refused *client.Refused
	if !errors.As(err, &refused) {
		return &cli.Error{Code: action.ExitInternal, Message: fmt.Sprintf("cannot %s: %v", doing, err)}
	}
	return &cli.Error{
		Code: refused.ExitStatus(), Message: fmt.Sprintf("cannot %s: %s", doing, words(refused)),
		Hint: hintFor(refused.Reason, refused.ID),
	}
}

// refused reports a refusal, and where the policy is what refused, what it lets
// the caller ask for.
func (t Task) refused(ctx context.Context, std cli.IO, c *client.Client, r *client.Refused) error {
	err := Explain(t.Doing, r)
	if r.Reason != action.ReasonDenied && r.Reason != action.ReasonRuleDenies && r.Reason != action.ReasonRuleShadowed &&
		(r.Reason != action.ReasonBadRequest || t.Command.Rule == "") {
		return err
	}
	code := cli.Report(std.Err, t.Tool, err)
	rules, rulesErr := c.Rules(ctx)
	var none *client.Refused
	switch {
	case errors.As(rulesErr, &none) && none.Reason == action.ReasonDenied:
		fmt.Fprintln(std.Err, "no rule of the policy names you, so there is nothing that you may ask for; root can add one (/etc/snens/priv.toml)")
	case rulesErr != nil:
		// The refusal is what counts.
	default:
		fmt.Fprint(std.Err, t.instead(rules))
	}
	return &cli.Error{Code: code}
}

// instead lists the rules about the program of t, or names all.
func (t Task) instead(rules []client.Rule) string {
	var b strings.Builder
	var ids []string
	for i := range rules {
		r := &rules[i]
		ids = append(ids, string(r.ID))
		if !t.about(r) {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("you may ask for:\n")
		}
		b.WriteString(Describe(r))
	}
	if b.Len() == 0 && len(ids) > 0 {
		fmt.Fprintf(&b, "no rule of yours is about this command; your rules: %s (priv list=true shows them)\n", visible.Line(strings.Join(ids, ", ")))
	}
	return b.String()
}

// about says that the rule is the one that was named, or has the same program.
func (t Task) about(r *client.Rule) bool {
	if t.Command.Rule != "" {
		return r.ID == t.Command.Rule
	}
	return len(t.Command.Argv) > 0 && path.Base(r.Command) == path.Base(t.Command.Argv[0])
}

func words(r *client.Refused) string {
	text := r.Message
	if r.Err != nil {
		text = r.Error()
	}
	if text == "" {
		text = r.Code
	}
	if r.Why != "" && !strings.Contains(text, r.Why) {
		text += ": " + r.Why
	}
	if r.Rule != "" {
		text += fmt.Sprintf(" (rule %s)", r.Rule)
	}
	return text
}

// hintFor says what can be done about it.
func hintFor(reason action.Reason, id action.RequestID) string {
	switch reason {
	case action.ReasonApproverDenied:
		return "a person decided this; do not ask for the same again without talking to them"
	case action.ReasonReasonRequired:
		return "fill in reason: one sentence that tells the approvers why"
	case action.ReasonDuplicate:
		return fmt.Sprintf("it waits as request %s; priv result=%s tells what became of it", id, id)
	case action.ReasonBusy, action.ReasonNoRecord:
		return "nothing was run; ask again later"
	case action.ReasonCoolingDown:
		return "wait a while, and ask again only when something has changed"
	case action.ReasonExpired:
		return "tell an approver; then ask again, and the approver types: snens approve"
	case action.ReasonStaleRule, action.ReasonStaleFile, action.ReasonDaemonRestart, action.ReasonShutdown:
		return "nothing was run; ask again"
	case action.ReasonUnreachable:
		return "this needs the privilege broker (snens-priv), which root installs and starts; nothing else was tried"
	case action.ReasonUntrustedBroker:
		return "somebody else listens there, so nothing was sent; SNENS_PRIV must lead to the broker's request socket"
	case action.ReasonLost, action.ReasonUnkillable:
		return "look at what it has done before asking again"
	}
	return ""
}

// status is the exit status for a request that did not run to its end.
func status(r action.Reason) int {
	if n := r.ExitStatus(); n > 1 {
		return n
	}
	return cli.ExitFail
}
