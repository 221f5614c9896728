package approval

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"snens/approval/identity"
	"snens/approval/prompt"
	"snens/broker/action"
	"snens/internal/peer"
	"snens/internal/sockets"
	"snens/internal/wire"
)

// farewell is how long somebody may take to hear that the server ends.
const farewell = time.Second

// Serve serves the connections of l until ctx ends, and then waits for them; none
// takes long. It leaves l open.
func (s *Server) Serve(ctx context.Context, l *net.UnixListener) error {
	server := &sockets.Server{
		Gate: s.o.Gate, Closer: s.o.Closer, Handle: s.Handle,
		Refusal: turnedAway, Refused: s.turnedAway,
	}
	return server.Serve(ctx, l)
}

// turnedAway is what a connection hears that never gets a Handle.
func turnedAway(err error) []byte { return wire.RefusalLine(told(whyAway(err))) }

func (s *Server) turnedAway(uid peer.UID, known bool, err error) {
	if known {
		s.refused.Add(action.UID(uid), whyAway(err))
	}
}

func whyAway(err error) action.Reason {
	if full := new(sockets.FullError); errors.As(err, &full) {
		return action.ReasonBusy
	}
	return action.ReasonDenied // it cannot be told who it is
}

// Handle serves one connection. It ends soon after ctx.
func (s *Server) Handle(ctx context.Context, uc *net.UnixConn, p *peer.Peer) {
	c, err := wire.New(uc, wire.Options{UID: uint32(p.UID), Budget: s.o.Budget, Closer: s.o.Closer, Times: s.o.Times})
	if err != nil {
		s.o.Problem(err)
		return
	}
	defer c.End()
	defer bound(ctx, uc, c)()
	who, seen := s.identity(p)
	if who.InAction {
		s.refused.Add(who.UID, action.ReasonDenied)
		c.Refuse(told(action.ReasonDenied))
		return
	}
	if _, err := c.Accept(); err != nil {
		c.Refuse(err)
		return
	}
	(&conn{s: s, c: c, who: who, seen: seen, stopping: ctx}).serve()
}

// bound ends the reading when ctx ends, and a little later the connection, which
// somebody who does not read would hold up. done ends the watch for that.
func bound(ctx context.Context, uc *net.UnixConn, c *wire.Conn) (done func()) {
	over := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		select {
		case <-over:
			return
		case <-ctx.Done():
		}
		_ = uc.CloseRead()
		late := time.NewTimer(farewell)
		defer late.Stop()
		select {
		case <-over:
		case <-late.C:
			c.End()
		}
	})
	return func() {
		close(over)
		work.Wait()
	}
}

// identity is who the peer is, with what is looked at here beside it.
func (s *Server) identity(p *peer.Peer) (prompt.Peer, action.Seen) {
	who, seen := identity.Of(p)
	who.InAction = s.o.InAction(p)
	who.Terminal = s.o.Terminal != nil && s.o.Terminal(p)
	who.Supervised = s.o.Supervised != nil && s.o.Supervised(p)
	return who, seen
}
