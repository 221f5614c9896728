package sockets

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// firstFD is where systemd's descriptors begin.
const firstFD = 3

// maxPassed bounds LISTEN_FDS.
const maxPassed = 16

// listenVars are cleared, so that no child takes them for its own.
var listenVars = []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PIDFDID"}

// Passed adopts the listening sockets that systemd passed, by their
// FileDescriptorName. Each name must be one of names and be there once; a
// missing one is left to the caller. Without any the result is nil. The
// variables are cleared in every case. It is called once, before anything else
// opens files.
func Passed(names ...string) (map[string]*net.UnixListener, error) {
	defer func() {
		for _, name := range listenVars {
			_ = os.Unsetenv(name)
		}
	}()
	passed, err := parseListen(os.Getpid(), os.LookupEnv)
	if err != nil || len(passed) == 0 {
		return nil, err
	}
	for i := range passed {
		unix.CloseOnExec(firstFD + i)
	}
	out, err := adopt(passed, names)
	for i := range passed {
		_ = unix.Close(firstFD + i) // adopted ones are duplicates
	}
	return out, err
}

func adopt(passed, names []string) (map[string]*net.UnixListener, error) {
	out := map[string]*net.UnixListener{}
	for i, name := range passed {
		err := func() error {
			if !slices.Contains(names, name) {
				return fmt.Errorf("its name is none of %s; set FileDescriptorName in the socket unit", strings.Join(names, ", "))
			}
			if out[name] != nil {
				return errors.New("its name is there twice; one ListenStream for each socket unit")
			}
			l, err := adoptOne(firstFD + i)
			if err == nil {
				out[name] = l
			}
			return err
		}()
		if err != nil {
			for _, l := range out {
				l.Close()
			}
			return nil, fmt.Errorf("cannot use the passed socket %q (descriptor %d): %w", name, firstFD+i, err)
		}
	}
	return out, nil
}

func adoptOne(fd int) (*net.UnixListener, error) {
	for _, o := range []struct{ option, want int }{
		{unix.SO_DOMAIN, unix.AF_UNIX},
		{unix.SO_TYPE, unix.SOCK_STREAM},
		{unix.SO_ACCEPTCONN, 1},
	} {
		got, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, o.option)
		if err != nil {
			return nil, fmt.Errorf("it is no socket: %w", err)
		}
		if got != o.want {
			return nil, errors.New("it is no listening Unix stream socket; use ListenStream=/PATH and Accept=no")
		}
	}
	return listener(fd)
}

// listener makes a listener of a descriptor, which stays the caller's.
func listener(fd int) (*net.UnixListener, error) {
	if err := plain(fd); err != nil {
		return nil, err
	}
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(dup), "listener")
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		return nil, err
	}
	ul, ok := l.(*net.UnixListener)
	if !ok {
		l.Close()
		return nil, errors.New("it is no Unix socket")
	}
	ul.SetUnlinkOnClose(false)
	return ul, nil
}

// parseListen reads systemd's variables and gives the names of the descriptors
// from firstFD on. None are passed when the variables are not there or mean
// another process.
func parseListen(pid int, lookup func(string) (string, bool)) ([]string, error) {
	count, hasCount := lookup("LISTEN_FDS")
	owner, hasOwner := lookup("LISTEN_PID")
	if !hasCount && !hasOwner {
		return nil, nil
	}
	if !hasCount || !hasOwner {
		return nil, errors.New("cannot use passed sockets: LISTEN_PID and LISTEN_FDS must be set both, or none of them")
	}
	p, err := decimal(owner, 1<<31-1)
	if err != nil {
		return nil, fmt.Errorf("cannot use passed sockets: LISTEN_PID: %w", err)
	}
	if p != pid {
		return nil, nil
	}
	n, err := decimal(count, maxPassed)
	if err != nil {
		return nil, fmt.Errorf("cannot use passed sockets: LISTEN_FDS: %w", err)
	}
	if n == 0 {
		return nil, nil
	}
	text, ok := lookup("LISTEN_FDNAMES")
	if !ok {
		return nil, errors.New("cannot use passed sockets: LISTEN_FDNAMES is not set; set FileDescriptorName in the socket units")
	}
	names := strings.Split(text, ":")
	if len(names) != n {
		return nil, fmt.Errorf("cannot use passed sockets: LISTEN_FDNAMES has %d names for %d sockets", len(names), n)
	}
	for _, name := range names {
		if !plainName(name) {
			return nil, fmt.Errorf("cannot use passed sockets: the name %q in LISTEN_FDNAMES is not made of letters, digits, _, . and -", name)
		}
	}
	return names, nil
}

func plainName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '.' && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= 255
}

// decimal reads a number in its one plain spelling.
func decimal(s string, limit int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || strconv.Itoa(n) != s {
		return 0, fmt.Errorf("%q is not a plain number", s)
	}
	if n > limit {
		return 0, fmt.Errorf("%d is more than %d", n, limit)
	}
	return n, nil
}
