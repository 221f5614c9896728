// Package dial connects clients to the sockets of a broker, and makes sure who
// listens before anything is said: whoever knows the path of a socket can put
// another in its place.
//
//	uc, err := dial.Unix(ctx, "/run/snens-priv/request.sock", 0)
//
// What is spoken then is package wire's, and the caller closes the connection.
package dial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/peer"
)

// crowdWait is how long a broker may be too busy to accept, slice how often ctx
// is looked at meanwhile.
const (
	crowdWait = 5 * time.Second
	slice     = 100 * time.Millisecond
)

// Unix connects to the socket at path. The process that listens must do so as uid
// listener: 0 for the system's broker, one's own for --user. When it does not, or
// that cannot be told, the error is a *peer.ListenerError, and nothing was sent.
func Unix(ctx context.Context, path string, listener uint32) (*net.UnixConn, error) {
	uc, err := connect(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := peer.Listener(uc, peer.UID(listener)); err != nil {
		uc.Close()
		return nil, err
	}
	return uc, nil
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
	limit := unix.NsecToTimeval(int64(slice))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &limit); err != nil {
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
