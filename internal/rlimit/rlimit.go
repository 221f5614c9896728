// Package rlimit starts a child that is under resource limits before its first
// instruction.
//
// os/exec and syscall.ForkExec cannot set limits for the child alone. Here the
// child is forked traced, stands still at its exec, gets its limits by prlimit,
// and is let go (a twentieth of a millisecond more than a plain start). If anything fails the
// child is killed and reaped: a program never runs without the limits asked for.
//
//	pid, err := rlimit.Start(path, argv, attr, rlimit.Limits{Memory: 512 << 20, NoCore: true})
//
// # What to keep in mind
//
//   - Limits bind each process, not the tree. Only Processes counts across
//     processes, and then all of the user's. Use a control group where there is one.
//   - A traced exec does not honour set-uid and set-gid bits or file
//     capabilities, unless the tracer may trace anything (root). With another
//     Credential in attr it honours them never: the child gives up its rights
//     first and is traced after.
//   - With another Credential in attr, the limits can only be set by a caller
//     with CAP_SYS_RESOURCE: the child belongs to somebody else by then.
//   - A caller that is killed between fork and the first stop (some
//     microseconds) leaves a child that runs without limits. A signal that
//     reaches the child before its exec blocks the start until the child gets
//     SIGKILL; only who can guess the pid can send one.
//   - It may be called inside confine.Run, and takes care of its own thread.
package rlimit

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Limits are the limits of a child; a zero field is no limit. A limit never
// rises above the one this process lives under.
type Limits struct {
	// Memory is in bytes and becomes RLIMIT_DATA: heap, private anonymous
	// memory and private writable mappings of each process. RLIMIT_AS is not
	// used, because Go, Java and JavaScript programs reserve far more address
	// space than they use and die under it. Shared memory, tmpfs and the stack
	// (RLIMIT_STACK) are not counted.
	Memory uint64
	// CPU is the processor time of each process, rounded up to whole seconds:
	// SIGXCPU when it is used up, SIGKILL a second later.
	CPU time.Duration
	// OpenFiles is one more than the highest descriptor number of each process.
	OpenFiles uint64
	// Processes becomes RLIMIT_NPROC. The kernel compares it with the number of
	// all tasks (threads too) of the real user, see UserTasks, and does not
	// enforce it for root and holders of CAP_SYS_RESOURCE or CAP_SYS_ADMIN:
	// there Start refuses it with ErrProcesses.
	Processes uint64
	// FileSize is in bytes, for each file written: SIGXFSZ, EFBIG.
	FileSize uint64
	// NoCore: no core dumps.
	NoCore bool
	// Stopped is called on the calling goroutine while the child stands before
	// its first instruction with the limits set. An error ends the child.
	Stopped func(pid int) error
}

// ErrProcesses says that a limit on processes would have no effect.
var ErrProcesses = errors.New("cannot limit the number of processes with RLIMIT_NPROC: the kernel does not enforce it for root or with CAP_SYS_RESOURCE or CAP_SYS_ADMIN; a control group with the pids controller can")

// IsZero reports whether there is nothing to do but a plain start.
func (l Limits) IsZero() bool {
	return l.Memory == 0 && l.CPU == 0 && l.OpenFiles == 0 && l.Processes == 0 && l.FileSize == 0 && !l.NoCore && l.Stopped == nil
}

type setting struct {
	name       string
	resource   int
	soft, hard uint64
}

// settings lists the limits asked for.
func (l Limits) settings() []setting {
	var list []setting
	add := func(wanted bool, name string, resource int, soft, hard uint64) {
		if wanted {
			list = append(list, setting{name, resource, soft, hard})
		}
	}
	add(l.Memory > 0, "memory", unix.RLIMIT_DATA, l.Memory, l.Memory)
	if l.CPU > 0 {
		s := uint64((l.CPU + time.Second - 1) / time.Second)
		add(true, "processor time", unix.RLIMIT_CPU, s, s+1)
	}
	add(l.OpenFiles > 0, "open files", unix.RLIMIT_NOFILE, l.OpenFiles, l.OpenFiles)
	add(l.Processes > 0, "processes", unix.RLIMIT_NPROC, l.Processes, l.Processes)
	add(l.FileSize > 0, "file size", unix.RLIMIT_FSIZE, l.FileSize, l.FileSize)
	add(l.NoCore, "core dumps", unix.RLIMIT_CORE, 0, 0)
	return list
}

// apply sets the limits of the process pid.
func apply(pid int, list []setting) error {
	for _, s := range list {
		var old unix.Rlimit
		if err := unix.Prlimit(pid, s.resource, nil, &old); err != nil {
			return limitError(s.name, err)
		}
		lim := unix.Rlimit{Cur: min(s.soft, old.Max), Max: min(s.hard, old.Max)}
		if err := unix.Prlimit(pid, s.resource, &lim, nil); err != nil {
			return limitError(s.name, err)
		}
	}
	return nil
}

func limitError(name string, err error) error {
	if err == unix.EPERM {
		return fmt.Errorf("cannot limit the child's %s: it runs as another user, and this process lacks CAP_SYS_RESOURCE: %w", name, err)
	}
	return fmt.Errorf("cannot limit the child's %s: %w", name, err)
}
