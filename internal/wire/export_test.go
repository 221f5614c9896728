package wire

import "time"

// OnReadDeadline lets a test see each deadline, and choose another one.
func (c *Conn) OnReadDeadline(see func(time.Time) time.Time) {
	set := c.setReadDeadline
	c.setReadDeadline = func(t time.Time) error { return set(see(t)) }
}

// BufferSize is the memory the reading side holds.
func (c *Conn) BufferSize() int { return len(c.buf) }

// Encodings, for the tests of the codec.
func (h Hello) Line() ([]byte, error)    { return encode(h.value(), MaxLineGreeting) }
func (r *Request) Line() ([]byte, error) { return encode(r.value(), MaxLine) }
func (r *Reply) Line() ([]byte, error)   { return encode(r.value(), MaxLine) }

// ReadLine reads a line as a request is read.
func (c *Conn) ReadLine() ([]byte, error) { return c.readLine(c.lineTimes(0)) }

// Greeted acts as if the greeting were done.
func (c *Conn) Greeted() { c.limit = MaxLine }

// Limits of a Closer.
const (
	WorkersPerUID = workersPerUID
	WorkersTotal  = workersTotal
	RoomPerUID    = roomPerUID
)
