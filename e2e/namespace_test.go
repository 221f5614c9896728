package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"snens/internal/testneed"
)

// inNamespace lets snens of this world run in a mount namespace of its own,
// after a script that changes what it sees. Nothing outside is changed.
func (w *world) inNamespace(setup string) {
	w.t.Helper()
	needNamespaces(w.t)
	w.wrap = []string{"unshare", "-m", "--propagation", "private", "--", "sh", "-ec", setup + "\n" + `exec "$@"`, "sh"}
}

func needNamespaces(t testing.TB) {
	t.Helper()
	testneed.Root(t)
	testneed.Program(t, "unshare", "util-linux")
	err := exec.Command("unshare", "-m", "true").Run()
	testneed.Kernel(t, err == nil, "mount namespaces for this user")
}

// hideGroups takes the cgroup v2 hierarchy away from snens, which then has to
// supervise by sessions and a sweep.
const hideGroups = `while read -r _ at kind _; do [ "$kind" != cgroup2 ] || umount -l "$at"; done </proc/self/mounts`

// modes runs a test under both ways of supervision.
func modes(t *testing.T, test func(t *testing.T, w *world)) {
	t.Run("group", func(t *testing.T) {
		t.Parallel()
		testneed.CgroupV2(t)
		test(t, newWorld(t))
	})
	t.Run("fallback", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.inNamespace(hideGroups)
		test(t, w)
	})
}

// execWithoutFork becomes another program that can start threads but no
// process: clone fails unless it makes a thread, and clone3, whose flags a
// filter cannot see, is as if the kernel were older.
func execWithoutFork(args []string) {
	runtime.LockOSThread()
	const clone, clone3, thread = unix.SYS_CLONE, unix.SYS_CLONE3, unix.CLONE_THREAD
	errno := func(e syscall.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the call's number
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: clone3, Jt: 4, Jf: 0},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: clone, Jt: 0, Jf: 2},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 16}, // low half of the flags
		{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: thread, Jt: 0, Jf: 2},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		{Code: unix.BPF_RET | unix.BPF_K, K: errno(syscall.ENOSYS)},
		{Code: unix.BPF_RET | unix.BPF_K, K: errno(syscall.EPERM)},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if err == nil {
		err = unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
	}
	if err == nil {
		_ = os.Unsetenv(roleName)
		err = syscall.Exec(args[0], args, os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
