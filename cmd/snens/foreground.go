package main

import (
	"context"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// untilForeground stops snens, as the kernel stops a background job that reads
// its terminal, until it is in the foreground or ctx is done. A tool is in a
// session of its own, where no job control would keep it from taking what is
// typed for the shell. It returns false where the kernel would not stop a job
// either: then stdin is not to be read.
func (w *watch) untilForeground(ctx context.Context, stdin *os.File) bool {
	for background(stdin) && ctx.Err() == nil {
		select {
		case <-w.goOn: // an old one
		default:
		}
		if !w.stopForInput(stdin) {
			return false
		}
		select {
		case <-w.goOn:
		case <-ctx.Done():
		}
	}
	return true
}

// stopForInput stops the whole job, as the kernel does, when it is in the
// background of the terminal f. False: it is not, or the kernel would not stop it
// either, because nobody could continue it or its parent wants no stops.
func (w *watch) stopForInput(f *os.File) bool {
	return background(f) && !ignored(unix.SIGTTIN) && !w.alone() && unix.Kill(0, unix.SIGTTIN) == nil
}

// background says whether f is our controlling terminal and another process
// group is in its foreground.
func background(f *os.File) bool {
	front, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil && front != unix.Getpgrp()
}

// settled is put among the signals, and closed when its turn has come.
type settled chan struct{}

func (settled) String() string { return "settled" }
func (settled) Signal()        {}

// settle returns when every signal that had reached this process before the
// call has been taken. A signal of our own goes the same way behind them:
// signals that wait together are delivered in the order of their numbers, and
// WINCH is above all that ask for an end.
func (w *watch) settle() {
	own := make(chan os.Signal, 1)
	signal.Notify(own, unix.SIGWINCH)
	defer signal.Stop(own)
	if unix.Kill(os.Getpid(), unix.SIGWINCH) != nil {
		return
	}
	<-own
	done := make(settled)
	w.signals <- done
	<-done
}
