package broker

import (
	"context"

	"snens/broker/action"
	"snens/broker/policy"
	"snens/broker/prepare"
	"snens/internal/fields"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

// check is the method check: what the policy would say. It opens nothing.
func check(_ context.Context, c *conn, q wire.Request) error {
	o := q.Fields()
	ask := prepare.Ask{From: c.subject()}
	readCommand(o, &ask)
	if err := o.Close(); err != nil {
		return malformed(err)
	}
	if err := weigh(&ask); err != nil {
		return err
	}
	err := c.reply(q.ID, verdict(c.s.o.Maker.Judge(ask)))
	if tooLong(err) {
		return &refusal{reason: action.ReasonTooLong}
	}
	return err
}

// verdict is a judgement for the requester.
func verdict(j policy.Judgement) strictjson.Value {
	decision := policy.Deny
	if j.Decision == policy.Ask || j.Decision == policy.Allow {
		decision = j.Decision
	}
	m := []strictjson.Member{fields.Member("decision", fields.Text(decision.String()))}
	if j.Rule != nil {
		m = append(m, fields.Member("rule", fields.Text(string(j.Rule.ID))))
	}
	if decision == policy.Deny {
		why := j.Reason
		if why == 0 {
			why = action.ReasonDenied
		}
		m = append(m, fields.Member("reason", fields.Text(why.String())))
	}
	if j.Detail != "" {
		m = append(m, fields.Member("why", fields.Text(j.Detail)))
	}
	if j.Argv != nil {
		m = append(m, fields.Member("argv", fields.List(j.Argv, fields.Text)))
	}
	if decision == policy.Deny || j.Rule == nil {
		return fields.Object(m...)
	}
	if decision == policy.Ask {
		m = append(m, fields.Member("approvers", fields.List(approvers(j.Rule.Approve), fields.Text)),
			fields.Member("reason_required", fields.Bool(j.Rule.Approve.ReasonRequired)))
	}
	m = append(m, fields.Member("stdin", fields.Text(j.Rule.Stdin.String())))
	return fields.Object(m...)
}
