package approval_test

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// raw sets all three ids of this thread alone.
func raw(call uintptr, id int) unix.Errno {
	_, _, e := unix.RawSyscall(call, uintptr(id), uintptr(id), uintptr(id))
	return e
}

// setgroups sets the groups of this thread alone.
func setgroups(list []uint32) unix.Errno {
	var p unsafe.Pointer
	if len(list) > 0 {
		p = unsafe.Pointer(&list[0])
	}
	_, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(list)), uintptr(p), 0)
	return e
}
