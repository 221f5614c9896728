package wire_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
	"snens/internal/wire"
)

func TestOneUIDHoldsUpItself(t *testing.T) {
	c := wire.NewCloser()
	hang := make(chan struct{})
	started := make(chan struct{}, wire.RoomPerUID)
	for range wire.RoomPerUID {
		c.Later(1, func() { started <- struct{}{}; <-hang })
	}
	for range wire.WorkersPerUID {
		<-started
	}
	if c.Room(1) || c.Pending(1) != wire.RoomPerUID {
		t.Errorf("there is room for more: %d pending", c.Pending(1))
	}
	if !c.Room(2) {
		t.Error("another uid has no room")
	}
	done := make(chan struct{})
	c.Later(2, func() { close(done) })
	<-done
	if n := len(started); n != 0 {
		t.Errorf("%d more run than a uid may have", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting ended with %v", err)
	}
	close(hang)
	if err := c.Wait(t.Context()); err != nil || c.Pending(1) != 0 || c.Pending(2) != 0 {
		t.Errorf("at the end: %v, %d and %d pending", err, c.Pending(1), c.Pending(2))
	}
}

// With all workers hanging, new work waits; each worker that comes back takes
// what waits, of whatever uid.
func TestWorkersAreBoundedAndTakeWhatWaits(t *testing.T) {
	c := wire.NewCloser()
	hang := make(chan struct{})
	started := make(chan uint32, 100)
	uids := wire.WorkersTotal/wire.WorkersPerUID + 3
	for uid := range uids {
		for range wire.WorkersPerUID {
			c.Later(uint32(uid), func() { started <- uint32(uid); <-hang })
		}
	}
	var seen []uint32
	for range wire.WorkersTotal {
		seen = append(seen, <-started)
	}
	if len(started) != 0 {
		t.Error("more workers than allowed")
	}
	hang <- struct{}{} // one comes back
	seen = append(seen, <-started)
	close(hang)
	if err := c.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	for len(started) > 0 {
		seen = append(seen, <-started)
	}
	for uid := range uids {
		if n := len(slices.DeleteFunc(slices.Clone(seen), func(s uint32) bool { return s != uint32(uid) })); n != wire.WorkersPerUID {
			t.Errorf("uid %d had %d runs", uid, n)
		}
	}
}

// What hangs keeps no other descriptor of its uid in the table, no work of
// others from running, and counts.
func TestAtOnceWaitsForNobody(t *testing.T) {
	c := wire.NewCloser()
	hang, n := make(chan struct{}), wire.WorkersTotal+1
	started := make(chan struct{}, n)
	for range n {
		c.AtOnce(1, func() { started <- struct{}{}; <-hang })
	}
	for range n {
		<-started
	}
	done := make(chan struct{}, 2)
	c.Later(1, func() { done <- struct{}{} })
	c.Later(2, func() { done <- struct{}{} })
	<-done
	<-done
	for range wire.RoomPerUID - n {
		c.AtOnce(1, func() { <-hang })
	}
	if c.Room(1) || !c.Room(2) {
		t.Errorf("%d pending", c.Pending(1))
	}
	close(hang)
	if err := c.Wait(t.Context()); err != nil || c.Pending(1) != 0 {
		t.Errorf("at the end: %v, %d pending", err, c.Pending(1))
	}
}

func TestCloserClosesAllUnderLoad(t *testing.T) {
	sameFDs(t)
	c := wire.NewCloser()
	var wg sync.WaitGroup
	for uid := range uint32(20) {
		wg.Go(func() {
			for range 50 {
				fd, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
				if err != nil {
					t.Error(err)
					return
				}
				c.CloseFDs(uid, fd)
			}
		})
	}
	wg.Wait()
	if err := c.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	var none *wire.Closer
	fd, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	none.CloseFDs(1, fd)
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != unix.EBADF {
		t.Errorf("without a closer it is not closed in place: %v", err)
	}
}

func TestInspectAndStdioRule(t *testing.T) {
	open := func(path string, flags int) int {
		fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fd) })
		return fd
	}
	file := t.TempDir() + "/f"
	pipe := make([]int, 2)
	if err := unix.Pipe2(pipe, unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range []int{epoll, pipe[0], pipe[1], pair[0], pair[1]} {
		t.Cleanup(func() { unix.Close(fd) })
	}
	for _, c := range []struct {
		name    string
		fd      int
		kind    wire.Kind
		in, out bool // may be 0; may be 1 and 2
	}{
		{"file for writing", open(file, unix.O_WRONLY|unix.O_CREAT), wire.Regular, false, true},
		{"file for appending", open(file, unix.O_WRONLY|unix.O_APPEND), wire.Regular, false, true},
		{"file for reading", open(file, unix.O_RDONLY), wire.Regular, true, false},
		{"file for both", open(file, unix.O_RDWR), wire.Regular, true, true},
		{"file as a path", open(file, unix.O_PATH), wire.Regular, false, false},
		{"folder", open("/", unix.O_RDONLY), wire.Folder, false, false},
		{"link", open("/proc/self/exe", unix.O_PATH|unix.O_NOFOLLOW), wire.Link, false, false},
		{"device", open(os.DevNull, unix.O_RDWR), wire.CharDevice, true, true},
		{"access mode 3", open(os.DevNull, 3), wire.CharDevice, false, false},
		{"pipe's read end", pipe[0], wire.Pipe, true, false},
		{"pipe's write end", pipe[1], wire.Pipe, false, true},
		{"socket", pair[0], wire.Socket, false, false},
		{"epoll", epoll, wire.Other, false, false},
	} {
		info, err := wire.Inspect(c.fd)
		if err != nil || info.Kind != c.kind {
			t.Errorf("%s: %+v, %v, want %v", c.name, info, err, c.kind)
			continue
		}
		got := fmt.Sprint(wire.CheckStdio(0, info) == nil, wire.CheckStdio(1, info) == nil, wire.CheckStdio(2, info) == nil)
		if want := fmt.Sprint(c.in, c.out, c.out); got != want {
			t.Errorf("%s: as 0, 1 and 2: %s, want %s", c.name, got, want)
		}
	}
	info, err := wire.Inspect(pipe[1])
	if wire.CheckStdio(3, info) == nil || wire.CheckStdio(-1, info) == nil || err != nil {
		t.Errorf("a fourth slot: %v", err)
	}
	if _, err := wire.Inspect(-1); err == nil {
		t.Error("no descriptor at all is accepted")
	}
}
