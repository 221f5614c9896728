package prepare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"snens/broker/policy"
)

const (
	openWait   = 5 * time.Second // for what answers at all, more than enough
	openPerUID = 4               // opens of one uid at a time
	openInAll  = 64
)

var (
	errBusy   = errors.New("too many files of yours are being opened already")
	errSlow   = errors.New("the file system does not answer")
	errRights = errors.New("cannot take on the rights of the requester")
)

// as runs f, which opens a file or nil, with the rights of who on a thread of
// its own, and waits for it as long as it is worth. A thread that hangs in the
// kernel cannot be ended and is not waited for; it counts until it comes back,
// and what it has opened then is discarded.
func (m *Maker) as(ctx context.Context, who policy.Subject, f func() (*os.File, error)) (*os.File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !m.enter(who.UID) {
		return nil, errBusy
	}
	type outcome struct {
		file *os.File
		err  error
	}
	ctx, cancel := context.WithTimeout(ctx, openWait)
	defer cancel()
	done := make(chan outcome)
	go func() {
		var o outcome
		m.borrow(who, func(err error) {
			if o.err = err; err == nil {
				o.file, o.err = f()
			}
		})
		m.leave(who.UID) // before the answer, which may be followed by the next open
		select {
		case done <- o:
		case <-ctx.Done(): // nobody waits any more
			if o.file != nil {
				m.o.Discard(who.UID, o.file)
			}
		}
	}()
	select {
	case o := <-done:
		return o.file, o.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, errSlow
		}
		return nil, ctx.Err()
	}
}

func (m *Maker) enter(uid policy.UID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := 0
	for _, n := range m.opening {
		all += n
	}
	if m.opening[uid] >= openPerUID || all >= openInAll {
		return false
	}
	m.opening[uid]++
	return true
}

func (m *Maker) leave(uid policy.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.opening[uid]--; m.opening[uid] == 0 {
		delete(m.opening, uid)
	}
}

// borrow calls f on a thread that has the requester's rights to files, which
// ends with it; an error keeps it from doing anything with them. The calling
// goroutine must have no other work to do.
func (m *Maker) borrow(who policy.Subject, f func(error)) {
	if os.Geteuid() != 0 {
		f(nil) // --user: they are ours
		return
	}
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	if unix.Gettid() != unix.Getpid() {
		f(takeRights(who))
		return
	}
	// The main thread does not end, so what it took on would stay.
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		f(takeRights(who))
	}()
	<-done
	runtime.UnlockOSThread()
}

// takeRights gives this thread alone the rights to files of who: system calls by
// package syscall would give them to the whole process.
func takeRights(who policy.Subject) error {
	if who.UID == policy.NoID || who.GID == policy.NoID {
		return fmt.Errorf("%w: uid %d, gid %d", errRights, who.UID, who.GID)
	}
	var first unsafe.Pointer
	if len(who.Groups) > 0 {
		first = unsafe.Pointer(&who.Groups[0])
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(who.Groups)), uintptr(first), 0); errno != 0 {
		return fmt.Errorf("%w: the groups of uid %d: %w", errRights, who.UID, errno)
	}
	runtime.KeepAlive(who)
	// They report no failure: a second call tells what came of the first.
	_ = unix.Setfsgid(int(who.GID))
	_ = unix.Setfsuid(int(who.UID))
	gid, _, _ := unix.RawSyscall(unix.SYS_SETFSGID, ^uintptr(0), 0, 0)
	uid, _, _ := unix.RawSyscall(unix.SYS_SETFSUID, ^uintptr(0), 0, 0)
	if policy.GID(gid) != who.GID || policy.UID(uid) != who.UID {
		return fmt.Errorf("%w: uid %d, gid %d are %d, %d", errRights, who.UID, who.GID, uid, gid)
	}
	return nil
}
