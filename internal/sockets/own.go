package sockets

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
	"snens/internal/safefile"
)

// maxPath is what fits into a socket's address with its closing NUL.
const maxPath = 107

// backlog is how many connections wait to be accepted.
const backlog = 512

// ErrInUse says that another process serves the socket.
var ErrInUse = errors.New("another process serves it")

// Socket is a listening socket of our own.
type Socket struct {
	*net.UnixListener
	path     string
	dev, ino uint64
	lock     *safefile.Lock
}

// Listen makes the socket at path, an absolute one in a folder that only root
// and we can write. PATH.lock is held until Close.
func Listen(path string, perm Perm) (*Socket, error) {
	s, err := listen(path, perm)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", path, err)
	}
	return s, nil
}

func listen(path string, perm Perm) (*Socket, error) {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return nil, errors.New("the path must be absolute, without .. and double slashes")
	}
	if len(path) > maxPath {
		return nil, fmt.Errorf("the path has %d bytes; a socket's has at most %d", len(path), maxPath)
	}
	if err := perm.check(); err != nil {
		return nil, err
	}
	if err := safefile.CheckTrusted(filepath.Dir(path), os.Geteuid()); err != nil {
		return nil, err
	}
	lock, err := safefile.TryLock(path + ".lock")
	if errors.Is(err, safefile.ErrLocked) {
		return nil, ErrInUse
	}
	if err != nil {
		return nil, err
	}
	s := &Socket{path: path, lock: lock}
	if err = removeStale(path); err == nil {
		err = s.open(perm)
	}
	if err != nil {
		return nil, errors.Join(err, s.unlock())
	}
	return s, nil
}

// removeStale removes a socket of ours that nobody listens on. The caller holds
// the lock.
func removeStale(path string) error {
	var st unix.Stat_t
	err := unix.Lstat(path, &st)
	switch {
	case err == unix.ENOENT:
		return nil
	case err != nil:
		return &fs.PathError{Op: "lstat", Path: path, Err: err}
	case st.Mode&unix.S_IFMT != unix.S_IFSOCK:
		return errors.New("something that is no socket is in its place; move it away")
	case int(st.Uid) != os.Geteuid() && st.Uid != 0:
		return fmt.Errorf("a socket of uid %d is in its place; remove it", st.Uid)
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	switch err := unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err {
	case nil, unix.EAGAIN, unix.EINPROGRESS:
		return ErrInUse
	case unix.ECONNREFUSED:
		return os.Remove(path)
	default:
		return fmt.Errorf("cannot tell whether somebody listens: %w", err)
	}
}

// open binds, settles and listens, in this order.
func (s *Socket) open(perm Perm) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	// The file is made with the mode that the socket has now, less the umask.
	if err := unix.Fchmod(fd, perm.Mode&0o600); err != nil {
		return err
	}
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: s.path}); err != nil {
		return err
	}
	st, err := settle(s.path, perm)
	if err == nil {
		s.dev, s.ino = st.Dev, st.Ino
		err = plain(fd)
	}
	if err == nil {
		err = unix.Listen(fd, backlog)
	}
	if err == nil {
		s.UnixListener, err = listener(fd)
	}
	if err != nil {
		return errors.Join(err, os.Remove(s.path))
	}
	return nil
}

// Path is where it listens.
func (s *Socket) Path() string { return s.path }

// Close stops listening and removes the socket, if it is still ours, and the
// lock.
func (s *Socket) Close() error {
	var st unix.Stat_t
	var gone error
	if unix.Lstat(s.path, &st) == nil && st.Dev == s.dev && st.Ino == s.ino {
		gone = os.Remove(s.path)
	}
	return errors.Join(s.UnixListener.Close(), gone, s.unlock())
}

// unlock removes the lock file while it is held: who waits for it notices.
func (s *Socket) unlock() error {
	err := os.Remove(s.path + ".lock")
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, s.lock.Unlock())
}
