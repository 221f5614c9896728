package supervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// scratch lends empty temporary folders to probes. Making one takes longer
// than all else that a probe needs beside the program, so a folder that comes
// back as empty as it went serves the next one.
type scratch struct {
	mu   sync.Mutex
	free []string // guarded by mu
}

func (s *scratch) take() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := len(s.free) - 1; last >= 0 {
		dir := s.free[last]
		s.free = s.free[:last]
		return dir, nil
	}
	dir, err := os.MkdirTemp("", "snens-probe-")
	if err != nil {
		return "", fmt.Errorf("cannot make a folder to probe in: %w", err)
	}
	return dir, nil
}

// giveBack takes a folder back when no process uses it any more.
func (s *scratch) giveBack(dir string) {
	if !untouched(dir) {
		os.RemoveAll(dir)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, dir)
}

// clear removes what nobody uses.
func (s *scratch) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, dir := range s.free {
		os.RemoveAll(dir)
	}
	s.free = nil
}

// untouched says that dir is still an empty folder of ours, closed to others.
func untouched(dir string) bool {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	f := os.NewFile(uintptr(fd), dir)
	defer f.Close()
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode != unix.S_IFDIR|0o700 || int64(st.Uid) != int64(os.Geteuid()) {
		return false
	}
	_, err = f.Readdirnames(1)
	return errors.Is(err, io.EOF)
}
