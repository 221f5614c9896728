package supervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"snens/internal/confine"
	"snens/session"
)

// scratch lends probes what each needs beside the program, and what takes
// longer to make than most programs take to print their help.
type scratch struct {
	mu   sync.Mutex
	free []*bench // guarded by mu
}

// bench serves one probe at a time.
type bench struct {
	dir string // an empty temporary folder
	// thread is restricted to writing below dir; nil where the kernel knows no
	// restriction: a probe then runs without.
	thread *confine.Thread
	folder *session.Folder // its last record is the probe that runs; nil = none
	served int
}

// maxServed keeps the records in a bench's folder far below what fits.
const maxServed = 1000

func (s *scratch) take(sup *Supervisor) (*bench, error) {
	s.mu.Lock()
	if last := len(s.free) - 1; last >= 0 {
		defer s.mu.Unlock()
		b := s.free[last]
		s.free = s.free[:last]
		return b, nil
	}
	s.mu.Unlock()
	b := &bench{folder: sup.newFolder(session.NewCallID(), session.Meta{Tool: "--help"})}
	var err error
	if b.dir, err = ownFolder(b.folder, "probe"); err != nil {
		err = fmt.Errorf("cannot make a folder to probe in: %w", err)
	} else {
		b.thread, err = confine.NewThread(confine.Rules{
			ReadOnly: true, WriteBeneath: []string{b.dir}, NoNetwork: true, NoUnix: true,
		})
	}
	if err != nil && !errors.Is(err, confine.ErrUnsupported) {
		b.close()
		return nil, err
	}
	return b, nil
}

// ownFolder makes an empty folder: within that of a call, where the leftovers of
// a killed supervisor are cleared away, else among the temporary files.
func ownFolder(call *session.Folder, name string) (string, error) {
	if call != nil {
		dir := filepath.Join(call.Dir, name)
		if os.Mkdir(dir, 0o700) == nil {
			return dir, nil
		}
	}
	return os.MkdirTemp("", "snens-"+name+"-")
}

// giveBack takes a bench back when no process uses it any more. One that is not
// as it was serves nobody else.
func (s *scratch) giveBack(b *bench) {
	if b.served++; b.served == maxServed || !untouched(b.dir) {
		b.close()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, b)
}

// clear removes what nobody uses.
func (s *scratch) clear() {
	s.mu.Lock()
	free := s.free
	s.free = nil
	s.mu.Unlock()
	for _, b := range free {
		b.close()
	}
}

func (b *bench) close() {
	if b.thread != nil {
		b.thread.Close()
	}
	if b.dir != "" {
		_ = os.RemoveAll(b.dir) // what cannot be removed is a leftover's business
	}
	if b.folder != nil {
		_ = b.folder.Close()
	}
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
