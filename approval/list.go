package approval

import (
	"context"
	"fmt"
	"math"

	"snens/approval/prompt"
	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

// list is the method list: what waits for the peer, oldest first.
func list(ctx context.Context, c *conn, q wire.Request) error {
	o := q.Fields()
	limit := uint64(math.MaxInt32)
	if f, ok := o.Optional("limit"); ok {
		limit = f.Uint(limit)
	}
	if err := read(o); err != nil {
		return err
	}
	all := c.s.o.Queue.Pending(c.who)
	count := 0
	for i := range all {
		if uint64(count) == limit {
			break
		}
		if ctx.Err() != nil {
			return &refusal{reason: action.ReasonShutdown}
		}
		switch err := c.more(q.ID, pending(&all[i])); {
		case tooLong(err): // hides none but itself
			c.s.o.Problem(fmt.Errorf("cannot show request %s: %w", all[i].ID, err))
		case err != nil:
			return err
		default:
			count++
		}
	}
	return c.reply(q.ID, fields.Object(
		fields.Member("count", fields.Int(int64(count))),
		fields.Member("total", fields.Int(int64(len(all)))),
	))
}

// pending is a request as approvers get it.
func pending(p *prompt.Pending) strictjson.Value {
	return fields.Object(fields.Member("pending", p.Value()))
}
