package client

import (
	"context"

	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

// maxItems bounds the lists that are read from the broker.
const maxItems = 100_000

// send sends the next request, the first one with the greeting.
func (c *Client) send(method string, params ...strictjson.Member) (wire.ID, error) {
	c.nextID++
	q := wire.Request{ID: c.nextID, Method: method, Params: fields.Object(params...)}
	if c.greeted {
		return q.ID, c.conn.Send(q)
	}
	_, err := c.conn.HelloWith(q)
	c.greeted = err == nil
	return q.ID, err
}

// ask sends a request and gives each answer to take; more is false for the last.
// The end of ctx ends the connection.
func (c *Client) ask(ctx context.Context, method string, take func(reply *wire.Reply) error, params ...strictjson.Member) error {
	stop := context.AfterFunc(ctx, c.conn.End)
	defer stop()
	id, err := c.send(method, params...)
	if err != nil {
		return c.lost(ctx, err)
	}
	for {
		reply, err := c.conn.ReadReply(0)
		switch {
		case err != nil:
			return c.lost(ctx, err)
		case reply.ID != id:
			continue // of a run that was given up
		case reply.Err != nil:
			return refusedBy(reply.Err)
		}
		if err := take(&reply); err != nil {
			return refuse(action.ReasonInternal, err, "cannot understand the broker's answer to %s", method)
		}
		if !reply.More {
			return nil
		}
	}
}

// askOnce is ask for a method with a single answer.
func (c *Client) askOnce(ctx context.Context, method string, take func(o *fields.Reader), params ...strictjson.Member) error {
	return c.ask(ctx, method, func(reply *wire.Reply) error {
		o := reply.Fields()
		if reply.More {
			o.Failf("one answer is due, and more are announced")
		}
		take(o)
		return o.Close()
	}, params...)
}

// askMany is ask for a method that answers with items and then their number.
func (c *Client) askMany(ctx context.Context, method string, item func(o *fields.Reader)) error {
	return c.ask(ctx, method, func(reply *wire.Reply) error {
		o := reply.Fields()
		if reply.More {
			item(o)
		} else {
			o.Field("count").Uint(maxItems)
		}
		return o.Close()
	})
}

// List gives one's own requests that the broker still knows, as it orders them.
func (c *Client) List(ctx context.Context) (list []action.Result, err error) {
	err = c.askMany(ctx, "list", func(o *fields.Reader) {
		list = append(list, action.ReadResult(o.Field("request").Object()))
	})
	return list, err
}

// Result says how far a request has come; with wait, when it has ended.
func (c *Client) Result(ctx context.Context, id action.RequestID, wait bool) (result action.Result, err error) {
	params := []strictjson.Member{named(id)}
	if wait {
		params = append(params, fields.Member("wait", fields.Bool(true)))
	}
	err = c.askOnce(ctx, "result", func(o *fields.Reader) { result = action.ReadResult(o) }, params...)
	return result, err
}

// Cancel gives up a request of one's own, or ends its command.
func (c *Client) Cancel(ctx context.Context, id action.RequestID) error {
	return c.askOnce(ctx, "cancel", func(*fields.Reader) {}, named(id))
}

// Reload lets the broker read its policy again. Only root, and the owner of a
// --user broker, may. Faults come in Refused.Faults.
func (c *Client) Reload(ctx context.Context) (generation uint64, err error) {
	err = c.askOnce(ctx, "reload", func(o *fields.Reader) { generation = o.Field("generation").Uint(1 << 53) })
	return generation, err
}

// Status is how the broker is, as the broker words it. Who may ask is as with
// Reload.
func (c *Client) Status(ctx context.Context) (status strictjson.Value, err error) {
	err = c.ask(ctx, "status", func(reply *wire.Reply) error {
		status = reply.Result
		return nil
	})
	return status, err
}

func named(id action.RequestID) strictjson.Member {
	return fields.Member("request", fields.Text(id.String()))
}
