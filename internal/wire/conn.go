package wire

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"
)

// Options of a connection. The zero value is right for a client.
type Options struct {
	UID    uint32  // whose Budget and Closer share is used: the peer's
	Budget *Budget // nil: unbounded
	Closer *Closer // for descriptors that TakeFDs refuses; nil: closed in place
	Times  Times   // zero fields: DefaultTimes
	// Look is asked before descriptors are received, while they lie in the socket
	// with this number: it may peek at them, in a table of descriptors that is not
	// this process's own. An error keeps them out of our table and is the end of
	// reading. It may be nil.
	Look func(socket, want int) error
}

// Conn is one connection, of either side.
type Conn struct {
	uc   *net.UnixConn
	raw  syscall.RawConn
	o    Options
	born time.Time

	setReadDeadline func(time.Time) error // uc's; a test looks on

	// Reading: one goroutine.
	buf     []byte // what was read and not yet taken is buf[start:end]
	start   int
	end     int
	scanned int // buf[start:scanned] holds no newline
	limit   int // of a line
	readErr error

	writing  sync.Mutex // one line at a time
	writeErr error      // guarded by writing

	ending sync.Mutex
	ended  bool // guarded by ending
	held   int  // bytes of the budget that buf has; guarded by ending
}

// New makes a Conn of a connected socket, which stays the caller's: see End and
// Close. The time for the greeting begins here.
func New(uc *net.UnixConn, o Options) (*Conn, error) {
	raw, err := uc.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("cannot use the connection: %w", err)
	}
	o.Times = o.Times.orDefault()
	return &Conn{
		uc: uc, raw: raw, o: o, born: time.Now(),
		setReadDeadline: uc.SetReadDeadline,
		limit:           MaxLineGreeting,
	}, nil
}

// End shuts both directions down and gives the buffers back to the budget.
// Whoever reads or writes gets an error. It never blocks and does not close the
// descriptor: what lies unread in the socket may hold descriptors whose closing
// blocks, so a server leaves that to a Closer.
func (c *Conn) End() {
	c.ending.Lock()
	defer c.ending.Unlock()
	if c.ended {
		return
	}
	c.ended = true
	c.o.Budget.give(c.o.UID, c.held)
	c.held = 0
	_ = c.raw.Control(func(fd uintptr) { _ = syscall.Shutdown(int(fd), syscall.SHUT_RDWR) })
	// A shut down socket reads as ended, but a writer that waits for room and
	// a reader in the poller want to be woken.
	_ = c.uc.SetDeadline(time.Unix(1, 0))
}

// Close is End and closes the socket. It is for clients, whose peer is trusted
// not to hold them up.
func (c *Conn) Close() error {
	c.End()
	return c.uc.Close()
}

var errEnded = errors.New("the connection has ended")

// readDeadline sets the time for reading, unless the connection was ended.
func (c *Conn) readDeadline(t time.Time) error {
	c.ending.Lock()
	defer c.ending.Unlock()
	if c.ended {
		return errEnded
	}
	return c.setReadDeadline(t)
}

// hold makes what buf takes of the budget n bytes.
func (c *Conn) hold(n int) error {
	c.ending.Lock()
	defer c.ending.Unlock()
	switch {
	case c.ended:
		return errEnded
	case n < c.held:
		c.o.Budget.give(c.o.UID, c.held-n)
	case !c.o.Budget.take(c.o.UID, n-c.held):
		return Errorf(Busy, "too many bytes are buffered; wait until earlier requests were read")
	}
	c.held = n
	return nil
}
