package main

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// notes is stderr as the commands write to it. What cannot be written there is
// dropped: a call owes its exit status to whoever waits for it, reader or not.
// It writes past os.File, which lets the process die of SIGPIPE for the
// descriptors 1 and 2; the signal itself has no effect on a Go program.
//
// A reader who does not read holds nothing up for long either: what a pipe has
// no room for within notePatience is dropped, and from then on everything.
type notes struct {
	to   *os.File
	dead bool
}

const (
	notePatience = time.Second
	// notePiece fits into a pipe that has room at all, so that no write blocks.
	notePiece = 4096
)

// Write never fails.
func (n *notes) Write(p []byte) (int, error) {
	fd := int(n.to.Fd())
	until := time.Now().Add(notePatience)
	for rest := p; len(rest) > 0 && !n.dead; {
		room := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
		ready, err := unix.Poll(room, int(max(0, time.Until(until)).Milliseconds()))
		if err == unix.EINTR {
			continue
		}
		if err != nil || ready == 0 {
			n.dead = true
			break
		}
		done, err := unix.Write(fd, rest[:min(len(rest), notePiece)])
		switch err {
		case nil:
			rest = rest[done:]
		case unix.EINTR, unix.EAGAIN:
		default:
			n.dead = true
		}
	}
	return len(p), nil
}
