package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/internal/peer"
	"snens/internal/wire"
)

// Options say which broker is asked. Socket is needed.
type Options struct {
	Socket   string        // path of the request socket
	Listener uint32        // uid that must listen: 0, or one's own for --user
	Patience time.Duration // how long a broker that was hung up on may take to say how it ended; 0: 10 s
}

// Client is a connection to the broker, for one goroutine. Close may be called
// by any.
type Client struct {
	conn    *wire.Conn
	uc      *net.UnixConn
	o       Options
	nextID  wire.ID
	greeted bool
}

// crowdWait is how long a broker may be too busy to accept, connectSlice how
// often ctx is looked at meanwhile.
const (
	crowdWait    = 5 * time.Second
	connectSlice = 100 * time.Millisecond
)

// Dial connects, checks who listens and greets. Errors: unreachable,
// untrusted_broker (nothing was sent), busy.
func Dial(ctx context.Context, o Options) (*Client, error) {
	c, err := Connect(ctx, o)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, c.conn.End)
	defer stop()
	if _, err := c.conn.Hello(); err != nil {
		_ = c.conn.Close()
		return nil, c.lost(ctx, err)
	}
	c.greeted = true
	return c, nil
}

// Connect connects and checks who listens. The greeting goes with the first
// request, so what Dial says of it the first method says. Within five seconds
// there has to be one. Errors: unreachable, untrusted_broker (nothing was sent).
func Connect(ctx context.Context, o Options) (*Client, error) {
	if o.Patience == 0 {
		o.Patience = 10 * time.Second
	}
	uc, err := connect(ctx, o.Socket)
	if err != nil {
		return nil, refuse(action.ReasonUnreachable, err, "cannot reach the broker at %s", o.Socket)
	}
	if err := peer.Listener(uc, peer.UID(o.Listener)); err != nil {
		uc.Close()
		return nil, refuse(action.ReasonUntrustedBroker, err, "cannot use the socket %s", o.Socket)
	}
	conn, err := wire.New(uc, wire.Options{})
	if err != nil {
		uc.Close()
		return nil, refuse(action.ReasonUnreachable, err, "cannot talk to the broker at %s", o.Socket)
	}
	return &Client{conn: conn, uc: uc, o: o}, nil
}

// Close hangs up. A request that is not detached is given up by that.
func (c *Client) Close() error {
	c.conn.End()
	return c.uc.Close()
}

// connect waits in the kernel for a place in the queue of a broker that is busy:
// a socket that does not block would get EAGAIN, which nothing tells the end of.
func connect(ctx context.Context, path string) (*net.UnixConn, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "broker")
	defer f.Close()
	slice := unix.NsecToTimeval(int64(connectSlice))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &slice); err != nil {
		return nil, err
	}
	for end := time.Now().Add(crowdWait); ; {
		err := unix.Connect(fd, &unix.SockaddrUnix{Name: path})
		switch {
		case err == nil:
			return adopt(f, fd)
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, unix.EAGAIN) && time.Now().Before(end), errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			return nil, fmt.Errorf("it has not taken the connection for %s", crowdWait)
		default:
			return nil, err
		}
	}
}

// adopt makes a connection of the runtime's of a connected socket.
func adopt(f *os.File, fd int) (*net.UnixConn, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, err
	}
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	uc, ok := conn.(*net.UnixConn)
	if !ok {
		conn.Close()
		return nil, errors.New("it is no Unix socket")
	}
	return uc, nil
}

// lost makes a Refused of an error of the connection before anything was asked.
func (c *Client) lost(ctx context.Context, err error) *Refused {
	var told *wire.Error
	switch {
	case ctx.Err() != nil:
		return refuse(action.ReasonCancelled, ctx.Err(), "cannot wait for the broker any longer")
	case errors.As(err, &told):
		return refusedBy(told)
	}
	return refuse(action.ReasonUnreachable, err, "cannot talk to the broker at %s", c.o.Socket)
}
