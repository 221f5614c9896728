package spawn

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// onOwnThread runs f on a thread that ends with it. It is never the main
// thread, which does not end and whose umask is what /proc shows of us.
func onOwnThread(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		f()
		return // still locked: the runtime ends the thread
	}
	done := make(chan struct{})
	go func() { // on another thread, as we hold this one
		defer close(done)
		runtime.LockOSThread()
		f()
	}()
	<-done
	runtime.UnlockOSThread()
}

func (l *launch) prepareThread() error {
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return refuse("cannot give the child a umask and a folder of its own: %w", err)
	}
	if err := enter(l.spec); err != nil {
		return refuse("%w", err)
	}
	unix.Umask(int(l.spec.Umask))
	if os.Geteuid() == 0 {
		if err := denyInjection(); err != nil {
			return refuse("cannot keep the child from typing into terminals: %w", err)
		}
	}
	return nil
}

// enter goes to the folder with the rights that the child will have. The child
// itself must not do it: a folder on a file system that hangs would then hold up
// every other fork of this process.
func enter(s *Spec) error {
	if os.Geteuid() == 0 {
		// Raw, so that they concern this thread alone; it dies soon.
		var first unsafe.Pointer
		if len(s.Groups) > 0 {
			first = unsafe.Pointer(&s.Groups[0])
		}
		if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(s.Groups)), uintptr(first), 0); errno != 0 {
			return fmt.Errorf("cannot take on the groups %v: %w", s.Groups, errno)
		}
		// They report no failure; without the right to, the folder is entered as
		// root, and the child's exec fails at setuid.
		_ = unix.Setfsgid(int(s.GID))
		_ = unix.Setfsuid(int(s.UID))
		defer func() { _ = unix.Setfsuid(0) }()
	}
	for {
		err := unix.Chdir(s.Dir)
		switch err {
		case unix.EINTR:
			continue
		case nil:
			return nil
		}
		return fmt.Errorf("uid %d cannot enter the folder %q: %w", s.UID, s.Dir, err)
	}
}

// ioctls are the numbers of the system call by the calling convention
// (AUDIT_ARCH_*), each machine's own and those of its older programs.
var ioctls = map[string][]struct{ arch, number uint32 }{
	"amd64": {{unix.AUDIT_ARCH_X86_64, 16}, {unix.AUDIT_ARCH_I386, 54}},
	"arm64": {{unix.AUDIT_ARCH_AARCH64, 29}, {unix.AUDIT_ARCH_ARM, 54}},
}

// denyInjection keeps this thread and its children from putting input into a
// terminal that they hold (TIOCSTI, TIOCLINUX). The kernel itself refuses it to
// all but root; a child of root's holds the requester's terminal. On machines
// that are not in the table, root's children are not kept from it.
func denyInjection() error {
	const (
		offsetNumber, offsetArch, offsetCommand = 0, 4, 24 // in struct seccomp_data; little endian
		x32                                     = 0x40000000
	)
	stmt := func(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }
	jumpEq := func(k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: yes, Jf: no, K: k}
	}
	load := func(k uint32) unix.SockFilter { return stmt(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, k) }
	var program []unix.SockFilter
	for _, c := range ioctls[runtime.GOARCH] {
		program = append(program,
			load(offsetArch), jumpEq(c.arch, 0, 7), // else the next convention
			load(offsetNumber), stmt(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, ^uint32(x32)),
			jumpEq(c.number, 0, 4), // else the next one, where the arch differs
			load(offsetCommand), jumpEq(unix.TIOCSTI, 1, 0), jumpEq(unix.TIOCLINUX, 0, 1),
			stmt(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM)),
		)
	}
	if program == nil {
		return nil
	}
	program = append(program, stmt(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ALLOW))
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0)
	runtime.KeepAlive(program)
	if err == unix.EACCES {
		return nil // without CAP_SYS_ADMIN neither we nor the child could inject
	}
	return err
}
