package engine

import (
	"syscall"

	"snens/supervisor/call"
)

// tree is the process tree of one call. Its methods are called by the call's
// own goroutine alone.
type tree interface {
	// attach prepares the start.
	attach(*syscall.SysProcAttr)
	// cgroup is the absolute path of the call's own group, "" in the fallback.
	cgroup() string
	// started is told the child as soon as it runs; pidfd stays the caller's.
	started(pid, pidfd int)
	// exited is told that the child was reaped: its pid is no longer its own.
	exited()
	// members are the live processes of the tree.
	members() []call.Survivor
	// signal sends sig to every member.
	signal(sig syscall.Signal)
	// kill ends every member, those born meanwhile too; it does not wait.
	kill()
	// freeze stops or continues every member.
	freeze(bool)
	// empty says that no member is left.
	empty() bool
	// oom says that the kernel ended a member for want of memory.
	oom() bool
	// close gives back what the tree holds. Members that are left stay.
	close()
}
