package broker

import (
	"context"
	"errors"

	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/wire"
)

// list is the method list: the peer's own requests.
func list(_ context.Context, c *conn, q wire.Request) error {
	if err := none(q); err != nil {
		return err
	}
	mine := c.s.o.Requests.Mine(c.who)
	for i := range mine {
		if err := c.more(q.ID, fields.Object(fields.Member("request", mine[i].Value()))); err != nil {
			return err
		}
	}
	return c.reply(q.ID, count(len(mine)))
}

// cancel is the method cancel.
func cancel(_ context.Context, c *conn, q wire.Request) error {
	id, err := readRequest(q.Fields(), nil)
	if err != nil {
		return err
	}
	if err := c.s.o.Requests.Cancel(c.who, id); err != nil {
		return err
	}
	return c.reply(q.ID, fields.Object())
}

// result is the method result: how far a request of the peer's own has come, at
// once or when it has ended.
func result(ctx context.Context, c *conn, q wire.Request) error {
	wait := false
	id, err := readRequest(q.Fields(), &wait)
	if err != nil {
		return err
	}
	r, err := c.s.o.Requests.Result(c.who, id)
	if err != nil {
		return err
	}
	if !wait || r.State.Final() {
		return c.reply(q.ID, r.Value())
	}
	if !c.waitMore() {
		return &refusal{reason: action.ReasonBusy, message: "too many results are waited for on this connection"}
	}
	answer := q.ID // the request itself takes more memory than it needs to wait
	c.work.Go(func() { c.await(ctx, answer, id) })
	return nil
}

func (c *conn) waitMore() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits >= maxWaits {
		return false
	}
	c.waits++
	return true
}

// await answers when the request has ended; not at all when the client has left.
func (c *conn) await(ctx context.Context, answer wire.ID, id action.RequestID) {
	r, err := c.s.o.Requests.Wait(ctx, c.who, id)
	c.mu.Lock()
	c.waits--
	c.mu.Unlock()
	switch {
	case err == nil:
		err = c.reply(answer, r.Value())
	case errors.Is(context.Cause(ctx), errLeft):
		return
	default:
		err = c.c.Fail(answer, c.s.explain(ctx, c.who.UID, err))
	}
	if err != nil {
		c.c.End()
	}
}
