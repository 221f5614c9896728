package approval

import (
	"context"

	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

// watch is the method watch: what happens from now on to the requests that the
// peer oversees, while the connection goes on.
func watch(ctx context.Context, c *conn, q wire.Request) error {
	if err := read(q.Fields()); err != nil {
		return err
	}
	if !c.begin() {
		return &refusal{action.ReasonBusy, "a watch goes on already on this connection"}
	}
	w, err := c.s.o.Queue.Watch(c.who)
	if err != nil {
		c.finish()
		return err
	}
	if err := c.more(q.ID, said("watching")); err != nil {
		w.Close()
		c.finish()
		return err
	}
	id := q.ID // the request itself takes more memory than it needs to wait
	c.work.Go(func() {
		defer w.Close()
		c.follow(ctx, id, w)
	})
	return nil
}

// begin takes the place of the one watch, finish gives it back.
func (c *conn) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watching {
		return false
	}
	c.watching = true
	return true
}

func (c *conn) finish() {
	c.mu.Lock()
	c.watching = false
	c.mu.Unlock()
}

// follow tells the events, and why there are no more. It ends without a word when
// the client has left.
func (c *conn) follow(ctx context.Context, id wire.ID, w Watch) {
	err := c.events(ctx, id, w)
	c.finish() // before the answer: the client may watch again when it has come
	switch {
	case c.stopping.Err() != nil:
		err = c.c.Fail(id, told(action.ReasonShutdown))
	case ctx.Err() != nil:
		return
	case err == nil:
		err = c.reply(id, said("dropped"))
	default:
		err = c.c.Fail(id, c.s.explain(c.who.UID, err))
	}
	if err != nil {
		c.c.End()
	}
}

// events tells events until no more come: with nil the watcher is left off.
func (c *conn) events(ctx context.Context, id wire.ID, w Watch) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, more := <-w.Events():
			if !more {
				return nil
			}
			if !c.s.o.Holds(c.who) { // the policy may be another since
				return &refusal{reason: action.ReasonDenied}
			}
			if err := c.more(id, fields.Object(fields.Member("event", e.Value()))); err != nil {
				return err
			}
		}
	}
}

func said(word string) strictjson.Value {
	return fields.Object(fields.Member("state", fields.Text(word)))
}
