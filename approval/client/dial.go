package client

import (
	"context"
	"errors"
	"net"

	"snens/broker/action"
	"snens/internal/dial"
	"snens/internal/peer"
	"snens/internal/wire"
)

// Options say which broker is asked. Socket is needed.
type Options struct {
	Socket   string // path of the approval socket
	Listener uint32 // uid that must listen: 0, or one's own for --user
}

// Client is a connection to the broker, for one goroutine. Close may be called
// by any.
type Client struct {
	conn   *wire.Conn
	uc     *net.UnixConn
	o      Options
	nextID wire.ID
}

// Dial connects, checks who listens and greets. Errors: unreachable,
// untrusted_broker (nothing was sent), busy.
func Dial(ctx context.Context, o Options) (*Client, error) {
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
	c := &Client{conn: conn, uc: uc, o: o}
	stop := context.AfterFunc(ctx, conn.End)
	defer stop()
	if _, err := conn.Hello(); err != nil {
		_ = conn.Close()
		return nil, c.lost(ctx, err)
	}
	return c, nil
}

// Close hangs up.
func (c *Client) Close() error {
	c.conn.End()
	return c.uc.Close()
}

// lost makes a Refused of an error of the connection.
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
