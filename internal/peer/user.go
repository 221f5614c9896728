package peer

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// User gives the uid that connected c and nothing else: for counting
// connections before the costlier Identify.
func User(c *net.UnixConn) (UID, error) {
	cred, err := connCredentials(c)
	if err != nil {
		return 0, refused(err)
	}
	return UID(cred.Uid), nil
}

func connCredentials(c *net.UnixConn) (*unix.Ucred, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	var cred *unix.Ucred
	cerr := raw.Control(func(fd uintptr) { cred, err = credentials(int(fd)) })
	if err = errors.Join(cerr, err); err != nil {
		return nil, err
	}
	return cred, nil
}
