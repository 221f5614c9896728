package spawn

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"snens/internal/safefile"
)

// maxInterpreters bounds the chain of #! lines; the kernel's own limit is near.
const maxInterpreters = 4

// File is what identifies a program or an interpreter.
type File struct {
	Path   string // as it was asked for: absolute, perhaps a symlink
	Dev    uint64
	Inode  uint64
	SHA256 [32]byte // of the content
}

// Opener opens programs. Its methods may be called from several goroutines.
type Opener struct {
	owner int
	cache hashCache
}

// NewOpener makes an Opener for programs that nobody but root and owner can
// have written (see package safefile). The broker's owner is 0.
func NewOpener(owner int) *Opener { return &Opener{owner: owner} }

// Program is an opened program with its chain of interpreters.
type Program struct {
	opener *Opener
	files  []opened // the executable, then its interpreters, outermost first
}

type opened struct {
	File
	fd    int
	stamp stamp
	setID uint32 // the set-uid and set-gid bits of its mode
	caps  bool   // it has capabilities of its own
	owner uint32
	group uint32
}

// ChangedError says that a program is no longer the one it was.
type ChangedError struct {
	Path string // of the program or interpreter
	What string // "its content", "another file is there" ...
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("cannot run %s: it has changed: %s", e.Path, e.What)
}

// Open opens and hashes the program at path, an absolute path, and whatever its
// #! lines name. A path that somebody else can write is a
// *safefile.UntrustedError; a missing file is fs.ErrNotExist. No open has an
// effect on a device or waits for a FIFO.
func (o *Opener) Open(path string) (*Program, error) {
	p := &Program{opener: o}
	for next := path; ; {
		if len(p.files) > maxInterpreters {
			p.Close()
			return nil, fmt.Errorf("cannot run %s: more than %d interpreters stand behind it", path, maxInterpreters)
		}
		f, err := o.open(next)
		if err != nil {
			p.Close()
			if next != path {
				return nil, fmt.Errorf("cannot run %s, whose #! line names %q: %w", path, next, err)
			}
			return nil, err
		}
		p.files = append(p.files, f)
		if next, err = interpreter(f.fd); err != nil {
			p.Close()
			return nil, fmt.Errorf("cannot run %s: %w", f.Path, err)
		}
		if next == "" {
			return p, nil
		}
	}
}

// open opens and hashes one file. From the check of the path on only root and
// the owner can change what is there; the file in hand is checked once more.
func (o *Opener) open(path string) (f opened, err error) {
	if !filepath.IsAbs(path) || strings.IndexByte(path, 0) >= 0 {
		return f, fmt.Errorf("cannot open %q: a program is named by an absolute path", path)
	}
	if err := safefile.CheckTrusted(path, o.owner); err != nil {
		return f, err
	}
	handle, err := openPath(path)
	if err != nil {
		return f, err
	}
	defer handle.Close()
	info, err := handle.Stat()
	if err != nil {
		return f, fmt.Errorf("cannot open %s: %w", path, err)
	}
	if !info.Mode().IsRegular() {
		return f, fmt.Errorf("cannot run %s: it is not a regular file", path)
	}
	if err := safefile.CheckEntry(path, info, o.owner); err != nil {
		return f, err
	}
	f = opened{File: File{Path: path}, fd: -1}
	f.fd, err = reopen(int(handle.Fd()))
	if err != nil {
		return f, fmt.Errorf("cannot read %s: %w", path, err)
	}
	if err := o.identify(&f); err != nil {
		unix.Close(f.fd)
		return f, err
	}
	return f, nil
}

// openPath opens without any effect on what is there.
func openPath(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

func reopen(handle int) (int, error) {
	for {
		fd, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", handle),
			unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

func (o *Opener) identify(f *opened) error {
	var st unix.Stat_t
	if err := unix.Fstat(f.fd, &st); err != nil {
		return fmt.Errorf("cannot stat %s: %w", f.Path, err)
	}
	f.stamp, f.setID, f.owner, f.group = stampOf(st), st.Mode&(unix.S_ISUID|unix.S_ISGID), st.Uid, st.Gid
	f.Dev, f.Inode = st.Dev, st.Ino
	n, err := unix.Fgetxattr(f.fd, "security.capability", nil)
	f.caps = err == nil && n > 0
	sum, err := o.cache.sum(f.fd, f.stamp)
	if err != nil {
		return fmt.Errorf("cannot hash %s: %w", f.Path, err)
	}
	f.SHA256 = sum
	return nil
}

// Files identifies the executable, then its interpreters, outermost first.
func (p *Program) Files() []File {
	list := make([]File, len(p.files))
	for i, f := range p.files {
		list[i] = f.File
	}
	return list
}

// Same returns nil when the program is the one that Files described before;
// else the *ChangedError names the first difference.
func (p *Program) Same(before []File) error {
	if len(before) == 0 {
		return errors.New("cannot compare a program with nothing")
	}
	for i, was := range before {
		if i >= len(p.files) {
			return &ChangedError{was.Path, "it is not its interpreter any more"}
		}
		if err := p.files[i].File.same(was); err != nil {
			return err
		}
	}
	if len(p.files) > len(before) {
		return &ChangedError{p.files[len(before)].Path, "it is an interpreter now"}
	}
	return nil
}

func (f File) same(was File) error {
	switch {
	case f.Path != was.Path:
		return &ChangedError{was.Path, "it is " + f.Path + " now"}
	case f.SHA256 != was.SHA256:
		return &ChangedError{f.Path, fmt.Sprintf("its content has the SHA-256 %x, not %x", f.SHA256, was.SHA256)}
	case f.Dev != was.Dev || f.Inode != was.Inode:
		return &ChangedError{f.Path, "another file is there, with the same content"}
	}
	return nil
}

// script says that the kernel starts it through an interpreter.
func (p *Program) script() bool { return len(p.files) > 1 }

// image is what the kernel really executes.
func (p *Program) image() opened { return p.files[len(p.files)-1] }

// recheck makes sure, right before a start, that what is in hand still has the
// content that was hashed; of a script also that the paths still lead to it.
func (p *Program) recheck() error {
	if len(p.files) == 0 {
		return errors.New("cannot run a program that was closed")
	}
	if p.script() {
		now, err := p.opener.Open(p.files[0].Path)
		if err != nil {
			return err
		}
		defer now.Close()
		return now.Same(p.Files())
	}
	now := p.files[0]
	if err := p.opener.identify(&now); err != nil {
		return err
	}
	return now.File.same(p.files[0].File)
}

// Close gives the descriptors back. Once is enough.
func (p *Program) Close() {
	for _, f := range p.files {
		unix.Close(f.fd)
	}
	p.files = nil
}
