package engine

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"snens/supervisor/call"
)

// Fault is why a program could not be started, in words, with the exit status
// a wrapper ends with.
type Fault struct {
	Status int // 125, 126 or 127
	Words  string
	Hint   string
	Cause  error // the system's, where there is one
}

func (f *Fault) Error() string { return f.Words }

func (f *Fault) Unwrap() error { return f.Cause }

// record makes the record of a call that never started.
func (f *Fault) record(s Spec) *call.Record {
	r := &call.Record{
		Tool: s.Tool, CallID: s.CallID, Class: call.ClassStart, StartStatus: f.Status,
		Survivors: []call.Survivor{}, Attachments: []call.Attachment{},
		Capture: s.Mode == Capture, Cwd: s.Dir, StartedAt: time.Now(),
		Message: f.Words, Hint: f.Hint, Cause: f.Cause,
	}
	if f.Status == call.ExitOurs {
		r.Class, r.StartStatus = call.ClassRefused, 0
	}
	r.Content = r.Message
	if f.Hint != "" {
		r.Content += "\nhint: " + f.Hint
	}
	return r
}

// checkDir says in words why dir cannot be a working directory.
func checkDir(dir string) *Fault {
	var st unix.Stat_t
	err := unix.Stat(dir, &st)
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		err = unix.ENOTDIR
	}
	if err == nil {
		err = unix.Access(dir, unix.X_OK)
	}
	if err == nil {
		return nil
	}
	f := &Fault{Status: call.ExitOurs, Hint: "choose another working directory (--cwd DIR, or cwd in JSON)"}
	switch {
	case errors.Is(err, unix.ENOENT):
		f.Words = fmt.Sprintf("the working directory %q does not exist", dir)
	case errors.Is(err, unix.ENOTDIR):
		f.Words = fmt.Sprintf("the working directory %q is not a folder", dir)
	case errors.Is(err, unix.EACCES):
		f.Words = fmt.Sprintf("the working directory %q may not be entered", dir)
	default:
		f.Words = fmt.Sprintf("the working directory %q cannot be used: %v", dir, err)
	}
	return f
}

// explain puts the errno of a failed start into words.
func explain(s Spec, err error) *Fault {
	if f := checkDir(s.Dir); f != nil { // gone between check and start
		return f
	}
	var st unix.Stat_t
	there := unix.Stat(s.Path, &st) == nil
	f := &Fault{Status: call.ExitNotRun, Cause: err}
	switch {
	case errors.Is(err, unix.ENOENT) && !there:
		f.Status, f.Words = call.ExitNotFound, fmt.Sprintf("the program %q does not exist", s.Path)
	case errors.Is(err, unix.ENOENT):
		f.Words = fmt.Sprintf("the interpreter that %q names does not exist", s.Path)
		f.Hint = "the first line of a script, or the loader of a binary, must name an installed program"
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		f.Words = fmt.Sprintf("%q may not be executed", s.Path)
		f.Hint = "it must be an executable file on a file system without noexec"
	case errors.Is(err, unix.ENOEXEC):
		f.Words = fmt.Sprintf("%q is neither a program for this machine nor a script with a #! line", s.Path)
	case errors.Is(err, unix.ETXTBSY):
		f.Words = fmt.Sprintf("%q is being written to by another program", s.Path)
	case errors.Is(err, unix.E2BIG):
		f.Status = call.ExitOurs
		f.Words = "the arguments and the environment together are too long for the system"
		f.Hint = "pass the large value by stdin or as a file"
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.ENOMEM), errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		f.Status, f.Words = call.ExitOurs, fmt.Sprintf("the system has no room for another process: %v", err)
	default:
		f.Words = fmt.Sprintf("cannot start %q: %v", s.Path, err)
	}
	return f
}

// busyFor bounds the wait for a program that is being written to: a build or a
// copy that just ends.
const busyFor = time.Second

// fork starts the child with files as its descriptors 0, 1 and 2.
func (l *loop) fork(files [3]uintptr) error {
	give := time.Now().Add(busyFor)
	for {
		err := l.forkInto(files)
		if !errors.Is(err, unix.ETXTBSY) || time.Now().After(give) {
			return err
		}
		pause(lookAgain)
	}
}

// forkInto starts the child in the tree. A group that the kernel will not
// clone into shows the same errnos as a bad program; since nothing has run by
// then, one more try without the group tells them apart.
func (l *loop) forkInto(files [3]uintptr) error {
	err := l.forkOnce(files)
	if err == nil || l.tree.cgroup() == "" || errors.Is(err, unix.ETXTBSY) || l.needsGroup() {
		return err
	}
	l.tree.close()
	l.tree = &sessionTree{id: string(l.spec.CallID), orph: &l.engine.orphans}
	if err := l.engine.becomeSubreaper(); err != nil {
		return err
	}
	if err := l.writeDown(); err != nil {
		return err // what is written down names the group that is gone
	}
	return l.forkOnce(files)
}

func (l *loop) forkOnce(files [3]uintptr) error {
	pidfd := -1
	attr := &syscall.ProcAttr{
		Dir:   l.spec.Dir,
		Env:   l.spec.Env,
		Files: files[:],
		Sys:   &syscall.SysProcAttr{Setsid: true, PidFD: &pidfd},
	}
	l.tree.attach(attr.Sys)
	l.engine.orphans.forking.RLock()
	defer l.engine.orphans.forking.RUnlock()
	pid, err := l.launch(attr)
	runtime.KeepAlive(l.spec)
	if err != nil {
		return err
	}
	if pidfd < 0 {
		_ = syscall.Kill(pid, syscall.SIGKILL) // our own child, not yet waited for: the pid is its
		_, _ = syscall.Wait4(pid, nil, 0, nil)
		return fmt.Errorf("the kernel gives no pidfd (Linux 5.4 or later is needed): %w", os.ErrInvalid)
	}
	l.pid, l.pidfd = pid, pidfd
	l.tree.started(pid, pidfd)
	return nil
}
