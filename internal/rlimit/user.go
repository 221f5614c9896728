package rlimit

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// enforced reports whether the kernel would hold RLIMIT_NPROC for a child.
func enforced(cred *syscall.Credential) bool {
	if cred != nil && int(cred.Uid) != os.Getuid() {
		// The exec of another user's program drops the capabilities.
		return cred.Uid != 0
	}
	if os.Getuid() == 0 {
		return false
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&head, &data[0]); err != nil {
		return false
	}
	const both = 1<<unix.CAP_SYS_RESOURCE | 1<<unix.CAP_SYS_ADMIN
	return data[0].Effective&both == 0
}

// UserTasks counts the tasks (threads included) whose real user is uid, which
// is what RLIMIT_NPROC is compared with. UserTasks plus n bounds a fork storm
// at n, and never keeps other programs of the user from starting.
func UserTasks(uid int) (uint64, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, fmt.Errorf("cannot count the user's tasks: %w", err)
	}
	var n uint64
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		status, err := os.ReadFile("/proc/" + e.Name() + "/status")
		if err != nil {
			continue // ended meanwhile
		}
		if id, ok := statusNumber(status, "Uid:"); !ok || id != uint64(uid) {
			continue
		}
		if threads, ok := statusNumber(status, "Threads:"); ok {
			n += threads
		} else {
			n++
		}
	}
	return n, nil
}

// statusNumber is the first number of a line of /proc/PID/status.
func statusNumber(status []byte, key string) (uint64, bool) {
	for line := range bytes.Lines(status) {
		rest, ok := bytes.CutPrefix(line, []byte(key))
		if !ok {
			continue
		}
		fields := bytes.Fields(rest)
		if len(fields) == 0 {
			return 0, false
		}
		v, err := strconv.ParseUint(string(fields[0]), 10, 64)
		return v, err == nil
	}
	return 0, false
}
