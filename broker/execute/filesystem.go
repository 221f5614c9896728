package execute

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/wire"
)

// ErrDescriptors is part of the error for descriptors that cannot be passed on:
// answer it with action.ReasonBadDescriptors.
var ErrDescriptors = errors.New("the passed descriptors cannot be used")

// answerLimit is how long a file system may take to say what it is.
const answerLimit = 2 * time.Second

// fuse is the f_type of a file system that is a program.
const fuse = 0x65735546

// checkFileSystems refuses files whose file system is a program (FUSE), which
// may be the requester's own: the exec of the action closes copies of them, and
// that would take as long as he likes. A lock of the runtime's is held
// meanwhile, so every other start would wait too. What a file system is never
// changes, so one look is enough.
//
// A file system above another (overlay) hides the lower one; such files are
// taken, because whole systems run on one.
//
// Only the file system itself can say it, and it may hang then. So it is asked
// by a thread with a table of descriptors of its own, and what hangs there is
// counted against uid.
func (x *Executor) checkFileSystems(uid uint32, p parked) error {
	answer, gone := make(chan error, 1), make(chan struct{})
	go inOwnThread(func() {
		defer close(gone)
		askFileSystems(p, answer)
	})
	limit := time.NewTimer(answerLimit)
	defer limit.Stop()
	var err error
	select {
	case err = <-answer:
	case <-limit.C:
		err = fmt.Errorf("%w: a file system does not answer; pass a pipe (| cat, or cat |)", ErrDescriptors)
	}
	if err != nil {
		x.goStuck(uid, gone, func() {}) // also its closing may hang
		return err
	}
	select {
	case <-gone:
	case <-limit.C:
		x.goStuck(uid, gone, func() {})
	}
	return nil
}

// Look is for descriptors of uid that lie unreceived in the socket of his
// connection, want of them: it refuses what Keep would refuse for its file system
// before they are in our table, where a start in that moment would copy them. The
// error is ErrDescriptors then, also for another number of them.
func (x *Executor) Look(uid uint32, socket, want int) error {
	if want <= 0 {
		return fmt.Errorf("%w: some came, none was announced", ErrDescriptors)
	}
	err := x.checkFileSystems(uid, parked{socket: socket, count: want})
	if errors.Is(err, ErrBusy) { // the table of that thread is not full
		return fmt.Errorf("%w: their number is not the announced %d", ErrDescriptors, want)
	}
	return err
}

// askFileSystems gives one answer. Its thread must end with it.
func askFileSystems(p parked, answer chan<- error) {
	if err := unix.Unshare(unix.CLONE_FILES); err != nil {
		answer <- fmt.Errorf("cannot look at descriptors apart from ours: %w", err)
		return
	}
	closeCopies(p.socket)
	fds, err := p.receive(unix.MSG_PEEK)
	for _, fd := range fds {
		if err == nil {
			err = askFileSystem(fd)
		}
	}
	answer <- err
	for _, fd := range fds {
		_ = unix.Close(fd) // here and not with the thread, whose end nobody sees
	}
}

// closeCopies closes this thread's copies of all descriptors but one, so that a
// thread that hangs does not keep others' pipes open. The runtime's own it may
// use on any thread.
func closeCopies(but int) {
	entries, err := os.ReadDir("/proc/thread-self/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= 2 || fd == but {
			continue
		}
		if to, err := os.Readlink("/proc/thread-self/fd/" + e.Name()); err == nil && !strings.HasPrefix(to, "anon_inode:") {
			_ = unix.Close(fd)
		}
	}
}

func askFileSystem(fd int) error {
	if !regular(fd) {
		return nil
	}
	for {
		var st unix.Statfs_t
		err := unix.Fstatfs(fd, &st)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return fmt.Errorf("%w: cannot ask for the file system of one: %w", ErrDescriptors, err)
		case st.Type == fuse:
			return fmt.Errorf("%w: one is a file of a FUSE file system, which can hold up the broker; pass a pipe (| cat, or cat |)", ErrDescriptors)
		}
		return nil
	}
}

// regular: only these ask their file system when they are closed, among what
// may be passed.
func regular(fd int) bool {
	info, err := wire.Inspect(fd)
	return err != nil || info.Kind == wire.Regular
}

// inOwnThread runs f on a thread that ends with it, never the main one.
func inOwnThread(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		f()
		return // still locked: the runtime ends the thread
	}
	done := make(chan struct{})
	go func() { // on another thread, as we hold this one
		defer close(done)
		inOwnThread(f)
	}()
	<-done
	runtime.UnlockOSThread()
}
