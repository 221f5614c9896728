package peer

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// credentials gives SO_PEERCRED, when it names a user.
func credentials(fd int) (*unix.Ucred, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	switch {
	case err != nil:
		return nil, fmt.Errorf("SO_PEERCRED: %w", err)
	case cred.Uid == nobody || cred.Gid == nobody:
		return nil, errors.New("SO_PEERCRED names no user; the socket is not connected")
	}
	return cred, mapped(cred)
}

// That every id has a number here is true for good, once it was: a mapping is
// written once, and a process with threads cannot go to another user namespace.
var allUIDs, allGIDs atomic.Bool

// mapped refuses the ids that stand for every user without a number here.
// Where all ids have one (outside user namespaces), they are ids like others.
func mapped(cred *unix.Ucred) error {
	for _, c := range []struct {
		id            uint32
		mapping, many string
		full          *atomic.Bool
	}{
		{cred.Uid, "/proc/self/uid_map", "/proc/sys/kernel/overflowuid", &allUIDs},
		{cred.Gid, "/proc/self/gid_map", "/proc/sys/kernel/overflowgid", &allGIDs},
	} {
		if c.full.Load() {
			continue
		}
		mapping, err := readProc(c.mapping)
		if err != nil {
			return err
		}
		if fullMap(mapping) {
			c.full.Store(true)
			continue
		}
		many, err := readProc(c.many)
		if err != nil {
			return err
		}
		if strings.TrimSpace(many) == strconv.FormatUint(uint64(c.id), 10) {
			return fmt.Errorf("id %d stands for all that have no number in this user namespace", c.id)
		}
	}
	return nil
}

// fullMap says whether a mapping gives every id a number.
func fullMap(text string) bool {
	f := strings.Fields(text)
	return len(f) == 3 && f[0] == "0" && f[1] == "0" && f[2] == "4294967295"
}

// maxGroups is the kernel's NGROUPS_MAX.
const maxGroups = 1 << 16

// peerGroups gives SO_PEERGROUPS.
func peerGroups(fd int) ([]GID, error) {
	groups := make([]GID, 64)
	for {
		size := uint32(len(groups) * 4)
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_PEERGROUPS,
			uintptr(unsafe.Pointer(&groups[0])), uintptr(unsafe.Pointer(&size)), 0)
		switch {
		case errno == unix.ERANGE && int(size) > len(groups)*4 && size <= maxGroups*4:
			groups = make([]GID, size/4)
		case errno != 0:
			return nil, fmt.Errorf("SO_PEERGROUPS: %w", errno)
		default:
			return groups[:size/4], nil
		}
	}
}

// handle holds the peer's process. Only a kernel that does not know the option
// makes it a handle by pid.
func handle(fd, pid int) (int, Handle, error) {
	pidfd, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	if err == unix.ENOPROTOOPT {
		return byPID(pid)
	}
	if err != nil {
		return -1, FromSocket, fmt.Errorf("SO_PEERPIDFD: %w", gone(err))
	}
	return pidfd, FromSocket, nil
}

func byPID(pid int) (int, Handle, error) {
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return -1, BestEffort, fmt.Errorf("pidfd_open: %w", gone(err))
	}
	return pidfd, BestEffort, nil
}

// gone names the errors by which the kernel says that a process has ended.
func gone(err error) error {
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EINVAL) {
		return ErrGone
	}
	return err
}

// alive says that the process has not ended. A pidfd is readable from the
// moment its process is a zombie.
func alive(pidfd int) bool {
	p := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(p, 0)
		if err != unix.EINTR {
			return err == nil && n == 0
		}
	}
}
