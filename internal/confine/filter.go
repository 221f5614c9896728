package confine

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// machine is what the filter needs to know about an architecture.
type machine struct {
	arch     uint32   // AUDIT_ARCH_*, 0 = no filter for it
	x32      bool     // bit 30 of the number means the x32 ABI
	metadata []uint32 // chmod, chown, xattr, utime: numbers only this architecture has
	system   []uint32 // changes to the machine: likewise
	// openFlags: numbers of open calls and the argument that holds the flags.
	openFlags []argCall
}

type argCall struct{ nr, arg uint32 }

// Numbers that all supported architectures name alike.
var (
	metadataCalls = []uint32{
		unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT,
		unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
		unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT,
		unix.SYS_UTIMENSAT, unix.SYS_FILE_SETATTR,
	}
	systemCalls = []uint32{
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT, unix.SYS_MOUNT_SETATTR,
		unix.SYS_FSOPEN, unix.SYS_FSPICK, unix.SYS_OPEN_TREE_ATTR,
		unix.SYS_REBOOT, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
		unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
		unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
		unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
		unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_BPF, unix.SYS_VHANGUP,
	}
)

// ioctl requests on plain files and folders. The file systems use the types
// 'f', 'X' and 0x94; what only reads is let through.
const (
	fsIocSetFlags    = 0x40086602
	fsIoc32SetFlags  = 0x40046602
	fsIocFsSetXattr  = 0x401c5820
	fsIocGetFlags    = 0x80086601
	fsIoc32GetFlags  = 0x80046601
	fsIocFsGetXattr  = 0x801c581f
	fsIocFiemap      = 0xc020660b
	btrfsIocFsInfo   = 0x8400941f
	ioctlTypeOfFS    = 'f'
	ioctlTypeOfXFS   = 'X'
	ioctlTypeOfBtrfs = 0x94
)

const (
	allow = unix.SECCOMP_RET_ALLOW
	kill  = unix.SECCOMP_RET_KILL_PROCESS
)

func deny(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }

// filter assembles the program for the rules on this architecture. abi is the
// Landlock ABI: before 3 the filter makes up for the missing truncate right.
func filter(r Rules, abi int) []unix.SockFilter {
	var p program
	p.load(offArch)
	p.unless(native.arch, ret(kill))
	p.load(offNr)
	if native.x32 {
		p.ifBits(0x40000000, ret(deny(unix.ENOSYS)))
	}
	p.refuse(deny(unix.ENOSYS), unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER)
	if r.ReadOnly {
		p.refuse(deny(unix.EPERM), systemCalls...)
		p.refuse(deny(unix.EPERM), native.system...)
		p.on(unix.SYS_SYSLOG, syslogRules())
		if !r.AllowMetadata {
			p.refuse(deny(unix.EPERM), metadataCalls...)
			p.refuse(deny(unix.EPERM), native.metadata...)
		}
		if abi < 3 {
			p.refuse(deny(unix.EACCES), unix.SYS_TRUNCATE)
			p.refuse(deny(unix.ENOSYS), unix.SYS_OPENAT2) // its flags lie in memory
			for _, c := range native.openFlags {
				p.on(c.nr, openRules(c.arg))
			}
		}
	}
	p.on(unix.SYS_IOCTL, ioctlRules(r))
	if r.NoNetwork || r.NoUnix {
		p.on(unix.SYS_SOCKET, socketRules(r))
		p.on(unix.SYS_SOCKETPAIR, socketpairRules(r))
	}
	p.emit(ret(allow))
	return p.code
}

// socketRules look at the family, argument 0.
func socketRules(r Rules) program {
	var p program
	p.load(offArg(0))
	unixCall, other := uint32(allow), uint32(allow)
	if r.NoUnix {
		unixCall = deny(unix.EAFNOSUPPORT)
	}
	if r.NoNetwork {
		other = deny(unix.EAFNOSUPPORT)
	}
	p.ifEqual(unix.AF_UNIX, ret(unixCall))
	p.emit(ret(other))
	return p
}

// socketpairRules let only those AF_UNIX pairs live that are connected for
// good. SOCK_RAW makes a datagram socket there.
func socketpairRules(r Rules) program {
	var p program
	p.load(offArg(0))
	other := uint32(allow)
	if r.NoNetwork {
		other = deny(unix.EAFNOSUPPORT)
	}
	p.unless(unix.AF_UNIX, ret(other))
	if r.NoUnix {
		p.load(offArg(1))
		p.emit(stmt(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0xf)) // without SOCK_CLOEXEC, SOCK_NONBLOCK
		p.ifEqual(unix.SOCK_STREAM, ret(allow))
		p.ifEqual(unix.SOCK_SEQPACKET, ret(allow))
		p.emit(ret(deny(unix.EAFNOSUPPORT)))
		return p
	}
	p.emit(ret(allow))
	return p
}

// ioctlRules refuse typing into a terminal and, under ReadOnly, the requests
// that change a file's flags or a whole file system.
func ioctlRules(r Rules) program {
	var p program
	p.load(offArg(1))
	p.ifEqual(unix.TIOCSTI, ret(deny(unix.EPERM)))
	p.ifEqual(unix.TIOCLINUX, ret(deny(unix.EPERM)))
	if r.ReadOnly {
		reads := []uint32{fsIocGetFlags, fsIoc32GetFlags, fsIocFsGetXattr, fsIocFiemap, btrfsIocFsInfo}
		if r.AllowMetadata {
			reads = append(reads, fsIocSetFlags, fsIoc32SetFlags, fsIocFsSetXattr)
		}
		for _, nr := range reads {
			p.ifEqual(nr, ret(allow))
		}
		p.emit(stmt(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0xff00))
		for _, typ := range []uint32{ioctlTypeOfFS, ioctlTypeOfXFS, ioctlTypeOfBtrfs} {
			p.ifEqual(typ<<8, ret(deny(unix.EPERM)))
		}
	}
	p.emit(ret(allow))
	return p
}

// syslogRules let the kernel's log be read but not cleared or silenced.
func syslogRules() program {
	var p program
	p.load(offArg(0))
	for _, action := range []uint32{4, 5, 6, 7, 8} { // read-and-clear, clear, console off, on, level
		p.ifEqual(action, ret(deny(unix.EPERM)))
	}
	p.emit(ret(allow))
	return p
}

// openRules refuse O_TRUNC without write access, which empties a file all the
// same and is not seen by Landlock before ABI 3.
func openRules(arg uint32) program {
	var p program
	p.load(offArg(arg))
	p.emit(stmt(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, unix.O_TRUNC|unix.O_ACCMODE))
	p.ifEqual(unix.O_TRUNC|unix.O_RDONLY, ret(deny(unix.EACCES)))
	p.ifEqual(unix.O_TRUNC|unix.O_ACCMODE, ret(deny(unix.EACCES)))
	p.emit(ret(allow))
	return p
}

// loadFilter puts prog in force on the calling thread.
func loadFilter(prog []unix.SockFilter) error {
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&fprog)))
	runtime.KeepAlive(prog)
	if errno != 0 {
		return fmt.Errorf("cannot load the seccomp filter: %w", errno)
	}
	return nil
}
