package confine

import "golang.org/x/sys/unix"

// The old path calls (open, chmod, chown, utime) do not exist on arm64.
var native = machine{
	arch:      unix.AUDIT_ARCH_AARCH64,
	openFlags: []argCall{{unix.SYS_OPENAT, 2}},
}
