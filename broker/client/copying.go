package client

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"
)

// copying is one pipe between the command and a socket or a file of ours. Its
// description is shared with others, so its mode is left alone: every call to a
// socket says for itself that it does not wait. A plain file is waited for.
type copying struct {
	in          bool // from the socket to the command
	end         int  // the socket or the file
	plain       bool // it is a file
	pipe        int  // our end; does not block
	ended, quit *bell

	closing sync.Once
}

const copySize = 64 << 10

func (c *copying) close() { c.closing.Do(func() { _ = unix.Close(c.pipe) }) }

// run copies until there is nothing more, and closes our end: the command gets
// its end of input, or is told that nobody reads.
func (c *copying) run() {
	defer c.close()
	buf := make([]byte, copySize)
	if c.in {
		c.runIn(buf)
		return
	}
	for {
		// Asked before the read: what comes after the end is nobody's.
		last := c.ended.rung()
		n, err := unix.Read(c.pipe, buf)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN && last:
			return
		case err == unix.EAGAIN:
			if !wait(c.pipe, unix.POLLIN, c.ended, c.quit) {
				return
			}
		case err != nil || n == 0:
			return
		case !c.toEnd(buf[:n]):
			return
		}
	}
}

// write writes to our socket or file.
func (c *copying) write(p []byte) (int, error) {
	if c.plain {
		return unix.Write(c.end, p)
	}
	return unix.SendmsgN(c.end, p, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
}

// read reads from our socket or file.
func (c *copying) read(p []byte) (int, error) {
	if c.plain {
		return unix.Read(c.end, p)
	}
	n, _, err := unix.Recvfrom(c.end, p, unix.MSG_DONTWAIT)
	return n, err
}

// toEnd is false when nobody reads it any more, or it takes no more.
func (c *copying) toEnd(p []byte) bool {
	for len(p) > 0 {
		n, err := c.write(p)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			if c.quit.rung() || !wait(c.end, unix.POLLOUT, c.quit) {
				return false
			}
		case err != nil:
			return false
		}
		p = p[max(n, 0):]
	}
	return true
}

func (c *copying) runIn(buf []byte) {
	for !c.ended.rung() {
		if gone(c.pipe) {
			return // nothing is taken that nobody reads
		}
		n, err := c.read(buf)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			// The pipe is among them without an event: its reader may go.
			if !waitBoth(c.end, c.pipe, c.ended, c.quit) {
				return
			}
		case err != nil || n == 0:
			return
		case !c.toPipe(buf[:n]):
			return
		}
	}
}

func (c *copying) toPipe(p []byte) bool {
	for len(p) > 0 {
		n, err := unix.Write(c.pipe, p)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			if c.ended.rung() || !wait(c.pipe, unix.POLLOUT, c.ended, c.quit) {
				return false
			}
		case err != nil:
			return false
		}
		p = p[max(n, 0):]
	}
	return true
}

// wait waits for an event of fd or a bell; false when it cannot.
func wait(fd int, events int16, bells ...*bell) bool {
	return poll(append(make([]unix.PollFd, 0, 4), unix.PollFd{Fd: int32(fd), Events: events}), bells)
}

func waitBoth(in, out int, bells ...*bell) bool {
	return poll([]unix.PollFd{{Fd: int32(in), Events: unix.POLLIN}, {Fd: int32(out)}}, bells)
}

func poll(fds []unix.PollFd, bells []*bell) bool {
	for _, b := range bells {
		fds = append(fds, unix.PollFd{Fd: int32(b.read)})
	}
	_, err := unix.Poll(fds, -1)
	return err == nil || err == unix.EINTR
}

// gone says that nobody can read what is written to a pipe.
func gone(pipe int) bool {
	fds := []unix.PollFd{{Fd: int32(pipe)}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&unix.POLLERR != 0
}

// bell wakes whoever polls it, once and for all: a pipe whose writing end is
// closed. The zero value has no pipe and rings for nobody.
type bell struct {
	made        bool
	read, write int
	once        sync.Once
}

func (b *bell) open() error {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return fmt.Errorf("cannot make a pipe: %w", err)
	}
	b.read, b.write, b.made = p[0], p[1], true
	return nil
}

func (b *bell) ring() {
	if b.made {
		b.once.Do(func() { _ = unix.Close(b.write) })
	}
}

func (b *bell) rung() bool {
	fds := []unix.PollFd{{Fd: int32(b.read)}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0
}

// close is called when nobody polls it any more.
func (b *bell) close() {
	if b.made {
		b.ring()
		_ = unix.Close(b.read)
		b.made = false
	}
}
