// Package confine starts children from a restricted OS thread.
//
// Landlock and seccomp apply to the calling thread and are inherited over fork
// and exec. So one fresh thread is restricted, the child is forked from it, and
// the thread dies; the rest of the process never notices:
//
//	err := confine.Run(confine.Rules{ReadOnly: true, WriteBeneath: []string{scratch}, NoNetwork: true, NoUnix: true},
//		func() error {
//			pid, err = syscall.ForkExec(path, argv, attr)
//			return err
//		})
//
// Where many children start under the same rules, a Thread serves them all.
//
// # What to keep in mind
//
//   - What f opens is restricted like what the child opens: open the null file,
//     pipes and the control group's folder before Run, and only fork inside.
//     A descriptor opened before keeps all its rights, in the child too.
//   - Never set SysProcAttr.Pdeathsig on a child started in f: the thread that
//     is the child's parent dies at once, and the signal goes out.
//   - A program that locks its main goroutine to the main thread (in an init
//     function) makes starts cheaper; without it Run still never restricts the
//     main thread, it takes another one.
//   - Every rule brings no_new_privs: set-uid programs get no privilege.
//
// # What the rules cover
//
// ReadOnly: opening for writing, creating, removing, renaming, linking,
// truncating, device ioctls, by Landlock. Landlock (see the kernel's
// Documentation/userspace-api/landlock.rst) has no right for chmod, chown,
// setxattr, utime, fcntl, flock and for ioctl on files that are no devices, so
// a seccomp filter refuses chmod, chown, extended attributes, time stamps and
// the ioctls that set file flags or act on a whole file system. A filter sees
// no paths: these are refused below WriteBeneath too, unless AllowMetadata.
// Refused as well is what changes the machine without a path: mounts, modules,
// kexec, reboot, swap, clock, host name, accounting, quotas, bpf.
// Not covered: advisory locks, System V IPC and POSIX message queues, lowering
// the priority or limits of other processes of the same user, and bytes written
// to descriptors that the child was given.
//
// NoNetwork: every socket family but AF_UNIX, by seccomp; TCP by Landlock too.
//
// NoUnix: sockets of AF_UNIX, by seccomp, because no Landlock up to ABI 8 stops
// a connect to a socket in the file system. Stream and seqpacket socketpairs
// stay, they cannot be pointed elsewhere; a datagram pair can (sendto with an
// address), so it is refused.
//
// Any rule: io_uring answers ENOSYS (it would do all of the above unseen), x32
// likewise, a foreign architecture ends the process by SIGSYS, TIOCSTI and
// TIOCLINUX are refused, processes outside can neither be traced nor written
// to, nor signalled (Landlock ABI 6). Support.Gaps says what the running kernel
// leaves open.
package confine

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Rules say what a child may not do. The zero value restricts nothing.
type Rules struct {
	// ReadOnly refuses every write but below WriteBeneath and to /dev/null,
	// zero, full, random and urandom.
	ReadOnly bool
	// WriteBeneath are absolute paths of existing folders (or single files)
	// that stay writable under ReadOnly. A symlink is followed once, now.
	WriteBeneath []string
	// AllowMetadata leaves chmod, chown, extended attributes, time stamps and
	// file flags allowed under ReadOnly, everywhere.
	AllowMetadata bool
	// NoNetwork refuses every socket family but AF_UNIX (EAFNOSUPPORT).
	NoNetwork bool
	// NoUnix refuses AF_UNIX sockets (EAFNOSUPPORT).
	NoUnix bool
}

func (r Rules) isZero() bool { return !r.ReadOnly && !r.NoNetwork && !r.NoUnix }

// SetupError is a failure to put the rules in force. f has not run.
type SetupError struct{ Err error }

func (e *SetupError) Error() string { return "cannot restrict the child: " + e.Err.Error() }

// Unwrap gives the cause.
func (e *SetupError) Unwrap() error { return e.Err }

// Run runs f on a fresh OS thread under the rules, waits for it and returns its
// error unchanged. Before f has run it may fail with an *UnsupportedError (this
// kernel cannot do it) or a *SetupError (a rule is wrong or was refused). With
// the zero Rules f runs unrestricted on the calling goroutine.
func Run(r Rules, f func() error) error {
	if r.isZero() {
		return f()
	}
	s := Supported()
	if !s.OK() {
		return &UnsupportedError{Missing: s.Missing}
	}
	return runWith(r, s, f)
}

// runWith is Run for a kernel that supports s.
func runWith(r Rules, s Support, f func() error) error {
	set, err := newRuleset(r, s)
	if err != nil {
		return &SetupError{err}
	}
	defer unix.Close(set)
	prog := filter(r, s.Landlock)
	return onFreshThread(func() error {
		if err := restrictThread(set, prog); err != nil {
			return &SetupError{err}
		}
		return f()
	})
}

// onFreshThread runs g on a thread that dies afterwards and is not the main
// thread, which cannot die and would stay restricted for good.
func onFreshThread(g func() error) error {
	done := make(chan error, 1)
	go func() {
		result := fmt.Errorf("the goroutine that was to start the child ended early")
		defer func() { done <- result }()
		runtime.LockOSThread()
		if unix.Gettid() == os.Getpid() {
			// Held locked until the second attempt is over, the main thread
			// cannot be handed out again.
			result = onFreshThread(g)
			runtime.UnlockOSThread()
			return
		}
		result = g()
		// No UnlockOSThread: the runtime ends the thread with the goroutine.
	}()
	return <-done
}

// restrictThread puts the rules in force on the calling thread. No way back.
func restrictThread(ruleset int, prog []unix.SockFilter) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot set no_new_privs: %w", err)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0); errno != 0 {
		if errno == unix.E2BIG {
			return fmt.Errorf("cannot enter the Landlock domain: 16 are nested already (restricted programs that start restricted programs): %w", errno)
		}
		return fmt.Errorf("cannot enter the Landlock domain: %w", errno)
	}
	return loadFilter(prog)
}
