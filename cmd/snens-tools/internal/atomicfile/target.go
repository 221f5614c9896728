// Package atomicfile creates or replaces one file so that a reader sees the
// old content or the new, never a part, also when the machine stops in between.
//
// Resolve a path first: it follows symbolic links and refuses what is not a
// plain file. Then Replace writes a nameless file in the same folder, syncs
// it, gives it its name in one step and syncs the folder. Owner, mode and
// extended attributes of a replaced file are kept, or the replacement is
// refused; its other hard links keep the old content, and Result says so.
//
// It is for files a person edits. It appends nothing, takes no locks, and is
// no defence against somebody who can write in the folder at the same time.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Target is the file that will be created or replaced.
type Target struct {
	Path string // of the file itself: links are followed
	// Info is nil when the file does not exist yet.
	Info fs.FileInfo
}

// Refusal is an error with a fix for the user; Hint may be empty.
type Refusal struct {
	Message string
	Hint    string
	// Missing: the folder of the file does not exist.
	Missing bool
}

func (r *Refusal) Error() string { return r.Message }

func refuse(hint, format string, a ...any) error {
	return &Refusal{Message: fmt.Sprintf(format, a...), Hint: hint}
}

// Resolve looks at path, follows links, and refuses folders, devices, pipes,
// sockets and links that lead nowhere. Every error is a *Refusal.
func Resolve(path string) (Target, error) {
	if path == "" {
		return Target{}, refuse("", "the path is empty")
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if strings.HasSuffix(path, "/") {
			return Target{}, refuse("leave out the last slash to name a file", "%s names a folder", path)
		}
		return Target{Path: path}, nil
	}
	if err != nil {
		return Target{}, refuse("", "cannot look at %s: %v", path, reason(err))
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return followLink(path)
	}
	return plain(path, info)
}

func followLink(path string) (Target, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		to, _ := os.Readlink(path)
		if errors.Is(err, fs.ErrNotExist) {
			return Target{}, refuse("use the path it leads to, or remove the link",
				"%s is a symbolic link to %s, which does not exist", path, to)
		}
		return Target{}, refuse("", "cannot follow the symbolic link %s to %s: %v", path, to, reason(err))
	}
	info, err := os.Lstat(real)
	if err != nil {
		return Target{}, refuse("", "cannot look at %s: %v", real, reason(err))
	}
	return plain(real, info)
}

func plain(path string, info fs.FileInfo) (Target, error) {
	if !info.Mode().IsRegular() {
		return Target{}, refuse("only plain files are replaced", "%s is %s", path, Kind(info.Mode()))
	}
	return Target{Path: path, Info: info}, nil
}

// Kind names what a mode stands for, with its article: "a folder".
func Kind(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "a file"
	case m.IsDir():
		return "a folder"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "no plain file"
}

// Same says whether two looks at a file saw the same file with the same content.
func Same(a, b fs.FileInfo) bool {
	x, okX := a.Sys().(*syscall.Stat_t)
	y, okY := b.Sys().(*syscall.Stat_t)
	return okX && okY && x.Dev == y.Dev && x.Ino == y.Ino && x.Size == y.Size &&
		x.Mtim == y.Mtim && x.Ctim == y.Ctim
}

// reason strips the call and the path from an error of the os package.
func reason(err error) error {
	var number unix.Errno
	if errors.As(err, &number) {
		return number
	}
	return err
}
