package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"snens/internal/safefile"
	"snens/internal/sockets"
)

// The names that the socket units give.
const (
	requestName  = "request"
	approvalName = "approval"
)

// listening is one socket that is listened on.
type listening struct {
	name   string
	path   string
	passed bool // by systemd, who keeps it
	*net.UnixListener
	close func() error
}

// listenAll gets both sockets: the passed ones, and our own for those that are
// not passed. On an error none is left.
func listenAll(s *setup, passed map[string]*net.UnixListener) (request, approval *listening, err error) {
	if request, err = s.listen(requestName, s.request, s.socketGroup, passed); err != nil {
		return nil, nil, err
	}
	if approval, err = s.listen(approvalName, s.approval, s.approvalGroup, passed); err != nil {
		return nil, nil, errors.Join(err, request.close())
	}
	return request, approval, nil
}

func (s *setup) listen(name, path, group string, passed map[string]*net.UnixListener) (*listening, error) {
	perm, err := s.perm(group)
	if err != nil {
		return nil, err
	}
	if l := passed[name]; l != nil {
		path = l.Addr().String()
		if !filepath.IsAbs(path) {
			return nil, failf(exitFailed, "cannot use the passed socket %q: %q is no path, so nothing limits who connects", name, path)
		}
		if err := sockets.CheckPath(path, perm); err != nil {
			return nil, failf(exitFailed, "cannot use the passed socket %q: %w", name, err)
		}
		return &listening{name: name, path: path, passed: true, UnixListener: l, close: l.Close}, nil
	}
	if err := s.socketFolder(filepath.Dir(path)); err != nil {
		return nil, failf(exitFailed, "cannot listen on %s: %w", path, err)
	}
	own, err := sockets.Listen(path, perm)
	if err != nil {
		return nil, failf(exitFailed, "%w", err)
	}
	return &listening{name: name, path: path, UnixListener: own.UnixListener, close: own.Close}, nil
}

// socketFolder makes the folder of a socket where it is missing: open to all
// who are to connect, or one's own alone.
func (s *setup) socketFolder(dir string) error {
	if _, err := os.Lstat(dir); err == nil {
		return nil // sockets.Listen judges it
	}
	if s.user {
		return safefile.EnsurePrivateDir(dir)
	}
	if err := safefile.CheckTrusted(filepath.Dir(dir), 0); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return os.Chmod(dir, 0o755) // whatever the umask
}

func (l *listening) String() string {
	how := "our own"
	if l.passed {
		how = "passed by systemd"
	}
	return fmt.Sprintf("%s (%s, %s)", l.path, l.name, how)
}
