package rlimit

import "golang.org/x/sys/unix"

// Release is what Start does with the child behind its fork.
var Release = release

// Settings are the numbers that l asks the kernel for, by name.
func Settings(l Limits) map[string][2]uint64 {
	m := map[string][2]uint64{}
	for _, s := range l.settings() {
		m[s.name] = [2]uint64{s.soft, s.hard}
	}
	return m
}

// StatusNumber reads /proc/PID/status.
var StatusNumber = statusNumber

// WallWait reaps whatever child has this pid.
func WallWait(pid int) (unix.WaitStatus, error) {
	var ws unix.WaitStatus
	for {
		if _, err := unix.Wait4(pid, &ws, unix.WALL, nil); err != unix.EINTR {
			return ws, err
		}
	}
}
