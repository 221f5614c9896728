package client

import (
	"context"
	"errors"
	"net"
	"time"

	"snens/broker/action"
	"snens/internal/dial"
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
	uc, err := dial.Unix(ctx, o.Socket, o.Listener)
	if untrusted := new(peer.ListenerError); errors.As(err, &untrusted) {
		return nil, refuse(action.ReasonUntrustedBroker, err, "cannot use the socket %s", o.Socket)
	}
	if err != nil {
		return nil, refuse(action.ReasonUnreachable, err, "cannot reach the broker at %s", o.Socket)
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
