package main

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// watcher tells that something happened in a folder.
type watcher struct {
	ctx  context.Context
	f    *os.File
	stop func() bool
}

// watchDir watches until the context ends.
func watchDir(ctx context.Context, dir string) (*watcher, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("cannot follow the log: %w", err)
	}
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_MODIFY|unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_ONLYDIR); err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("cannot follow the log: %w", &os.PathError{Op: "watch", Path: dir, Err: err})
	}
	f := os.NewFile(uintptr(fd), "inotify")
	return &watcher{ctx: ctx, f: f, stop: context.AfterFunc(ctx, func() { _ = f.Close() })}, nil
}

// wait waits for the next change; false says that the context has ended. What
// changed does not matter: the caller looks.
func (w *watcher) wait() bool {
	var buf [16 << 10]byte
	_, err := w.f.Read(buf[:])
	return err == nil && w.ctx.Err() == nil
}

func (w *watcher) close() {
	w.stop()
	_ = w.f.Close()
}
