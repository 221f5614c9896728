package confine

import (
	"fmt"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The rights that change something on disk, by the ABI that brought them.
const (
	fsWriteABI1 = unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	fsWriteABI2 = fsWriteABI1 | unix.LANDLOCK_ACCESS_FS_REFER
	fsWriteABI3 = fsWriteABI2 | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	fsWriteABI5 = fsWriteABI3 | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV

	// What a file that is no folder can be granted.
	fsOnFile = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV

	netTCP = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
)

// Devices that take writes and keep nothing. The ioctl right lets isatty answer
// ENOTTY as usual; the random devices do without, their ioctls are for root.
var harmless = []struct {
	path   string
	access uint64
}{
	{"/dev/null", fsOnFile},
	{"/dev/zero", fsOnFile},
	{"/dev/full", fsOnFile},
	{"/dev/random", unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE},
	{"/dev/urandom", unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE},
}

// fsWrite is the set of writing rights that ABI abi knows.
func fsWrite(abi int) uint64 {
	switch {
	case abi >= 5:
		return fsWriteABI5
	case abi >= 3:
		return fsWriteABI3
	case abi == 2:
		return fsWriteABI2
	}
	return fsWriteABI1
}

// handled says what a ruleset denies unless a rule grants it.
func handled(r Rules, s Support) unix.LandlockRulesetAttr {
	var a unix.LandlockRulesetAttr
	if r.ReadOnly {
		a.Handled_access_fs = fsWrite(s.Landlock)
	} else {
		// The domain itself keeps ptrace inside; this right is granted
		// everywhere again, an empty ruleset is refused by the kernel.
		a.Handled_access_fs = unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
	}
	if r.NoNetwork && s.Landlock >= 4 {
		a.Handled_access_net = netTCP
	}
	if r.NoUnix && s.Landlock >= 6 {
		a.Scoped |= unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	if s.signals {
		a.Scoped |= unix.LANDLOCK_SCOPE_SIGNAL
	}
	return a
}

// newRuleset builds the Landlock ruleset and gives its descriptor.
func newRuleset(r Rules, s Support) (int, error) {
	attr := handled(r, s)
	// 24 bytes: the part that ABI 6 knows. Older kernels take trailing zeros.
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), 24, 0)
	if errno != 0 {
		return -1, fmt.Errorf("cannot create a Landlock ruleset: %w", errno)
	}
	set := int(fd)
	if err := addRules(set, r, attr.Handled_access_fs); err != nil {
		unix.Close(set)
		return -1, err
	}
	return set, nil
}

func addRules(set int, r Rules, rights uint64) error {
	if !r.ReadOnly {
		return grant(set, "/", rights)
	}
	for _, d := range harmless {
		// A container may lack some of them.
		if err := grant(set, d.path, rights&d.access); err != nil && !missing(err) {
			return err
		}
	}
	for _, p := range r.WriteBeneath {
		if !filepath.IsAbs(p) {
			return fmt.Errorf("cannot keep %q writable: the path is not absolute", p)
		}
		if err := grant(set, p, rights); err != nil {
			return fmt.Errorf("cannot keep %q writable: %w", p, err)
		}
	}
	return nil
}

// grant adds one path rule; rights that a plain file cannot have are left out.
func grant(set int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fsOnFile
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func missing(err error) bool { return err == unix.ENOENT || err == unix.ENOTDIR }
