package rlimit

import (
	"fmt"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Start forks and execs like syscall.ForkExec, with the child under the limits
// from its first instruction on. attr is not changed; PidFD, UseCgroupFD,
// Setsid and the rest of it are honoured. Failures of fork and exec are the
// plain errno, as from ForkExec. On any error the child is gone, *PidFD is
// closed and -1, and nothing of the program has run.
func Start(path string, argv []string, attr *syscall.ProcAttr, l Limits) (pid int, err error) {
	var a syscall.ProcAttr
	if attr != nil {
		a = *attr
	}
	var sys syscall.SysProcAttr
	if a.Sys != nil {
		sys = *a.Sys
	}
	if l.Processes > 0 && !enforced(sys.Credential) {
		return 0, ErrProcesses
	}
	sys.Ptrace = true
	a.Sys = &sys

	// The tracer is a thread, not a process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pid, err = syscall.ForkExec(path, argv, &a)
	if err != nil {
		return 0, err
	}
	if err := release(pid, l); err != nil {
		if sys.PidFD != nil && *sys.PidFD >= 0 {
			unix.Close(*sys.PidFD)
			*sys.PidFD = -1
		}
		return 0, err
	}
	return pid, nil
}

// release waits for the exec stop, sets the limits and detaches. On an error
// the child is killed and reaped.
func release(pid int, l Limits) error {
	pending, alive, err := execStop(pid)
	if err == nil {
		err = letGo(pid, l, pending)
	}
	if err != nil && alive {
		destroy(pid)
	}
	return err
}

// execStop waits until the child stands at its exec. Signals that came before
// are held back and returned, so that they meet the program and not the stop.
// alive says whether there still is a child to reap.
func execStop(pid int) (pending []unix.Signal, alive bool, err error) {
	for {
		var ws unix.WaitStatus
		if _, err := unix.Wait4(pid, &ws, unix.WALL, nil); err == unix.EINTR {
			continue
		} else if err != nil {
			return nil, false, fmt.Errorf("cannot wait for the stopped child: %w", err)
		}
		if !ws.Stopped() {
			return nil, false, fmt.Errorf("cannot limit the child: it was ended at its start (%s)", ending(ws))
		}
		if ws.StopSignal() == unix.SIGTRAP {
			return pending, true, nil
		}
		// The exec's SIGTRAP is pending already, and is taken up before the
		// first instruction.
		pending = append(pending, ws.StopSignal())
		if err := unix.PtraceCont(pid, 0); err != nil {
			return nil, true, fmt.Errorf("cannot continue the stopped child: %w", err)
		}
	}
}

func letGo(pid int, l Limits, pending []unix.Signal) error {
	if err := unix.PtraceSetOptions(pid, unix.PTRACE_O_EXITKILL); err != nil {
		return fmt.Errorf("cannot hold the stopped child: %w", err)
	}
	if err := apply(pid, l.settings()); err != nil {
		return err
	}
	if l.Stopped != nil {
		if err := l.Stopped(pid); err != nil {
			return err
		}
	}
	for _, sig := range pending {
		// Queued again; a stopped child of ours cannot be another process.
		if err := unix.Kill(pid, sig); err != nil {
			return fmt.Errorf("cannot pass a signal on to the child: %w", err)
		}
	}
	if err := unix.PtraceDetach(pid); err != nil {
		return fmt.Errorf("cannot let the stopped child go: %w", err)
	}
	return nil
}

// destroy kills and reaps a child that has not run.
func destroy(pid int) {
	_ = unix.Kill(pid, unix.SIGKILL) // it is stopped or dead; both end below
	for {
		var ws unix.WaitStatus
		_, err := unix.Wait4(pid, &ws, unix.WALL, nil)
		if err == unix.EINTR || (err == nil && ws.Stopped()) {
			continue
		}
		return
	}
}

func ending(ws unix.WaitStatus) string {
	if ws.Signaled() {
		return "signal " + unix.SignalName(ws.Signal())
	}
	return fmt.Sprintf("exit %d", ws.ExitStatus())
}
