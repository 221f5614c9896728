package wire

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// passRights says whether descriptors may be sent to a socket (Linux 6.16).
// Listeners of package sockets forbid it, which their connections inherit, so
// that nothing can lie in a queue but in the step for it. Older kernels do not
// know the option; there the looks before each read do the work.
func passRights(raw syscall.RawConn, on bool) {
	value := 0
	if on {
		value = 1
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PASSRIGHTS, value)
	})
}
