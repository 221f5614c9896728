package client

import (
	"context"
	"fmt"

	"snens/approval/prompt"
	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

// maxItems bounds the lists that are read from the broker.
const maxItems = 100_000

// ask sends a request and gives each answer to take; more is false for the last.
// The end of ctx ends the connection.
func (c *Client) ask(ctx context.Context, method string, take func(reply *wire.Reply) error, params ...strictjson.Member) error {
	stop := context.AfterFunc(ctx, c.conn.End)
	defer stop()
	c.nextID++
	if err := c.conn.Send(wire.Request{ID: c.nextID, Method: method, Params: fields.Object(params...)}); err != nil {
		return c.lost(ctx, err)
	}
	for {
		reply, err := c.conn.ReadReply(0)
		switch {
		case err != nil:
			return c.lost(ctx, err)
		case reply.ID != c.nextID && reply.ID != 0:
			return refuse(action.ReasonInternal, nil, "cannot understand the broker: it answers what was not asked")
		case reply.Err != nil:
			return refusedBy(reply.Err)
		}
		if err := take(&reply); err != nil {
			return err
		}
		if !reply.More {
			return nil
		}
	}
}

// misread is the error for an answer that says what it should not.
func misread(method string, err error) error {
	if err == nil {
		return nil
	}
	return refuse(action.ReasonInternal, err, "cannot trust the broker's answer to %s", method)
}

// askOnce is ask for a method with a single answer.
func (c *Client) askOnce(ctx context.Context, method string, take func(o *fields.Reader), params ...strictjson.Member) error {
	return c.ask(ctx, method, func(reply *wire.Reply) error {
		o := reply.Fields()
		if reply.More {
			o.Failf("one answer is due, and more are announced")
		}
		take(o)
		return misread(method, o.Close())
	}, params...)
}

// List gives what waits for us, oldest first: limit at most, all for 0. total is
// how many there are.
func (c *Client) List(ctx context.Context, limit int) (list []prompt.Pending, total int, err error) {
	var params []strictjson.Member
	if limit > 0 {
		params = append(params, fields.Member("limit", fields.Int(int64(limit))))
	}
	err = c.ask(ctx, "list", func(reply *wire.Reply) error {
		o := reply.Fields()
		if reply.More {
			list = append(list, readPending(o))
			if len(list) > maxItems {
				o.Failf("more requests than can be read")
			}
			return misread("list", o.Close())
		}
		if n := o.Field("count").Uint(maxItems); int(n) != len(list) {
			o.Failf("%d requests came, and it says %d", len(list), n)
		}
		total = int(o.Field("total").Uint(maxItems))
		return misread("list", o.Close())
	}, params...)
	if err != nil {
		return nil, 0, err
	}
	return list, total, nil
}

// Show gives one request that waits.
func (c *Client) Show(ctx context.Context, id action.RequestID) (p prompt.Pending, err error) {
	err = c.askOnce(ctx, "show", func(o *fields.Reader) {
		if p = readPending(o); p.ID != id {
			o.Failf("it is about another request")
		}
	}, named(id))
	if err != nil {
		return prompt.Pending{}, err
	}
	return p, nil
}

func readPending(o *fields.Reader) prompt.Pending {
	return prompt.ReadPending(o.Field("pending").Object())
}

// Approve says yes to the request whose review text, as rendered here, has this
// digest. The state is what it came to: pending when more people have to answer.
func (c *Client) Approve(ctx context.Context, id action.RequestID, digest action.Digest, l action.Lifespan) (action.State, error) {
	return c.answer(ctx, id, action.Approve, digest, fields.Member("lifespan", fields.Text(l.String())))
}

// Deny says no to it.
func (c *Client) Deny(ctx context.Context, id action.RequestID, digest action.Digest) (action.State, error) {
	return c.answer(ctx, id, action.Deny, digest)
}

func (c *Client) answer(ctx context.Context, id action.RequestID, d action.Decision, digest action.Digest, more ...strictjson.Member) (state action.State, err error) {
	if digest.IsZero() {
		return 0, refuse(action.ReasonDigestMismatch, nil, "cannot answer a request that was not read")
	}
	params := append([]strictjson.Member{
		named(id),
		fields.Member("decision", fields.Text(d.String())),
		fields.Member("digest", fields.Text(digest.String())),
	}, more...)
	err = c.askOnce(ctx, "answer", func(o *fields.Reader) { state = fields.Word(o.Field("state"), action.ParseState) }, params...)
	if err != nil {
		return 0, err
	}
	return state, nil
}

// Kill ends the command of a request that runs.
func (c *Client) Kill(ctx context.Context, id action.RequestID) error {
	return c.askOnce(ctx, "kill", func(*fields.Reader) {}, named(id))
}

// Watch calls ready when it is told what happens from now on, and then each for
// every event, until ctx ends or either gives an error. It returns ErrDropped
// when the broker leaves off because we were too slow. List after ready, on
// another connection, and nothing is missed.
func (c *Client) Watch(ctx context.Context, ready func() error, each func(prompt.Event) error) error {
	watching := false
	return c.ask(ctx, "watch", func(reply *wire.Reply) error {
		o := reply.Fields()
		if watching && reply.More {
			event := prompt.ReadEvent(o.Field("event").Object())
			if err := misread("watch", o.Close()); err != nil {
				return err
			}
			return each(event)
		}
		state := o.Field("state").String()
		switch {
		case reply.More && state == "watching":
			watching = true
			if err := misread("watch", o.Close()); err != nil {
				return err
			}
			return ready()
		case !reply.More && state == "dropped":
			if err := misread("watch", o.Close()); err != nil {
				return err
			}
			return ErrDropped
		}
		return misread("watch", fmt.Errorf("the state %q is not due", state))
	})
}

func named(id action.RequestID) strictjson.Member {
	return fields.Member("request", fields.Text(id.String()))
}
