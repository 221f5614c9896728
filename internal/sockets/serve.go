package sockets

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"snens/internal/peer"
)

// Closer closes where closing can block: wire.Closer.
type Closer interface {
	Later(uid uint32, f func())
}

// Server says what to do with connections. Gate, Closer and Handle are needed.
type Server struct {
	Gate   *Gate
	Closer Closer

	// Handle has one connection, and its goroutine, from the first byte on. It
	// returns soon after ctx has ended. It neither closes the connection nor the
	// peer; ending the connection (wire.Conn.End) is enough.
	Handle func(ctx context.Context, c *net.UnixConn, p *peer.Peer)

	// Refusal gives what a refused peer is told before it is hung up on, at most
	// a line; nil for nothing. It is sent without waiting.
	Refusal func(err error) []byte

	// Refused hears of every refusal; nil for nobody. The error is a *FullError,
	// or one of package peer; known says whether uid means something. It must not
	// block.
	Refused func(uid peer.UID, known bool, err error)
}

const (
	// pauseAfterFault is between accepts when the system has no descriptors or
	// memory left.
	pauseAfterFault = 50 * time.Millisecond
	// maxUnclean is how many refused connections with descriptors in them may
	// wait to be closed before no further one is accepted.
	maxUnclean = 128
)

// Serve accepts until ctx ends and then waits for every Handle. It leaves l
// open. The error is why accepting ended otherwise, nil after ctx.
func (s *Server) Serve(ctx context.Context, l *net.UnixListener) error {
	var handlers sync.WaitGroup
	defer handlers.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // before waiting, so that the handlers end
	if err := l.SetDeadline(time.Time{}); err != nil {
		return fmt.Errorf("cannot accept: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = l.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	a := &accepting{Server: s, scratch: make([]byte, scratchSize), unclean: make(chan struct{}, maxUnclean)}
	for ctx.Err() == nil {
		c, err := l.AcceptUnix()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				a.hangUp(ctx, unknown, c)
			}
		case err == nil:
			a.admit(ctx, c, &handlers)
		case exhausted(err):
			pause(ctx, pauseAfterFault)
		default:
			return fmt.Errorf("cannot accept: %w", err)
		}
	}
	return nil
}

func exhausted(err error) bool {
	for _, e := range []error{unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// accepting is the state of one Serve.
type accepting struct {
	*Server
	scratch []byte
	unclean chan struct{}
}

// admit gives a connection its place, its identity and its goroutine.
func (a *accepting) admit(ctx context.Context, c *net.UnixConn, handlers *sync.WaitGroup) {
	uid, err := peer.User(c)
	if err != nil {
		a.refuse(ctx, unknown, c, err)
		return
	}
	leave, err := a.Gate.Enter(uint32(uid))
	if err != nil {
		a.refuse(ctx, uid, c, err)
		return
	}
	p, err := peer.Identify(c)
	if err != nil {
		leave()
		a.refuse(ctx, uid, c, err)
		return
	}
	handlers.Go(func() {
		defer func() {
			p.Close()
			// The place is free when the descriptor is.
			a.Closer.Later(uint32(uid), func() { c.Close(); leave() })
		}()
		a.Handle(ctx, c, p)
	})
}

// unknown stands for a peer without a uid; no process has it.
const unknown = ^peer.UID(0)

func (a *accepting) refuse(ctx context.Context, uid peer.UID, c *net.UnixConn, err error) {
	if a.Refusal != nil {
		say(c, a.Refusal(err))
	}
	if a.Refused != nil {
		a.Refused(uid, uid != unknown, err)
	}
	a.hangUp(ctx, uid, c)
}

// say sends what fits at once.
func say(c *net.UnixConn, line []byte) {
	control(c, func(fd int) {
		_, _ = unix.SendmsgN(fd, line, nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	})
}

func control(c *net.UnixConn, f func(fd int)) {
	raw, err := c.SyscallConn()
	if err == nil {
		_ = raw.Control(func(fd uintptr) { f(int(fd)) })
	}
}

// scratchSize is above what a sender can have in a socket's queue by default.
const scratchSize = 256 << 10

// hangUp closes a connection that nobody handles. Closing one that has
// descriptors in its queue closes those too and can block, so that is a
// worker's; the many others are closed here, which bounds how many are open.
func (a *accepting) hangUp(ctx context.Context, uid peer.UID, c *net.UnixConn) {
	clean := false
	control(c, func(fd int) {
		_ = unix.Shutdown(fd, syscall.SHUT_RDWR) // nothing can come any more
		n, _, flags, _, err := unix.Recvmsg(fd, a.scratch, nil, unix.MSG_PEEK|unix.MSG_DONTWAIT)
		clean = err == nil && n < len(a.scratch) && flags&unix.MSG_CTRUNC == 0
	})
	if clean {
		c.Close()
		return
	}
	select {
	case a.unclean <- struct{}{}:
	case <-ctx.Done():
		// No more are accepted, so one more than allowed does no harm.
		a.Closer.Later(uint32(uid), func() { c.Close() })
		return
	}
	a.Closer.Later(uint32(uid), func() { c.Close(); <-a.unclean })
}
