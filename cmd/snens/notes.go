package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// notes is stderr as the commands write to it. What cannot be written there is
// dropped: a call owes its exit status to whoever waits for it, reader or not.
// It writes past os.File, which lets the process die of SIGPIPE for the
// descriptors 1 and 2; the signal itself has no effect on a Go program.
type notes struct{ to *os.File }

// Write never fails.
func (n notes) Write(p []byte) (int, error) {
	fd := int(n.to.Fd())
	for rest := p; len(rest) > 0; {
		done, err := unix.Write(fd, rest)
		switch err {
		case nil:
			rest = rest[done:]
		case unix.EINTR:
		case unix.EAGAIN: // somebody made the pipe non-blocking
			_, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, -1)
			if err != nil && err != unix.EINTR {
				return len(p), nil
			}
		default:
			return len(p), nil
		}
	}
	return len(p), nil
}
