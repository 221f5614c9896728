package wire

import (
	"errors"
	"time"

	"snens/internal/fields"
	"snens/internal/strictjson"
)

// Accept reads the greeting of a client and answers it with what this server
// can do. On an error the connection is to be refused and ended.
func (c *Conn) Accept(capabilities ...string) (Hello, error) {
	end := c.born.Add(c.o.Times.Hello)
	line, err := c.readLine(times{wait: end, rest: func() time.Time { return end }})
	if err != nil {
		return Hello{}, err
	}
	h, err := ParseHello(line)
	if err != nil {
		return Hello{}, c.malformed(err)
	}
	if h.Version != Version {
		detail := fields.Object(fields.Member("versions", fields.List([]int64{Version}, fields.Int)))
		err := Errorf(BadVersion, "version %d is not spoken here, %d is", h.Version, Version)
		err.Detail = &detail
		c.readErr = err
		return Hello{}, err
	}
	c.limit = MaxLine
	return h, c.send(Hello{Version, capabilities}.value(), MaxLineGreeting)
}

// malformed makes what was wrong with a line the end of reading.
func (c *Conn) malformed(err error) error {
	c.readErr = Errorf(BadRequest, "%v", err)
	return c.readErr
}

// ReadRequest reads the next request, waiting at most idle for its first byte
// (0: for ever). Every error ends the reading: io.EOF when the client has left
// or has nothing more to ask, an *Error for Refuse, else the system's.
func (c *Conn) ReadRequest(idle time.Duration) (Request, error) {
	line, err := c.readLine(c.lineTimes(idle))
	if err != nil {
		return Request{}, err
	}
	q, err := ParseRequest(line)
	if err != nil {
		return Request{}, c.malformed(err)
	}
	return q, nil
}

func (c *Conn) lineTimes(idle time.Duration) times {
	t := times{rest: func() time.Time { return time.Now().Add(c.o.Times.Line) }}
	if idle > 0 {
		t.wait = time.Now().Add(idle)
	}
	return t
}

// Reply sends the last answer to a request.
func (c *Conn) Reply(id ID, result strictjson.Value) error {
	r := Reply{ID: id, Result: result}
	return c.send(r.value(), MaxLine)
}

// More sends an answer after which others follow.
func (c *Conn) More(id ID, result strictjson.Value) error {
	r := Reply{ID: id, More: true, Result: result}
	return c.send(r.value(), MaxLine)
}

// Fail sends an error as the last answer to a request.
func (c *Conn) Fail(id ID, e *Error) error {
	r := Reply{ID: id, Err: e}
	return c.send(r.value(), MaxLine)
}

// Refuse tells the client why the connection ends, when err is an *Error. It
// does not end it. That the client does not listen any more is no error.
func (c *Conn) Refuse(err error) {
	if e := new(Error); errors.As(err, &e) {
		_ = c.Fail(0, e)
	}
}

// RefusalLine is what Refuse sends, for a connection that never becomes a Conn.
func RefusalLine(e *Error) []byte {
	r := Reply{Err: e}
	line, err := encode(r.value(), MaxLineGreeting)
	if err != nil { // a detail that is too long, or no JSON
		r.Err = &Error{Code: e.Code, Message: e.Message}
		line, _ = encode(r.value(), MaxLineGreeting)
	}
	return line
}
