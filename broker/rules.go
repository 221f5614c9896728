package broker

import (
	"context"

	"snens/broker/action"
	"snens/broker/policy"
	"snens/internal/fields"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

// rules is the method rules: what the peer may ask for.
func rules(_ context.Context, c *conn, q wire.Request) error {
	if err := none(q); err != nil {
		return err
	}
	visible := c.s.o.Policy().Visible(c.subject())
	for _, r := range visible {
		if err := c.more(q.ID, fields.Object(fields.Member("rule", describe(r)))); err != nil {
			return err
		}
	}
	return c.reply(q.ID, count(len(visible)))
}

func count(n int) strictjson.Value {
	return fields.Object(fields.Member("count", fields.Int(int64(n))))
}

// describe is a rule for those whom it names.
func describe(r *policy.Rule) strictjson.Value {
	as := r.RunAs.User
	if as == "" {
		as = r.RunAs.UID.String()
	}
	m := []strictjson.Member{
		fields.Member("id", fields.Text(string(r.ID))),
		fields.Member("about", fields.Text(r.About)),
		fields.Member("decision", fields.Text(r.Decision.String())),
		fields.Member("command", fields.Text(r.Command)),
		fields.Member("args", fields.List(r.Args, argument)),
		fields.Member("run_as", fields.Text(as)),
		fields.Member("stdin", fields.Text(r.Stdin.String())),
		fields.Member("detach", fields.Bool(r.Detach)),
		fields.Member("cwd", fields.Text(r.Cwd)),
		fields.Member("env_pass", fields.List(r.EnvPass, fields.Text)),
		fields.Member("timeout", fields.Text(action.FormatDuration(r.Timeout))),
	}
	if r.Decision == policy.Ask {
		m = append(m,
			fields.Member("approvers", fields.List(approvers(r.Approve), fields.Text)),
			fields.Member("ttl", fields.Text(action.FormatDuration(r.Approve.TTL))),
			fields.Member("reason_required", fields.Bool(r.Approve.ReasonRequired)))
	}
	return fields.Object(m...)
}

// argument is one entry of a rule's args.
func argument(a policy.Arg) strictjson.Value {
	s := a.Slot
	if s == nil {
		return fields.Object(fields.Member("text", fields.Text(a.Literal)))
	}
	m := []strictjson.Member{
		fields.Member("slot", fields.Text(s.Name)),
		fields.Member("kind", fields.Text(string(s.Kind))),
	}
	switch s.Kind {
	case policy.KindEnum:
		m = append(m, fields.Member("values", fields.List(s.Values, fields.Text)))
	case policy.KindInt, policy.KindUser:
		m = append(m, fields.Member("min", fields.Int(s.Min)), fields.Member("max", fields.Int(s.Max)))
	case policy.KindWord:
		m = append(m, fields.Member("max", fields.Int(s.Max)))
	case policy.KindPath:
		m = append(m, fields.Member("beneath", fields.Text(s.Beneath)))
	}
	if s.Pattern != "" {
		m = append(m, fields.Member("pattern", fields.Text(s.Pattern)))
	}
	m = append(m,
		fields.Member("many", fields.Int(int64(max(1, s.Many)))),
		fields.Member("optional", fields.Bool(s.Optional)))
	return fields.Object(m...)
}
