package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Options says how a file is replaced. The zero value is right for most.
type Options struct {
	// Perm is the mode of the result, permission bits only. nil: as the file
	// had it, or 0666 less the umask for a new one.
	Perm *fs.FileMode
	// Unchanged demands that the file is still the one of Target.Info, content
	// included, when the new one takes its place: ErrChanged otherwise.
	Unchanged bool
}

// ErrChanged: the file was changed by somebody else in the meantime, or
// appeared where none was.
var ErrChanged = errors.New("the file was changed by somebody else in the meantime")

// Result is what Replace did.
type Result struct {
	Created bool
	Bytes   int64
	Lines   int64 // newlines, plus one for a last line without
	// OtherLinks is how many hard links still hold the old content.
	OtherLinks int
	// LostAttributes are the names of extended attributes that could not be kept.
	LostAttributes []string
}

// Replace reads src to its end and makes it the content of the target. Every
// error but ErrChanged is a *Refusal, and the old file is as it was.
func (t Target) Replace(src io.Reader, o Options) (Result, error) {
	dir, base := filepath.Dir(t.Path), filepath.Base(t.Path)
	folder, err := os.Open(dir)
	if err != nil {
		return Result{}, &Refusal{
			Message: fmt.Sprintf("cannot open the folder %s: %v", dir, reason(err)),
			Missing: errors.Is(err, fs.ErrNotExist),
		}
	}
	defer folder.Close()
	p := pending{folder: folder, dir: dir, base: base, old: t.Info}
	if err := p.mayReplace(); err != nil {
		return Result{}, err
	}
	if err := p.create(); err != nil {
		return Result{}, err
	}
	defer p.discard()
	result := Result{Created: t.Info == nil}
	if err := p.fill(src, &result); err != nil {
		return Result{}, err
	}
	if result.LostAttributes, err = p.adopt(t.Path, o.Perm); err != nil {
		return Result{}, err
	}
	if err := p.file.Sync(); err != nil {
		return Result{}, p.unwritable(err)
	}
	if t.Info != nil {
		if st, ok := t.Info.Sys().(*syscall.Stat_t); ok {
			result.OtherLinks = int(st.Nlink) - 1
		}
	}
	if err := p.publish(o.Unchanged); err != nil {
		return Result{}, err
	}
	// The name is in place; a folder that cannot be synced (some network file
	// systems) does not make the write wrong.
	_ = folder.Sync()
	return result, nil
}

// fill copies src into the new file and counts.
func (p *pending) fill(src io.Reader, r *Result) error {
	buf := make([]byte, 128<<10)
	last := byte('\n')
	for {
		n, readErr := src.Read(buf)
		if n > 0 {
			r.Lines += int64(bytes.Count(buf[:n], []byte{'\n'}))
			last = buf[n-1]
			if _, err := p.file.Write(buf[:n]); err != nil {
				return p.unwritable(err)
			}
			r.Bytes += int64(n)
		}
		if readErr == io.EOF {
			break
		}
		if readErr != nil {
			return refuse("", "cannot read the content: %v", reason(readErr))
		}
	}
	if last != '\n' {
		r.Lines++
	}
	return nil
}

// adopt gives the new file the owner, mode and attributes of the old one.
func (p *pending) adopt(path string, perm *fs.FileMode) (lost []string, err error) {
	fd := int(p.file.Fd())
	if p.old == nil {
		if perm != nil {
			err = unix.Fchmod(fd, uint32(perm.Perm()))
		}
		if err != nil {
			return nil, refuse("", "cannot set the mode of %s: %v", path, err)
		}
		return nil, nil
	}
	st, ok := p.old.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, refuse("", "cannot tell the owner of %s", path)
	}
	var now unix.Stat_t
	if err := unix.Fstat(fd, &now); err != nil {
		return nil, refuse("", "cannot look at the new file: %v", err)
	}
	if now.Uid != st.Uid || now.Gid != st.Gid {
		if err := unix.Fchown(fd, int(st.Uid), int(st.Gid)); err != nil {
			return nil, refuse("run it as the owner, or as root",
				"cannot replace %s and keep its owner %d:%d: %v", path, st.Uid, st.Gid, err)
		}
	}
	// After the change of owner, which clears the set-id bits.
	mode := st.Mode & 0o7777
	if perm != nil {
		mode = uint32(perm.Perm())
	}
	if err := unix.Fchmod(fd, mode); err != nil {
		return nil, refuse("", "cannot keep the mode of %s: %v", path, err)
	}
	return copyAttributes(path, fd, perm != nil), nil
}

// unwritable turns a failed write into words.
func (p *pending) unwritable(err error) error {
	err = reason(err)
	switch {
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return refuse("free some space and try again; nothing was changed", "cannot write in %s: %v", p.dir, err)
	case errors.Is(err, unix.EROFS):
		return refuse("", "cannot write in %s: the file system is mounted read-only", p.dir)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return refuse("a new file takes the place of the old one in one step, which needs write permission on the folder",
			"cannot write in the folder %s: %v", p.dir, err)
	}
	return refuse("", "cannot write in %s: %v", p.dir, err)
}

// copyAttributes copies extended attributes (access lists, labels) from path
// to fd and returns the names of those that could not be copied. Capabilities
// are left behind, as the kernel drops them on every write.
func copyAttributes(path string, fd int, newMode bool) []string {
	var lost []string
	for _, name := range attributeNames(path) {
		if name == "security.capability" || newMode && name == "system.posix_acl_access" {
			continue
		}
		size, err := unix.Lgetxattr(path, name, nil)
		if err == nil {
			value := make([]byte, size)
			if size, err = unix.Lgetxattr(path, name, value); err == nil {
				err = unix.Fsetxattr(fd, name, value[:size], 0)
			}
		}
		if err != nil {
			lost = append(lost, name)
		}
	}
	return lost
}

func attributeNames(path string) []string {
	size, err := unix.Llistxattr(path, nil)
	if err != nil || size == 0 {
		return nil
	}
	buf := make([]byte, size)
	if size, err = unix.Llistxattr(path, buf); err != nil {
		return nil
	}
	var names []string
	start := 0
	for i, c := range buf[:size] {
		if c == 0 {
			names = append(names, string(buf[start:i]))
			start = i + 1
		}
	}
	return names
}

// Notes are the lines a person should read beside the result.
func (r Result) Notes() []string {
	var notes []string
	if r.OtherLinks > 0 {
		notes = append(notes, fmt.Sprintf("other hard links to the file, which keep the old content: %d", r.OtherLinks))
	}
	if len(r.LostAttributes) > 0 {
		notes = append(notes, fmt.Sprintf("extended attributes not kept: %v", r.LostAttributes))
	}
	return notes
}
