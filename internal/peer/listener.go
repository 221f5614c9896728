package peer

import (
	"fmt"
	"net"
)

// ListenerError says that the socket is not served by whom it must be. Nothing
// may be sent to it; commands exit 69.
type ListenerError struct {
	Want  UID
	Got   UID // meaningful when Known
	Known bool
	Err   error // why it is not known
}

func (e *ListenerError) Error() string {
	if !e.Known {
		return fmt.Sprintf("cannot trust the socket: cannot tell who listens on it: %v", e.Err)
	}
	return fmt.Sprintf("cannot trust the socket: uid %s listens on it, not uid %s", e.Got, e.Want)
}

func (e *ListenerError) Unwrap() error { return e.Err }

// Listener checks that the process that listens at the other end of c did so as
// uid want: 0 for the system's broker, one's own for --user. Every failure is a
// *ListenerError.
func Listener(c *net.UnixConn, want UID) error {
	cred, err := connCredentials(c)
	if err != nil {
		return &ListenerError{Want: want, Err: err}
	}
	if UID(cred.Uid) != want {
		return &ListenerError{Want: want, Got: UID(cred.Uid), Known: true}
	}
	return nil
}
