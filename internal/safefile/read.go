package safefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// openFlags never hang on a FIFO, never acquire a terminal and never leak.
const openFlags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC

// ErrTooBig is part of the error for a file above the size limit.
var ErrTooBig = errors.New("the file is too big")

// ReadFile reads a regular file of at most limit bytes; symlinks are followed.
// Anything else (a folder, FIFO, socket, device) is an error, at once. A missing
// file is fs.ErrNotExist.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := open(unix.AT_FDCWD, path, path, openFlags)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := regular(f, path); err != nil {
		return nil, err
	}
	return readLimited(f, path, limit)
}

// ReadPrivate reads a file as ReadFile does, but the file itself must be no
// symlink, belong to the effective uid and be closed to group and others.
func ReadPrivate(path string, limit int64) ([]byte, error) {
	f, err := OpenPrivate(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readLimited(f, path, limit)
}

// OpenPrivate opens for reading what ReadPrivate would read.
func OpenPrivate(path string) (*os.File, error) {
	return openPrivateAt(unix.AT_FDCWD, path, path, openFlags)
}

// openPrivateAt opens name in the folder dir; path is for messages.
func openPrivateAt(dir int, name, path string, flags int) (*os.File, error) {
	f, err := open(dir, name, path, flags|unix.O_NOFOLLOW)
	if errors.Is(err, unix.ELOOP) {
		return nil, &UntrustedError{Path: path, Rule: "is a symlink", Fix: "rm " + path}
	}
	if err != nil {
		return nil, err
	}
	st, err := regular(f, path)
	if err == nil {
		err = private(path, st, os.Geteuid())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReadTrusted reads a file that CheckTrusted accepts for uid: the very file
// that was checked, whatever happens to the path meanwhile.
func ReadTrusted(path string, uid int, limit int64) ([]byte, error) {
	w, err := walkTrusted(path, uid)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if w.name == "" {
		return nil, fmt.Errorf("cannot read %s: it is a folder", path)
	}
	f, err := open(int(w.dir.Fd()), w.name, path, openFlags|unix.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := regular(f, path)
	if err != nil {
		return nil, err
	}
	// The entry may have been replaced since the walk (by root or uid, as the
	// folder shows): what counts is the file in hand.
	if err := broken(path, path, checkOwner(st.Uid, uid), checkMode(st.Mode, true)); err != nil {
		return nil, err
	}
	return readLimited(f, path, limit)
}

func open(dir int, name, path string, flags int) (*os.File, error) {
	for {
		fd, err := unix.Openat(dir, name, flags, 0o600)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
		return os.NewFile(uintptr(fd), path), nil
	}
}

// regular returns what the opened file is, or an error when it is no regular file.
func regular(f *os.File, path string) (st unix.Stat_t, err error) {
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return st, &os.PathError{Op: "fstat", Path: path, Err: err}
	}
	kind := ""
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return st, nil
	case unix.S_IFDIR:
		kind = "a folder"
	case unix.S_IFIFO:
		kind = "a FIFO"
	default:
		kind = "a device"
	}
	return st, fmt.Errorf("cannot read %s: it is %s, not a regular file", path, kind)
}

// private says why an opened file or folder is not uid's alone.
func private(path string, st unix.Stat_t, uid int) error {
	if int64(st.Uid) != int64(uid) {
		return &UntrustedError{Path: path, Rule: fmt.Sprintf("belongs to uid %d, not to uid %d", st.Uid, uid)}
	}
	if st.Mode&0o077 != 0 {
		return &UntrustedError{
			Path: path, Rule: fmt.Sprintf("is open to others (mode %04o)", st.Mode&0o7777), Fix: "chmod go= " + path,
		}
	}
	return nil
}

// readLimited reads all of f, which may grow meanwhile.
func readLimited(f *os.File, path string, limit int64) ([]byte, error) {
	var b bytes.Buffer
	if info, err := f.Stat(); err == nil {
		b.Grow(int(min(info.Size(), limit)) + bytes.MinRead) // in one piece, as a rule
	}
	if _, err := b.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	if int64(b.Len()) > limit {
		return nil, fmt.Errorf("cannot read %s: %w (limit %d bytes)", path, ErrTooBig, limit)
	}
	return b.Bytes(), nil
}
