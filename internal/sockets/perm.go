package sockets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Perm says who may connect: write permission is what it takes.
type Perm struct {
	Mode uint32 // 0o660 and such; only the bits for reading and writing
	UID  uint32
	GID  uint32
}

func (p Perm) check() error {
	if p.Mode&^0o666 != 0 || p.Mode&0o200 == 0 {
		return fmt.Errorf("mode %#o is none for a socket; it has bits for reading and writing alone, and its owner may write", p.Mode)
	}
	return nil
}

// CheckPath says whether the socket at path belongs to whom it should and is
// not more open than want. It is for sockets that others made (systemd).
func CheckPath(path string, want Perm) error {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFSOCK:
		return fmt.Errorf("cannot trust %s: it is no socket", path)
	case st.Uid != want.UID || st.Gid != want.GID:
		return fmt.Errorf("cannot trust %s: it belongs to %d:%d, not to %d:%d", path, st.Uid, st.Gid, want.UID, want.GID)
	case st.Mode&0o7777&^want.Mode != 0:
		return fmt.Errorf("cannot trust %s: its mode %#o is wider than %#o; mend SocketMode in the socket unit", path, st.Mode&0o7777, want.Mode)
	}
	return nil
}

// settle gives the socket at path its owner and mode, in the order in which it
// is never wider than configured, and says what it is.
func settle(path string, perm Perm) (unix.Stat_t, error) {
	var st unix.Stat_t
	fd, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return st, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	if err := unix.Fstat(fd, &st); err != nil {
		return st, &fs.PathError{Op: "fstat", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return st, errors.New("another file took its place")
	}
	if st.Uid != perm.UID || st.Gid != perm.GID {
		if err := unix.Fchownat(fd, "", int(perm.UID), int(perm.GID), unix.AT_EMPTY_PATH); err != nil {
			return st, &fs.PathError{Op: "chown", Path: path, Err: err}
		}
	}
	// A path descriptor takes no fchmod; this name leads to the same inode.
	if err := os.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), fs.FileMode(perm.Mode)); err != nil {
		return st, &fs.PathError{Op: "chmod", Path: path, Err: errors.Unwrap(err)}
	}
	return st, nil
}
