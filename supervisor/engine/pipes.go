package engine

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"snens/internal/cgroup"
	"snens/supervisor/call"
)

// begin opens the pipes, makes the tree and starts the child.
func (l *loop) begin() error {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("cannot open the null file: %w", err)
	}
	theirs := []int{null} // the child's ends, closed here after the start
	defer func() {
		for _, fd := range theirs {
			_ = unix.Close(fd)
		}
	}()
	files := [3]uintptr{uintptr(null), uintptr(null), uintptr(null)}
	pipe := func(ours *int, write bool, at int) error {
		var p [2]int
		if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
			return err
		}
		mine, its := p[0], p[1]
		if write {
			mine, its = p[1], p[0]
		}
		*ours, files[at] = mine, uintptr(its)
		theirs = append(theirs, its)
		return unix.SetNonblock(mine, true)
	}
	switch {
	case l.spec.Stdin != nil:
		files[0] = l.spec.Stdin.Fd()
	case l.spec.StdinBytes != nil:
		err = pipe(&l.inFD, true, 0)
	}
	if l.spec.Mode == Capture {
		err = firstOf(err, pipe(&l.outFD, false, 1), pipe(&l.errFD, false, 2))
	} else {
		passFile(&files[1], l.spec.Stdout)
		passFile(&files[2], l.spec.Stderr)
	}
	if err != nil {
		return err
	}
	if err := l.makeTree(); err != nil {
		return err
	}
	if err := l.fork(files); err != nil {
		return err
	}
	if l.spec.Leftover != nil && l.tree.cgroup() == "" {
		// Without a group the pid helps to find the tree; the call's id in the
		// environment does too, so a failure here costs nothing.
		_ = l.spec.Leftover(l.identity())
	}
	l.feed()
	return nil
}

func passFile(at *uintptr, f *os.File) {
	if f != nil {
		*at = f.Fd()
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// pull reads what a pipe holds, a bounded number of pieces at a time so that
// time limits and commands are looked at in any flood.
func (l *loop) pull(fd *int, s *stream) {
	for range 16 {
		if *fd < 0 {
			return
		}
		if l.buf == nil {
			l.piece = l.engine.pieces.Get().(*[pieceSize]byte)
			l.buf = l.piece[:]
		}
		n, err := unix.Read(*fd, l.buf)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return
		case err != nil || n == 0:
			l.closeFD(fd)
		default:
			s.write(l.buf[:n])
			if n == pieceSize && len(l.buf) == pieceSize {
				l.buf = make([]byte, bigPiece)
			}
			if n == pieceSize {
				_, _ = unix.FcntlInt(uintptr(*fd), unix.F_SETPIPE_SZ, bigPipe)
			}
		}
	}
}

// feed writes what the child's stdin takes now. A child that closed it, or
// exited, has read what it wanted: that is no error.
func (l *loop) feed() {
	for l.inFD >= 0 && len(l.inLeft) > 0 {
		n, err := unix.Write(l.inFD, l.inLeft)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return
		case err != nil:
			l.inLeft = nil
		default:
			l.inLeft = l.inLeft[n:]
		}
	}
	l.closeFD(&l.inFD)
}

// makeTree makes the call's tree and tells it to whoever keeps the leftovers,
// before anything runs: a supervisor killed at any moment leaves its trace.
func (l *loop) makeTree() error {
	l.tree = &sessionTree{id: string(l.spec.CallID), orph: &l.engine.orphans}
	if groups := l.engine.tree(); groups != nil {
		g, err := groups.New(string(l.spec.CallID), cgroup.Limits{Memory: l.spec.Limits.Memory, PIDs: l.spec.Limits.PIDs})
		if err == nil {
			l.tree, l.groups = &groupTree{group: g, orph: &l.engine.orphans}, groups
		}
	}
	if l.tree.cgroup() == "" {
		if err := l.engine.becomeSubreaper(); err != nil {
			return err
		}
	}
	return l.writeDown()
}

// writeDown tells what there is before the child runs.
func (l *loop) writeDown() error {
	if l.spec.Leftover == nil {
		return nil
	}
	id := Identity{BootID: bootID(), Cgroup: l.tree.cgroup(), CallID: l.spec.CallID}
	if err := l.spec.Leftover(id); err != nil {
		return &Fault{Status: call.ExitOurs, Words: fmt.Sprintf("cannot write down the call before it starts: %v", err)}
	}
	return nil
}
