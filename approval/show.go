package approval

import (
	"context"

	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/wire"
)

// show is the method show: one request that waits.
func show(_ context.Context, c *conn, q wire.Request) error {
	o := q.Fields()
	id := readID(o)
	if err := read(o); err != nil {
		return err
	}
	p, err := c.s.o.Queue.Show(c.who, id)
	if err != nil {
		return err
	}
	return c.reply(q.ID, pending(&p))
}

// readID reads which request is meant.
func readID(o *fields.Reader) action.RequestID {
	return fields.Word(o.Field("request"), action.ParseRequestID)
}
