package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"snens/internal/safefile"
)

// Segment is one file of the log.
type Segment struct {
	Name  string
	First uint64 // the number of its first record, by its name
}

const (
	segmentPrefix = "audit-"
	segmentSuffix = ".jsonl"
	segmentMode   = 0o640
)

func segmentName(first uint64) string {
	return fmt.Sprintf("%s%020d%s", segmentPrefix, first, segmentSuffix)
}

func parseSegment(name string) (Segment, bool) {
	digits := strings.TrimSuffix(strings.TrimPrefix(name, segmentPrefix), segmentSuffix)
	first, err := strconv.ParseUint(digits, 10, 64)
	return Segment{name, first}, err == nil && first > 0 && segmentName(first) == name
}

// Segments lists the files of the log in a folder, oldest first. Files with
// other names are not part of it.
func Segments(dir string) ([]Segment, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot list the audit log: %w", err)
	}
	var all []Segment
	for _, e := range entries {
		if s, ok := parseSegment(e.Name()); ok {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b Segment) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// openDir opens the folder of the log, made 0750 when missing. Nobody but root
// and us may be able to put files there, and it must be the folder itself: a
// link would let the log be pointed elsewhere.
func openDir(path string) (*os.File, error) {
	fail := func(err error) (*os.File, error) {
		return nil, fmt.Errorf("cannot use %s for the audit log: %w", path, err)
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.Mkdir(path, 0o750); err != nil && !errors.Is(err, fs.ErrExist) {
			return fail(err)
		}
		info, err = os.Lstat(path)
	}
	switch {
	case err != nil:
		return fail(err)
	case info.Mode()&fs.ModeSymlink != 0:
		return fail(errors.New("it is a symbolic link; name the folder itself"))
	case !info.IsDir():
		return fail(errors.New("it is no folder"))
	}
	if err := safefile.CheckTrusted(path, os.Geteuid()); err != nil {
		return fail(err)
	}
	fd, err := unix.Open(filepath.Clean(path), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fail(err)
	}
	dir := os.NewFile(uintptr(fd), path)
	if err := safefile.Flock(dir); err != nil {
		dir.Close()
		return fail(fmt.Errorf("another process keeps a log there: %w", err))
	}
	return dir, nil
}

// openNewSegment makes a file of the log. An empty one may be there already: a
// crash came before its first record.
func openNewSegment(dir *os.File, name string) (*os.File, error) {
	f, err := openSegment(dir, name, unix.O_CREAT)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > 0 {
		err = errors.New("it is there already and not empty")
	}
	if err == nil {
		err = f.Chmod(segmentMode)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("cannot begin the file %s: %w", name, err)
	}
	return f, nil
}

// openSegment opens a file of the log for appending. What is not a plain file
// of ours is refused.
func openSegment(dir *os.File, name string, flags int) (*os.File, error) {
	path := filepath.Join(dir.Name(), name)
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_RDWR|unix.O_APPEND|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|flags, segmentMode)
	if err != nil {
		return nil, fmt.Errorf("cannot open the audit log: %w", &os.PathError{Op: "open", Path: path, Err: err})
	}
	f := os.NewFile(uintptr(fd), path)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		f.Close()
		return nil, fmt.Errorf("cannot open the audit log: %w", err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Mode&0o022 != 0 || st.Nlink != 1 || st.Uid != 0 && int(st.Uid) != os.Geteuid() {
		f.Close()
		return nil, fmt.Errorf("cannot open the audit log: %s must be a plain file of one name that belongs to us and is writable by nobody else", path)
	}
	return f, nil
}
