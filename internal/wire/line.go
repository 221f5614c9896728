package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"
)

// smallBuffer is what an idle connection keeps.
const smallBuffer = MaxLineGreeting

// times of one line: wait bounds the time to its first byte, rest from there
// to its end. The zero wait is for ever.
type times struct {
	wait time.Time
	rest func() time.Time
}

// readLine gives the next line without its newline. It is valid until the next
// call. Any error is the end of reading: the same one comes back ever after.
func (c *Conn) readLine(t times) ([]byte, error) {
	if c.readErr != nil {
		return nil, c.readErr
	}
	line, err := c.nextLine(t)
	if err != nil {
		c.readErr = err
		c.buf, c.start, c.end, c.scanned = nil, 0, 0, 0
		_ = c.hold(0) // an ended connection holds nothing already
	}
	return line, err
}

func (c *Conn) nextLine(t times) ([]byte, error) {
	deadline := t.wait
	running := c.start < c.end
	if running {
		deadline = t.rest()
	}
	if err := c.readDeadline(deadline); err != nil {
		return nil, err
	}
	for {
		if n := bytes.IndexByte(c.buf[c.scanned:c.end], '\n'); n >= 0 {
			line := c.buf[c.start : c.scanned+n]
			c.start = c.scanned + n + 1
			c.scanned = c.start
			return line, nil
		}
		c.scanned = c.end
		if err := c.room(); err != nil {
			return nil, err
		}
		n, err := c.recv(c.buf[c.end:])
		if err != nil {
			return nil, c.whyEnded(err, running)
		}
		c.end += n
		if !running {
			running = true
			if err := c.readDeadline(t.rest()); err != nil {
				return nil, err
			}
		}
	}
}

func (c *Conn) whyEnded(err error, running bool) error {
	c.ending.Lock()
	defer c.ending.Unlock()
	switch {
	case c.ended:
		return errEnded
	case err == io.EOF && running:
		return fmt.Errorf("the connection ended within a line: %w", io.ErrUnexpectedEOF)
	case running:
		return timedOut(err, "a line")
	}
	return timedOut(err, "the next line")
}

// room makes space at the end of buf, or says that the line is too long.
func (c *Conn) room() error {
	size := c.end - c.start
	switch {
	case size >= c.limit:
		return Errorf(TooLarge, "a line is longer than %d bytes", c.limit)
	case size == 0 && len(c.buf) > smallBuffer:
		c.buf, c.start, c.end, c.scanned = nil, 0, 0, 0 // the long line is done with
		if err := c.hold(0); err != nil {
			return err
		}
		fallthrough
	case c.buf == nil:
		return c.resize(smallBuffer)
	case c.start > 0:
		copy(c.buf, c.buf[c.start:c.end])
		c.start, c.end, c.scanned = 0, size, size
		return nil
	case c.end == len(c.buf):
		return c.resize(min(2*len(c.buf), c.limit))
	}
	return nil
}

func (c *Conn) resize(n int) error {
	if err := c.hold(n); err != nil {
		return err
	}
	buf := make([]byte, n)
	size := copy(buf, c.buf[c.start:c.end])
	c.buf, c.start, c.end, c.scanned = buf, 0, size, size
	return nil
}

// recv reads bytes that carry no descriptor. It looks before it takes: only a
// look leaves descriptors where they are, and what one look has seen one read
// of that length takes.
func (c *Conn) recv(p []byte) (int, error) {
	n, _, flags, err := c.recvmsg(p, nil, unix.MSG_PEEK)
	if err != nil {
		return 0, err
	}
	if flags&unix.MSG_CTRUNC != 0 {
		return 0, Errorf(BadDescriptors, "descriptors came with bytes that may carry none; send them when asked to")
	}
	n, _, _, err = c.recvmsg(p[:n], nil, 0)
	return n, err
}

// recvmsg waits for something to read within the deadline. io.EOF is the end.
func (c *Conn) recvmsg(p, oob []byte, how int) (n, oobn, flags int, err error) {
	waited := c.raw.Read(func(fd uintptr) bool {
		for {
			n, oobn, flags, _, err = unix.Recvmsg(int(fd), p, oob, how|unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
			if err != unix.EINTR {
				return err != unix.EAGAIN
			}
		}
	})
	switch {
	case waited != nil:
		err = waited
	case err == nil && n == 0:
		err = io.EOF
	case errors.Is(err, unix.ECONNRESET):
		// The other side closed with something of ours unread.
		err = io.EOF
	}
	return n, oobn, flags, err
}
