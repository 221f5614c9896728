package safefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// UntrustedError says which component of a path breaks which rule.
type UntrustedError struct {
	Path      string // as asked
	Component string // absolute; "" when it is the path itself
	Rule      string // "belongs to uid 1000", "is writable by others (mode 0777)"
	Fix       string // a command or an advice; may be ""
}

func (e *UntrustedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cannot trust %s: ", e.Path)
	if e.Component == e.Path || e.Component == "" {
		b.WriteString("it ")
	} else {
		b.WriteString(e.Component + " ")
	}
	b.WriteString(e.Rule)
	if e.Fix != "" {
		b.WriteString("; fix: " + e.Fix)
	}
	return b.String()
}

// CheckTrusted returns nil when nobody but root and uid can change the file or
// folder at path or put another in its place (see the package comment). The
// error is an *UntrustedError where a rule is broken, else the system's.
func CheckTrusted(path string, uid int) error {
	w, err := walkTrusted(path, uid)
	if err != nil {
		return err
	}
	w.close()
	return nil
}

// CheckEntry applies the rule to one component alone: info must come from
// Lstat or from an opened file. It is for folders with many entries, whose own
// path CheckTrusted has checked already.
func CheckEntry(path string, info os.FileInfo, uid int) error {
	st, ok := info.Sys().(*unixStat)
	if !ok {
		return fmt.Errorf("cannot check %s: no owner is known", path)
	}
	return broken(path, path, checkOwner(st.Uid, uid), checkMode(st.Mode, true))
}

// maxLinks bounds how many symlinks one path may go through, as the kernel does.
const maxLinks = 40

// walk is a path in the course of being resolved.
type walk struct {
	asked string
	uid   int
	dir   *os.File // O_PATH, checked; the folder that holds the next component
	at    string   // its path, without symlinks
	rest  []string // components still to be taken
	links int

	name string // the last component, in dir; "" when the path is a folder above
	stat unix.Stat_t
}

func (w *walk) close() {
	if w.dir != nil {
		w.dir.Close()
	}
}

// walkTrusted resolves path and checks every component. The caller closes the result.
func walkTrusted(path string, uid int) (*walk, error) {
	if path == "" {
		return nil, errors.New("cannot check an empty path")
	}
	if strings.IndexByte(path, 0) >= 0 {
		return nil, fmt.Errorf("cannot check %q: it contains a NUL byte", path)
	}
	full := path
	if !filepath.IsAbs(path) {
		wd, err := os.Getwd()
		if err != nil {
			return nil, fmt.Errorf("cannot check %s: %w", path, err)
		}
		full = wd + "/" + path // not cleaned: a .. after a symlink means the target's parent
	}
	w := &walk{asked: path, uid: uid}
	if err := w.run(full); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *walk) run(path string) error {
	if err := w.enterRoot(); err != nil {
		return err
	}
	w.rest = components(path)
	for len(w.rest) > 0 {
		if err := w.step(); err != nil {
			return err
		}
	}
	if w.name == "" { // a folder: as the last component it must not be sticky and open
		return broken(w.asked, w.at, checkMode(w.stat.Mode, true))
	}
	return nil
}

// components splits a path; a slash at the end asks for a folder, as does ".".
func components(path string) []string {
	var out []string
	for c := range strings.SplitSeq(path, "/") {
		if c != "" {
			out = append(out, c)
		}
	}
	if strings.HasSuffix(path, "/") {
		out = append(out, ".")
	}
	return out
}

func (w *walk) enterRoot() error {
	fd, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("cannot open /: %w", err)
	}
	return w.enter(os.NewFile(uintptr(fd), "/"), "/")
}

// enter makes f, a folder, the current one after checking it.
func (w *walk) enter(f *os.File, path string) error {
	w.close()
	w.dir, w.at, w.name = f, path, ""
	if err := unix.Fstat(int(f.Fd()), &w.stat); err != nil {
		return fmt.Errorf("cannot stat %s: %w", path, err)
	}
	return broken(w.asked, path, checkOwner(w.stat.Uid, w.uid), checkMode(w.stat.Mode, false))
}

// step takes one component.
func (w *walk) step() error {
	if w.name != "" {
		return fmt.Errorf("cannot check %s: %s is not a folder", w.asked, filepath.Join(w.at, w.name))
	}
	name := w.rest[0]
	w.rest = w.rest[1:]
	path := filepath.Join(w.at, name)
	fd, err := unix.Openat(int(w.dir.Fd()), name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("cannot check %s: %w", w.asked, &os.PathError{Op: "open", Path: path, Err: err})
	}
	f := os.NewFile(uintptr(fd), path)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		f.Close()
		return fmt.Errorf("cannot stat %s: %w", path, err)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return w.enter(f, path)
	case unix.S_IFLNK:
		defer f.Close()
		return w.follow(f, path, st)
	case unix.S_IFREG:
		f.Close()
		w.name, w.stat = name, st
		return broken(w.asked, path, checkOwner(st.Uid, w.uid), checkMode(st.Mode, true))
	}
	f.Close()
	return &UntrustedError{Path: w.asked, Component: path, Rule: "is neither a file nor a folder"}
}

// follow puts a symlink's target in front of what is left.
func (w *walk) follow(f *os.File, path string, st unix.Stat_t) error {
	if err := broken(w.asked, path, checkOwner(st.Uid, w.uid)); err != nil {
		return err
	}
	if w.links++; w.links > maxLinks {
		return fmt.Errorf("cannot check %s: more than %d symlinks", w.asked, maxLinks)
	}
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(int(f.Fd()), "", buf)
	if err != nil {
		return fmt.Errorf("cannot read the link %s: %w", path, err)
	}
	target := string(buf[:n])
	w.rest = append(components(target), w.rest...)
	if filepath.IsAbs(target) {
		return w.enterRoot()
	}
	return nil
}
