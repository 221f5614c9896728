package broker

import (
	"context"
	"errors"
	"net"

	"snens/approval/identity"
	"snens/broker/action"
	"snens/internal/peer"
	"snens/internal/sockets"
	"snens/internal/wire"
)

// Serve serves the connections of l until ctx ends, and then waits for them as
// long as Options.Drain says. It leaves l open.
func (s *Server) Serve(ctx context.Context, l *net.UnixListener) error {
	server := &sockets.Server{
		Gate: s.o.Gate, Closer: s.o.Closer, Handle: s.Handle,
		Refusal: turnedAway, Refused: s.turnedAway,
	}
	return server.Serve(ctx, l)
}

// turnedAway is what a connection hears that never gets a Handle.
func turnedAway(err error) []byte {
	why := action.ReasonDenied // it cannot be told who it is
	if full := new(sockets.FullError); errors.As(err, &full) {
		why = action.ReasonBusy
	}
	return wire.RefusalLine((&refusal{reason: why}).wire())
}

func (s *Server) turnedAway(uid peer.UID, known bool, err error) {
	why := action.ReasonDenied
	if full := new(sockets.FullError); errors.As(err, &full) {
		why = action.ReasonBusy
	}
	if known {
		s.refused.Add(action.UID(uid), why)
	}
}

// Handle serves one connection. It ends soon after ctx, but not before those who
// wait for a request were told of its end, or Options.Drain is over.
func (s *Server) Handle(ctx context.Context, uc *net.UnixConn, p *peer.Peer) {
	uid := uint32(p.UID)
	c, err := wire.New(uc, wire.Options{
		UID: uid, Budget: s.o.Budget, Closer: s.o.Closer, Times: s.o.Times,
		Look: func(socket, want int) error { return s.o.Keeper.Look(uid, socket, want) },
	})
	if err != nil {
		s.o.Problem(err)
		return
	}
	defer c.End()
	// Reading ends, answering does not yet.
	defer context.AfterFunc(ctx, func() { _ = uc.CloseRead() })()
	who, seen := identity.Of(p)
	if who.InAction = s.o.InAction(p); who.InAction {
		s.refused.Add(who.UID, action.ReasonDenied)
		c.Refuse((&refusal{reason: action.ReasonDenied}).wire())
		return
	}
	if _, err := c.Accept(); err != nil {
		c.Refuse(err)
		return
	}
	(&conn{s: s, c: c, who: who, seen: seen, stopping: ctx.Done()}).serve(ctx)
}
