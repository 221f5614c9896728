package wire

import (
	"time"

	"snens/internal/strictjson"
)

// send writes one line as a whole within the time for it. After a line that
// was cut short nothing can follow.
func (c *Conn) send(v strictjson.Value, limit int) error {
	line, err := encode(v, limit)
	if err != nil {
		return err
	}
	return c.sendLines(line)
}

// sendLines writes whole lines as one.
func (c *Conn) sendLines(lines []byte) error {
	if !c.o.Budget.take(c.o.UID, len(lines)) {
		c.End()
		return Errorf(Busy, "too many bytes are waiting to be read")
	}
	defer c.o.Budget.give(c.o.UID, len(lines))
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.writeErr == nil {
		c.writeErr = c.write(lines)
	}
	return c.writeErr
}

// write: caller holds writing.
func (c *Conn) write(line []byte) error {
	if err := c.writeDeadline(); err != nil {
		return err
	}
	_, err := c.uc.Write(line)
	return timedOut(err, "reading our line")
}

// writeDeadline sets the time for one line, unless the connection was ended:
// the deadline is what wakes a writer then.
func (c *Conn) writeDeadline() error {
	c.ending.Lock()
	defer c.ending.Unlock()
	if c.ended {
		return errEnded
	}
	return c.uc.SetWriteDeadline(time.Now().Add(c.o.Times.Write))
}
