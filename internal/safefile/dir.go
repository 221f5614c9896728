package safefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// EnsurePrivateDir makes path a folder that is ours alone: missing folders are
// made with mode 0700, and what is there must be a real folder (no symlink),
// belong to the effective uid and be closed to group and others. What it finds
// is never changed: the error says what is wrong and how to mend it. Folders
// above are not judged; use CheckTrusted where others could replace them.
func EnsurePrivateDir(path string) error {
	f, err := OpenPrivateDir(path)
	if errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("cannot make the folder %s: %w", path, err)
		}
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("cannot make the folder: %w", err)
		}
		f, err = OpenPrivateDir(path)
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// CheckNearest judges the nearest folder that exists at path or above it, in
// which the missing ones would be made: it must belong to uid or to root, and
// for root nobody else may be able to change it or put another in its place.
// A home that was kept across su fails: what root makes in it would be in its
// owner's way.
func CheckNearest(path string, uid int) error {
	for {
		info, err := os.Stat(path)
		switch {
		case err == nil && uid == 0:
			return CheckTrusted(path, uid)
		case err == nil:
			st, ok := info.Sys().(*unixStat)
			if !ok || st.Uid != 0 && int64(st.Uid) != int64(uid) {
				return &UntrustedError{Path: path, Rule: fmt.Sprintf("belongs to uid %d", st.Uid)}
			}
			return nil
		case !os.IsNotExist(err):
			return err
		}
		path = filepath.Dir(path)
	}
}

// OpenPrivateDir opens a folder that EnsurePrivateDir would accept, without
// making it. A missing one is fs.ErrNotExist.
func OpenPrivateDir(path string) (*os.File, error) {
	return OpenPrivateDirAt(nil, path, path)
}

// OpenPrivateDirAt does the same for name inside the opened folder dir (nil:
// name is a path of its own); path is for messages.
func OpenPrivateDirAt(dir *os.File, name, path string) (*os.File, error) {
	at := unix.AT_FDCWD
	if dir != nil {
		at = int(dir.Fd())
	}
	// Cleaned, because with a slash at the end O_NOFOLLOW would follow.
	f, err := open(at, filepath.Clean(name), path, openFlags|unix.O_DIRECTORY|unix.O_NOFOLLOW)
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil, notAFolder(at, name, path, err)
	}
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		f.Close()
		return nil, &os.PathError{Op: "fstat", Path: path, Err: err}
	}
	if err := private(path, st, os.Geteuid()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// notAFolder tells a symlink or file in the folder's place from a file among
// the folders above it.
func notAFolder(at int, name, path string, err error) error {
	var st unix.Stat_t
	if unix.Fstatat(at, filepath.Clean(name), &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return &UntrustedError{Path: path, Rule: "is a symlink, not a folder", Fix: "rm " + path}
	}
	return &UntrustedError{Path: path, Rule: "is not a folder", Fix: "move it away"}
}
