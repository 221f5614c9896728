package sockets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Notifier tells systemd how the service is. A nil *Notifier tells nobody.
type Notifier struct {
	socket   string
	watchdog time.Duration
}

// FromEnv gives the Notifier of a service, nil outside one. The variables are
// cleared in every case, so that no child speaks in our name.
func FromEnv() (*Notifier, error) {
	n, err := parseNotify(os.Getpid(), os.LookupEnv)
	for _, name := range []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} {
		_ = os.Unsetenv(name)
	}
	return n, err
}

func parseNotify(pid int, lookup func(string) (string, bool)) (*Notifier, error) {
	socket, ok := lookup("NOTIFY_SOCKET")
	if !ok {
		return nil, nil
	}
	if len(socket) < 2 || len(socket) > maxPath || socket[0] != '/' && socket[0] != '@' || strings.IndexByte(socket, 0) >= 0 {
		return nil, fmt.Errorf("cannot notify: NOTIFY_SOCKET is %q, neither a path nor an abstract name (@...)", socket)
	}
	n := &Notifier{socket: socket}
	usec, ok := lookup("WATCHDOG_USEC")
	if !ok {
		return n, nil
	}
	if owner, ok := lookup("WATCHDOG_PID"); ok {
		p, err := decimal(owner, 1<<31-1)
		if err != nil {
			return nil, fmt.Errorf("cannot notify: WATCHDOG_PID: %w", err)
		}
		if p != pid {
			return n, nil
		}
	}
	const day = 24 * 60 * 60 * 1_000_000
	us, err := decimal(usec, day)
	if err != nil || us == 0 {
		return nil, fmt.Errorf("cannot notify: WATCHDOG_USEC is %q, not a number of microseconds from 1 to a day", usec)
	}
	n.watchdog = time.Duration(us) * time.Microsecond
	return n, nil
}

// Ready says that the service serves, also at the end of a reload.
func (n *Notifier) Ready() error { return n.send("READY=1") }

// Stopping says that the service ends.
func (n *Notifier) Stopping() error { return n.send("STOPPING=1") }

// Reloading says that a reload begins. Ready ends it.
func (n *Notifier) Reloading() error {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return err
	}
	return n.send("RELOADING=1\nMONOTONIC_USEC=" + strconv.FormatInt(ts.Nano()/1000, 10))
}

// Status is the line that systemctl status shows.
func (n *Notifier) Status(text string) error { return n.send("STATUS=" + oneLine(text)) }

// maxStatus bounds the line, in bytes.
const maxStatus = 200

// oneLine keeps a text from being more than the value of one variable.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if len(s) > maxStatus {
		s = strings.ToValidUTF8(s[:maxStatus-3], "") + "..."
	}
	return s
}

// Watch feeds the watchdog, if there is one, until ctx ends: twice in each of
// its periods, as long as alive says so.
func (n *Notifier) Watch(ctx context.Context, alive func() bool) error {
	if n == nil || n.watchdog == 0 {
		return nil
	}
	t := time.NewTicker(max(n.watchdog/2, time.Microsecond))
	defer t.Stop()
	var failed error
	for {
		if alive() {
			// One that is lost does no harm; the last fault is for the log.
			failed = n.send("WATCHDOG=1")
		}
		select {
		case <-ctx.Done():
			return failed
		case <-t.C:
		}
	}
}

// send sends one datagram without waiting.
func (n *Notifier) send(text string) error {
	if n == nil {
		return nil
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("cannot notify: %w", err)
	}
	defer unix.Close(fd)
	err = unix.Sendto(fd, []byte(text), unix.MSG_NOSIGNAL, &unix.SockaddrUnix{Name: n.socket})
	if errors.Is(err, unix.EAGAIN) {
		return errors.New("cannot notify: nobody reads the socket")
	}
	if err != nil {
		return fmt.Errorf("cannot notify: %w", err)
	}
	return nil
}
