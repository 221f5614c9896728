package approval

import (
	"context"
	"errors"
	"sync"

	"snens/approval/prompt"
	"snens/broker/action"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

// conn is one connection after its greeting.
type conn struct {
	s    *Server
	c    *wire.Conn
	who  prompt.Peer
	seen action.Seen
	// stopping ends when the server is to end.
	stopping context.Context
	work     sync.WaitGroup // the watch

	mu       sync.Mutex
	watching bool // guarded by mu
}

// over is an error after which the connection cannot go on.
type over struct{ error }

// serve reads requests until the client or the server ends that.
func (c *conn) serve() {
	defer c.work.Wait()
	reading, stop := context.WithCancel(c.stopping)
	defer stop() // ends the watch
	for {
		q, err := c.c.ReadRequest(0)
		if err == nil {
			err = c.answer(reading, q)
		}
		if err != nil {
			c.c.Refuse(err)
			return
		}
	}
}

// answer answers one request. An error ends the connection.
func (c *conn) answer(ctx context.Context, q wire.Request) error {
	e, known := endpoints[q.Method]
	var err error
	switch {
	case !known && c.s.o.Holds(c.who):
		err = wire.Errorf(wire.UnknownMethod, "there is no method %s here", q.Method)
	case !known || !c.s.may(e.access, c.who):
		err = &refusal{reason: action.ReasonDenied}
	default:
		err = e.call(ctx, c, q)
	}
	if err == nil {
		return nil
	}
	if end := (over{}); errors.As(err, &end) {
		return end.error
	}
	return c.c.Fail(q.ID, c.s.explain(c.who.UID, err))
}

// reply and more send an answer.
func (c *conn) reply(id wire.ID, v strictjson.Value) error { return sent(c.c.Reply(id, v)) }
func (c *conn) more(id wire.ID, v strictjson.Value) error  { return sent(c.c.More(id, v)) }

// sent sorts the errors of sending: after one that was too long to be sent
// others can follow.
func sent(err error) error {
	if err == nil || tooLong(err) {
		return err
	}
	return over{err}
}

func tooLong(err error) bool {
	e := new(wire.Error)
	return errors.As(err, &e) && e.Code == wire.TooLarge
}
