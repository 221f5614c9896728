package approval

import (
	"context"

	"snens/internal/fields"
	"snens/internal/wire"
)

// kill is the method kill: the end of a command that runs.
func kill(_ context.Context, c *conn, q wire.Request) error {
	o := q.Fields()
	id := readID(o)
	if err := read(o); err != nil {
		return err
	}
	if err := c.s.o.Queue.Kill(c.who, id, c.seen); err != nil {
		return err
	}
	return c.reply(q.ID, fields.Object())
}
