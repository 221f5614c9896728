package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// pending is a new file on its way to its name.
type pending struct {
	folder    *os.File
	dir, base string
	old       fs.FileInfo // nil: nothing is replaced
	file      *os.File
	name      string // its name in the folder, "" while it has none
}

// mayReplace refuses a file that the caller could not write in place: renaming
// over it would get round its mode.
func (p *pending) mayReplace() error {
	if p.old == nil {
		return nil
	}
	err := unix.Faccessat(int(p.folder.Fd()), p.base, unix.W_OK, unix.AT_EACCESS)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EROFS) {
		return refuse("change its mode first, or run it as its owner", "%s is not writable: %v", p.path(), err)
	}
	return nil
}

func (p *pending) path() string { return filepath.Join(p.dir, p.base) }

// create opens the new file, nameless where the file system can, so that a
// killed process leaves nothing behind.
func (p *pending) create() error {
	perm := uint32(0o666)
	if p.old != nil {
		perm = 0o600
	}
	dirfd := int(p.folder.Fd())
	fd, err := unix.Openat(dirfd, ".", unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, perm)
	if err == nil {
		p.file = os.NewFile(uintptr(fd), p.base)
		if _, err := os.Stat(p.procPath()); err == nil {
			return nil
		}
		p.file.Close()
	} else if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EROFS) || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return p.unwritable(err)
	}
	p.name = temporaryName()
	fd, err = unix.Openat(dirfd, p.name, unix.O_CREAT|unix.O_EXCL|unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOFOLLOW, perm)
	if err != nil {
		p.name = ""
		return p.unwritable(err)
	}
	p.file = os.NewFile(uintptr(fd), p.name)
	return nil
}

// temporaryName does not hold the target's name, which may have no byte to spare.
func temporaryName() string { return fmt.Sprintf(".snens-%016x.tmp", rand.Uint64()) }

func (p *pending) procPath() string { return fmt.Sprintf("/proc/self/fd/%d", p.file.Fd()) }

// publish gives the new file its name.
func (p *pending) publish(unchanged bool) error {
	if p.old == nil {
		return p.publishNew()
	}
	if p.name == "" {
		name := temporaryName()
		if err := p.link(name); err != nil {
			return p.unwritable(err)
		}
		p.name = name
	}
	now, err := os.Lstat(p.path())
	if err != nil || !now.Mode().IsRegular() || unchanged && !Same(p.old, now) {
		return ErrChanged
	}
	dirfd := int(p.folder.Fd())
	if err := unix.Renameat(dirfd, p.name, dirfd, p.base); err != nil {
		if errors.Is(err, unix.EBUSY) {
			return refuse("it is a mount point, as files in containers often are", "cannot replace %s: %v", p.path(), err)
		}
		if errors.Is(err, unix.EPERM) {
			return refuse("lsattr shows whether it is immutable", "cannot replace %s: %v", p.path(), err)
		}
		return p.unwritable(err)
	}
	p.name = ""
	return nil
}

// publishNew never replaces: what has appeared meanwhile stays.
func (p *pending) publishNew() error {
	dirfd := int(p.folder.Fd())
	var err error
	if p.name == "" {
		err = p.link(p.base)
	} else if err = unix.Renameat2(dirfd, p.name, dirfd, p.base, unix.RENAME_NOREPLACE); err == nil {
		p.name = ""
	} else if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		// Network file systems: a second name instead, and discard removes the first.
		err = unix.Linkat(dirfd, p.name, dirfd, p.base, 0)
	}
	if errors.Is(err, unix.EEXIST) {
		return ErrChanged
	}
	if err != nil {
		return p.unwritable(err)
	}
	return nil
}

func (p *pending) link(name string) error {
	return unix.Linkat(unix.AT_FDCWD, p.procPath(), int(p.folder.Fd()), name, unix.AT_SYMLINK_FOLLOW)
}

// discard closes the new file and removes it where it has a temporary name.
func (p *pending) discard() {
	p.file.Close()
	if p.name != "" {
		_ = unix.Unlinkat(int(p.folder.Fd()), p.name, 0)
	}
}
