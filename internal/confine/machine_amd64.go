package confine

import "golang.org/x/sys/unix"

var native = machine{
	arch: unix.AUDIT_ARCH_X86_64,
	x32:  true,
	metadata: []uint32{
		unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN,
		unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT,
	},
	system:    []uint32{unix.SYS_IOPL, unix.SYS_IOPERM},
	openFlags: []argCall{{unix.SYS_OPEN, 1}, {unix.SYS_OPENAT, 2}},
}
