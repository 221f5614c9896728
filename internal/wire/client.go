package wire

import (
	"fmt"
	"time"
)

// Hello greets a server as a client and gives its answer. A refusal of the
// server is an *Error. Check who listens (peer.Listener) before.
func (c *Conn) Hello(capabilities ...string) (Hello, error) {
	line, err := encode(Hello{Version, capabilities}.value(), MaxLineGreeting)
	if err != nil {
		return Hello{}, err
	}
	return c.hello(line)
}

// HelloWith is Hello and Send in one, for a client whose first request does not
// depend on what the server can do: the request does not wait for the greeting's
// answer. It is not read by a server that refuses the greeting.
func (c *Conn) HelloWith(q Request, capabilities ...string) (Hello, error) {
	line, err := encode(Hello{Version, capabilities}.value(), MaxLineGreeting)
	if err != nil {
		return Hello{}, err
	}
	first, err := q.line()
	if err != nil {
		return Hello{}, err
	}
	return c.hello(append(line, first...))
}

// hello sends a greeting, and what follows it, and reads the answer.
func (c *Conn) hello(lines []byte) (Hello, error) {
	if err := c.sendLines(lines); err != nil {
		return Hello{}, c.whyNot(err)
	}
	end := c.born.Add(c.o.Times.Hello)
	line, err := c.readLine(times{wait: end, rest: func() time.Time { return end }})
	if err != nil {
		return Hello{}, err
	}
	h, err := ParseHello(line)
	if err != nil {
		if r, rerr := ParseReply(line); rerr == nil && r.Err != nil {
			return Hello{}, r.Err
		}
		return Hello{}, fmt.Errorf("cannot understand the server's greeting: %w", err)
	}
	if h.Version != Version {
		return Hello{}, Errorf(BadVersion, "the server speaks version %d, this program %d", h.Version, Version)
	}
	c.limit = MaxLine
	return h, nil
}

// whyNot looks for the reason of a server that shut the connection instead of
// reading: it is likely to have said it before.
func (c *Conn) whyNot(sent error) error {
	line, err := c.readLine(c.lineTimes(c.o.Times.Line))
	if err != nil {
		return sent
	}
	if r, err := ParseReply(line); err == nil && r.Err != nil && r.ID == 0 {
		return r.Err
	}
	return sent
}

// Send sends a request. The answers come out of ReadReply.
func (c *Conn) Send(q Request) error {
	line, err := q.line()
	if err != nil {
		return err
	}
	return c.sendLines(line)
}

func (q *Request) line() ([]byte, error) {
	if q.ID == 0 || q.ID > maxID {
		return nil, fmt.Errorf("cannot send a request with the id %d; ids go from 1 to %d", q.ID, uint64(maxID))
	}
	return encode(q.value(), MaxLine)
}

// ReadReply reads the next answer, waiting at most wait for its first byte (0:
// for ever). An error about the whole connection comes back as an *Error; io.EOF
// says that the server has left.
func (c *Conn) ReadReply(wait time.Duration) (Reply, error) {
	line, err := c.readLine(c.lineTimes(wait))
	if err != nil {
		return Reply{}, err
	}
	r, err := ParseReply(line)
	if err != nil {
		c.readErr = fmt.Errorf("cannot understand the server's answer: %w", err)
		return Reply{}, c.readErr
	}
	if r.ID == 0 {
		c.readErr = r.Err
		return Reply{}, r.Err
	}
	return r, nil
}
