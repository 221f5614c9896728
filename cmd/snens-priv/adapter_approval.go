package main

import (
	"context"
	"net"

	"snens/broker/action"
	"snens/internal/peer"
	"snens/internal/sockets"
	"snens/internal/wire"
)

// newApprovals makes the server of the approval socket.
func (d *daemon) newApprovals(func(*peer.Peer) bool, action.UID) (server, error) {
	return nobody{&sockets.Server{Gate: sockets.NewGate(sockets.DefaultLimits()), Closer: d.carrier, Handle: refuse}}, nil
}

// nobody approves: until there is a server for approvers, they are refused.
type nobody struct{ *sockets.Server }

func (nobody) Close() {}

func refuse(_ context.Context, uc *net.UnixConn, _ *peer.Peer) {
	if c, err := wire.New(uc, wire.Options{}); err == nil {
		c.Refuse(wire.Errorf(wire.Code(action.ReasonDenied.String()), "%s", action.ReasonDenied.Text()))
		c.End()
	}
}
