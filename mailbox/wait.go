package mailbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// How often a waiter looks without being told: when others hold messages, whose
// death nobody announces; and when all is quiet, in case the file system does
// not announce what arrives.
const (
	lookAgain = 500 * time.Millisecond
	lookQuiet = 20 * time.Second
)

// Wait receives as Receive does, and waits up to limit for a message. ErrEmpty
// when none came; the error of ctx when that ended first.
func (b *Box) Wait(ctx context.Context, limit, lease time.Duration) (*Claim, error) {
	if c, err := b.Receive(lease); !errors.Is(err, ErrEmpty) {
		return c, err
	}
	end := time.Now().Add(limit)
	bell, err := b.listen()
	if err != nil {
		return nil, fmt.Errorf("cannot wait for mail in %s: %w", b.path, err)
	}
	defer bell.Close()
	stop := context.AfterFunc(ctx, func() { _ = bell.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	events := make([]byte, 8192)
	for {
		// After listening began, so that nothing falls in between.
		c, busy, err := b.receive(lease)
		if !errors.Is(err, ErrEmpty) || !time.Now().Before(end) {
			if err != nil {
				err = fmt.Errorf("cannot receive from %s: %w", b.path, err)
			}
			return c, err
		}
		pause := lookQuiet
		if busy {
			pause = lookAgain
		}
		until := time.Now().Add(pause)
		if until.After(end) {
			until = end
		}
		if err := bell.SetReadDeadline(until); err != nil {
			return nil, fmt.Errorf("cannot wait for mail in %s: %w", b.path, err)
		}
		if ctx.Err() != nil { // its own deadline may have been set before ours
			return nil, fmt.Errorf("cannot wait for mail in %s: %w", b.path, ctx.Err())
		}
		if _, err := bell.Read(events); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, fmt.Errorf("cannot wait for mail in %s: %w", b.path, err)
		}
	}
}

// listen is told of what is moved into new, and of claims that are given back.
func (b *Box) listen() (*os.File, error) {
	n, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	f := os.NewFile(uintptr(n), "inotify")
	for _, w := range []struct {
		dir  *os.File
		mask uint32
	}{{b.fresh, unix.IN_MOVED_TO | unix.IN_CREATE}, {b.cur, unix.IN_MOVED_TO}} {
		// By descriptor: the path could lead elsewhere by now.
		if _, err := unix.InotifyAddWatch(n, fmt.Sprintf("/proc/self/fd/%d", fd(w.dir)), w.mask|unix.IN_ONLYDIR); err != nil {
			f.Close()
			return nil, os.NewSyscallError("inotify_add_watch", err)
		}
	}
	return f, nil
}
