package sockets

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// plain sets the options of a listener that its connections inherit: nothing
// rides along with bytes. The credentials, labels and handles that the kernel
// could attach would take the room of descriptors; descriptors themselves have a
// step of their own (package wire).
func plain(fd int) error {
	for _, o := range []struct {
		name  string
		value int
	}{
		{"SO_PASSCRED", unix.SO_PASSCRED},
		{"SO_PASSSEC", unix.SO_PASSSEC},
		{"SO_PASSPIDFD", unix.SO_PASSPIDFD},
		{"SO_PASSRIGHTS", unix.SO_PASSRIGHTS},
	} {
		err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, o.value, 0)
		if err != nil && !errors.Is(err, unix.ENOPROTOOPT) {
			return fmt.Errorf("cannot turn %s off: %w", o.name, err)
		}
	}
	return nil
}
