package broker

import (
	"context"
	"errors"
	"sync"

	"snens/approval/prompt"
	"snens/broker/action"
	"snens/broker/policy"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

// maxWaits is how many results a connection may wait for at a time.
const maxWaits = 8

// conn is one connection after its greeting.
type conn struct {
	s    *Server
	c    *wire.Conn
	who  prompt.Peer
	seen action.Seen
	// stopping is closed when the server is to end.
	stopping <-chan struct{}
	work     sync.WaitGroup // who waits for the end of a request

	mu     sync.Mutex
	ticket Ticket // of the run under way; guarded by mu
	waits  int    // results that are waited for; guarded by mu
}

// over is an error after which the connection cannot go on.
type over struct{ error }

// errLeft ends what goes on for a client who has left.
var errLeft = errors.New("the client has left")

func (c *conn) subject() policy.Subject {
	return policy.Subject{UID: c.who.UID, GID: c.who.GID, Groups: c.who.Groups}
}

// serve reads requests until the client or ctx ends that.
func (c *conn) serve(ctx context.Context) {
	defer c.work.Wait()
	reading, stop := context.WithCancelCause(ctx)
	defer stop(errLeft)
	for {
		q, err := c.c.ReadRequest(0)
		if err == nil {
			err = c.answer(reading, q)
		}
		if err != nil {
			c.c.Refuse(err)
			if ctx.Err() == nil {
				c.leave() // else the queue ends what waits
			}
			return
		}
	}
}

// leave gives up the run under way.
func (c *conn) leave() {
	c.mu.Lock()
	t := c.ticket
	c.mu.Unlock()
	if t != nil {
		t.Leave()
	}
}

// answer answers one request. An error ends the connection.
func (c *conn) answer(ctx context.Context, q wire.Request) error {
	e, known := endpoints[q.Method]
	named := c.s.o.Policy().Names(c.subject())
	var err error
	switch {
	case !known && named:
		err = wire.Errorf(wire.UnknownMethod, "there is no method %s here", q.Method)
	case !known || !c.s.may(e.access, c.who, named):
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
	return c.c.Fail(q.ID, c.s.explain(ctx, c.who.UID, err))
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
