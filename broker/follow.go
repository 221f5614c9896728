package broker

import (
	"time"

	"snens/broker/action"
	"snens/internal/wire"
)

// follow tells the client how his run ends, while the connection goes on.
func (c *conn) follow(id wire.ID, t Ticket) {
	c.mu.Lock()
	c.ticket = t
	c.mu.Unlock()
	c.work.Go(func() {
		ended := c.awaits(t)
		c.mu.Lock()
		c.ticket = nil // before the answer: the client may ask again when it has come
		c.mu.Unlock()
		var err error
		if ended {
			r := t.Result()
			err = c.reply(id, r.Value())
		} else {
			err = c.c.Fail(id, (&refusal{reason: action.ReasonShutdown}).wire())
		}
		if err != nil {
			c.c.End()
		}
	})
}

// awaits waits for the end of a run. False: the server stopped and the run did
// not end in time.
func (c *conn) awaits(t Ticket) bool {
	select {
	case <-t.Done():
		return true
	case <-c.stopping:
	}
	drain := time.NewTimer(c.s.o.Drain)
	defer drain.Stop()
	select {
	case <-t.Done():
		return true
	case <-drain.C:
		return false
	}
}
