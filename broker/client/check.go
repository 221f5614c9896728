package client

import (
	"context"

	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

// Judgement is what the policy would say.
type Judgement struct {
	Decision       Decision
	Rule           action.RuleID // the deciding one, "" for none
	Reason         action.Reason // of a denial
	Why            string        // which argument did not fit
	Argv           []string      // what would run
	Approvers      []string      // who would be asked
	Stdin          string        // none, sealed or pass
	ReasonRequired bool          // a claim's reason has to be given

	Raw strictjson.Value // as it came
}

// Check asks what the policy says about a rule with its slots or a command.
// Nothing is opened, recorded or run.
func (c *Client) Check(ctx context.Context, what Command) (j Judgement, err error) {
	params, err := what.params()
	if err != nil {
		return j, err
	}
	err = c.ask(ctx, "check", func(reply *wire.Reply) error {
		o := reply.Fields()
		j = readJudgement(o)
		j.Raw = reply.Result
		return o.Close()
	}, params...)
	return j, err
}

func readJudgement(o *fields.Reader) (j Judgement) {
	j.Decision = Decision(o.Field("decision").String())
	switch j.Decision {
	case Allow, Ask, Deny:
	default:
		o.Failf("%q is no decision", j.Decision)
	}
	if f, ok := o.Optional("rule"); ok {
		j.Rule = fields.Word(f, action.ParseRuleID)
	}
	if f, ok := o.Optional("reason"); ok {
		j.Reason = fields.Word(f, action.ParseReason)
	}
	j.Why = text(o, "why")
	j.Argv = texts(o, "argv")
	j.Approvers = texts(o, "approvers")
	j.Stdin = text(o, "stdin")
	j.ReasonRequired = flag(o, "reason_required")
	return j
}
