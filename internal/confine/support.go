package confine

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ErrUnsupported is what every *UnsupportedError is.
var ErrUnsupported = errors.New("this kernel cannot restrict children")

// UnsupportedError says what the kernel lacks, in words for a person.
type UnsupportedError struct{ Missing []string }

func (e *UnsupportedError) Error() string {
	return "cannot restrict the child: missing " + strings.Join(e.Missing, "; ")
}

// Is reports true for ErrUnsupported.
func (e *UnsupportedError) Is(target error) bool { return target == ErrUnsupported }

// Support says what the running kernel can do.
type Support struct {
	// Landlock is the ABI version, 0 where there is none.
	Landlock int
	Seccomp  bool
	// Missing says why Run refuses; empty when it works.
	Missing []string
	// Gaps says what the rules leave open on this kernel though they work.
	Gaps []string

	// signals: signals can be kept inside without harm to the runtime.
	signals bool
}

// OK reports whether Run works on this kernel.
func (s Support) OK() bool { return len(s.Missing) == 0 }

// String is one line for a person.
func (s Support) String() string {
	if !s.OK() {
		return "not available: " + strings.Join(s.Missing, "; ")
	}
	line := fmt.Sprintf("Landlock ABI %d, seccomp", s.Landlock)
	if len(s.Gaps) > 0 {
		line += "; open on this kernel: " + strings.Join(s.Gaps, "; ")
	}
	return line
}

// errataSignals is the bit of the fix that lets threads of one process signal
// each other across domains. Without it a scoped thread could not interrupt its
// siblings, which the Go runtime does to preempt them.
const errataSignals = 1 << (2 - 1)

// Supported asks the kernel. It costs three system calls.
func Supported() Support {
	var s Support
	abi, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch errno {
	case 0:
		s.Landlock = int(abi)
	case unix.EOPNOTSUPP:
		s.Missing = append(s.Missing, "Landlock (switched off at boot: add landlock to the kernel parameter lsm=)")
	case unix.ENOSYS:
		s.Missing = append(s.Missing, "Landlock (needs Linux 5.13 or newer, built with CONFIG_SECURITY_LANDLOCK)")
	default:
		s.Missing = append(s.Missing, fmt.Sprintf("Landlock (refused here, perhaps by a container's filter: %v)", errno))
	}
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno = unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	switch {
	case native.arch == 0:
		s.Missing = append(s.Missing, "seccomp filter (built for amd64 and arm64 only)")
	case errno != 0:
		s.Missing = append(s.Missing, fmt.Sprintf("seccomp filters (need CONFIG_SECCOMP_FILTER: %v)", errno))
	default:
		s.Seccomp = true
	}
	if s.Landlock >= 6 {
		errata, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_ERRATA)
		s.signals = errno == 0 && errata&errataSignals != 0
	}
	s.Gaps = gaps(s)
	return s
}

func gaps(s Support) []string {
	var g []string
	if s.Landlock < 5 {
		g = append(g, "ioctl on devices opened for reading (needs Linux 6.10)")
	}
	if !s.signals {
		g = append(g, "signals to other processes of the same user (needs Linux 6.12 with the fix of 2025)")
	}
	return g
}
