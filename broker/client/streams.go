package client

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/internal/wire"
)

// streams are the descriptors of one run: files as they are, and pipes with a
// goroutine each where the broker takes no file of that kind.
type streams struct {
	files  []int // what is sent, in its order
	own    []int // those of files that are ours, closed when they were sent
	copies []*copying
	wg     sync.WaitGroup // the goroutines of copies

	ended bell // the command has ended: no more is coming
	quit  bell // nobody waits any more
}

// newStreams makes them of q.Files. Up to the last that is there, missing ones
// are the null file. The caller calls close.
func newStreams(q Request) (*streams, error) {
	s := &streams{}
	n := 3
	for n > 0 && q.Files[n-1] == nil {
		n--
	}
	if q.Detach && n > 0 {
		return nil, refuse(action.ReasonBadRequest, nil, "cannot give files to a command that is not waited for")
	}
	for slot := range n {
		if err := s.add(slot, q.Files); err != nil {
			s.close()
			return nil, refuse(action.ReasonBadDescriptors, err, "cannot pass descriptor %d on", slot)
		}
	}
	return s, nil
}

func (s *streams) add(slot int, files [3]*os.File) error {
	f := files[slot]
	if f == nil {
		return s.addNull(slot)
	}
	fd, err := descriptor(f)
	if err != nil {
		return err
	}
	info, err := wire.Inspect(fd)
	if err != nil {
		return err
	}
	err = wire.CheckStdio(slot, info)
	switch {
	case err == nil && info.Kind == wire.Regular && ofProgram(fd):
		return s.addPipe(slot, fd, true)
	case err == nil:
		s.files = append(s.files, fd)
		return nil
	case info.Kind == wire.Socket && !info.PathOnly:
		return s.addPipe(slot, fd, false)
	case slot == 0:
		// nohup(1) gives a stdin that cannot be read.
		return s.addNull(slot)
	}
	return err
}

func (s *streams) addNull(slot int) error {
	how := unix.O_WRONLY
	if slot == 0 {
		how = unix.O_RDONLY
	}
	fd, err := unix.Open(os.DevNull, how|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("cannot open the null file: %w", err)
	}
	s.files, s.own = append(s.files, fd), append(s.own, fd)
	return nil
}

// addPipe puts a pipe between the command and a socket, or a plain file.
func (s *streams) addPipe(slot, end int, plain bool) error {
	if last := len(s.copies) - 1; slot == 2 && last >= 0 && !s.copies[last].in && sameFile(end, s.copies[last].end) {
		// One pipe, so that what is written to both keeps its order.
		s.files = append(s.files, s.files[1])
		return nil
	}
	if err := s.bells(); err != nil {
		return err
	}
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return fmt.Errorf("cannot make a pipe for descriptor %d: %w", slot, err)
	}
	ours, theirs := p[0], p[1]
	if slot == 0 {
		ours, theirs = p[1], p[0]
	}
	s.files, s.own = append(s.files, theirs), append(s.own, theirs)
	s.copies = append(s.copies, &copying{in: slot == 0, end: end, plain: plain, pipe: ours, ended: &s.ended, quit: &s.quit})
	// The flag is of our end alone: the command gets a pipe that blocks.
	return unix.SetNonblock(ours, true)
}

func (s *streams) bells() error {
	if len(s.copies) > 0 {
		return nil
	}
	if err := s.ended.open(); err != nil {
		return err
	}
	return s.quit.open()
}

// send sends the descriptors, lets go of ours, and begins to copy.
func (s *streams) send(conn *wire.Conn) error {
	if err := conn.SendFDs(s.files...); err != nil {
		return err
	}
	s.closeOwn()
	for _, c := range s.copies {
		s.wg.Go(c.run)
	}
	return nil
}

// finish waits until what the command has written is copied. It is called when
// the command has ended, or nobody knows.
func (s *streams) finish() {
	s.ended.ring()
	s.wg.Wait()
}

// abort ends the copying, whatever is left.
func (s *streams) abort() { s.quit.ring() }

// close lets go of everything. It is called after finish, if anything was sent.
func (s *streams) close() {
	s.closeOwn()
	s.ended.ring()
	s.quit.ring()
	s.wg.Wait()
	for _, c := range s.copies {
		c.close()
	}
	s.ended.close()
	s.quit.close()
}

func (s *streams) closeOwn() {
	for _, fd := range s.own {
		_ = unix.Close(fd)
	}
	s.own = nil
}

// descriptor is the number behind f, whose mode it leaves alone.
func descriptor(f *os.File) (fd int, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return -1, err
	}
	err = raw.Control(func(n uintptr) { fd = int(n) })
	return fd, err
}

func sameFile(a, b int) bool {
	var x, y unix.Stat_t
	return unix.Fstat(a, &x) == nil && unix.Fstat(b, &y) == nil && x.Dev == y.Dev && x.Ino == y.Ino
}

// fuse is the f_type of a file system that is a program.
const fuse = 0x65735546

// ofProgram says whether the file system of a regular file is a program (FUSE),
// which the broker refuses because it could hold it up. A file system that hangs
// holds us up here, as it would any program that uses it. A test replaces it.
var ofProgram = func(fd int) bool {
	for {
		var st unix.Statfs_t
		err := unix.Fstatfs(fd, &st)
		if err != unix.EINTR {
			return err == nil && st.Type == fuse
		}
	}
}
