package peer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Seen is what /proc said of the process at accept. While it was read the
// process was the one that connected and had not ended (with BestEffort: the
// one that had its pid at accept).
type Seen struct {
	// LoginUID is the user that logged in, by the audit system; it survives su
	// and sudo. HasLogin is false where nobody did, or without audit.
	LoginUID UID
	HasLogin bool
	// Cgroup is the path in the v2 hierarchy, "/" at its root and "" where the
	// machine has none. A process with the right to can leave its cgroup.
	Cgroup string
	// Exe is the path of the program as the kernel shows it, "" when we may not
	// look. It says nothing of what the process does: for people only.
	Exe string
}

// maxProc bounds a file of /proc.
const maxProc = 64 << 10

// see reads /proc/PID. That the process has not ended afterwards proves that
// the pid was its own all the while.
func see(pid, pidfd int) (Seen, error) {
	var s Seen
	dir := "/proc/" + strconv.Itoa(pid) + "/"
	login, err := readProc(dir + "loginuid")
	switch {
	case errors.Is(err, fs.ErrNotExist): // no audit in this kernel, if the process is there
	case err != nil:
		return s, lookUp(pidfd, err)
	default:
		if s.LoginUID, s.HasLogin, err = parseLogin(login); err != nil {
			return s, err
		}
	}
	cgroups, err := readProc(dir + "cgroup")
	switch {
	case err == nil:
		if s.Cgroup, err = parseCgroup(cgroups); err != nil {
			return s, err
		}
	case errors.Is(err, fs.ErrNotExist) && !exists("/proc/self/cgroup"): // no cgroups in this kernel
	default:
		return s, lookUp(pidfd, err)
	}
	s.Exe, _ = os.Readlink(dir + "exe") // not everybody may look
	if !alive(pidfd) {
		return Seen{}, ErrGone
	}
	return s, nil
}

func lookUp(pidfd int, err error) error {
	if !alive(pidfd) {
		return ErrGone
	}
	return err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// readProc reads a file of /proc, which never blocks, without the poller that
// os.Open would ask for it.
func readProc(path string) (string, error) {
	fd, err := ignoringEINTR(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return "", &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	data := make([]byte, 0, 1<<10)
	for {
		if len(data) == cap(data) {
			data = slices.Grow(data, len(data))
		}
		n, err := ignoringEINTR(func() (int, error) { return unix.Read(fd, data[len(data):cap(data)]) })
		if err != nil {
			return "", &fs.PathError{Op: "read", Path: path, Err: err}
		}
		if n == 0 {
			return string(data), nil
		}
		if data = data[:len(data)+n]; len(data) > maxProc {
			return "", fmt.Errorf("%s is longer than %d bytes", path, maxProc)
		}
	}
}

func ignoringEINTR(f func() (int, error)) (n int, err error) {
	for {
		if n, err = f(); err != unix.EINTR {
			return n, err
		}
	}
}

// parseLogin reads a loginuid; 4294967295 is nobody.
func parseLogin(text string) (UID, bool, error) {
	n, err := strconv.ParseUint(strings.TrimSuffix(text, "\n"), 10, 32)
	if err != nil {
		return 0, false, fmt.Errorf("loginuid is %q, not a number", text)
	}
	if uint32(n) == nobody {
		return 0, false, nil
	}
	return UID(n), true, nil
}

// parseCgroup takes the v2 line "0::/path". A path may hold anything but a
// newline.
func parseCgroup(text string) (string, error) {
	found := ""
	for line := range strings.Lines(text) {
		path, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::")
		if !ok {
			continue
		}
		if found != "" || !strings.HasPrefix(path, "/") {
			return "", fmt.Errorf("the cgroup file is %q, with no single path", text)
		}
		found = path
	}
	return found, nil
}
