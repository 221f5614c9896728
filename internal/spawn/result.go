package spawn

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Outcome says how an action ended. The zero value is none of them.
type Outcome uint8

// The outcomes.
const (
	Exited     Outcome = iota + 1 // by itself, with ExitCode
	Signalled                     // by a signal that is not ours
	TimedOut                      // ended by us: the time limit
	Cancelled                     // ended by us: Cancel
	Unkillable                    // ended by us, and part of it is still there
)

var outcomes = [...]string{
	Exited: "exited", Signalled: "killed by a signal", TimedOut: "timed out",
	Cancelled: "cancelled", Unkillable: "unkillable",
}

func (o Outcome) String() string {
	if o == 0 || int(o) >= len(outcomes) {
		return fmt.Sprintf("outcome %d", uint8(o))
	}
	return outcomes[o]
}

// Result is what became of an action that was started.
type Result struct {
	Outcome Outcome
	// ExitCode is that of the command itself, whatever the outcome; -1 when it
	// was ended by Signal or still lives.
	ExitCode int
	Signal   syscall.Signal
	// OOM: the kernel killed one of its processes at the limit on memory.
	OOM bool
	// Survivors are the pids that outlived the command; they were ended.
	Survivors []int
	// Left are the pids that could not be ended (Unkillable).
	Left []int
	// Ended is when the command itself ended, else when waiting was given up.
	Ended time.Time
}

// StartError says why an action was not started: nothing of it has run.
type StartError struct {
	Words string
	Err   error // the system's, where there is one
	// Released is not nil when the start hangs in the kernel and was given up
	// (what hangs is to be counted as unkillable): the Files and the Program must
	// be left open until it is closed.
	Released <-chan struct{}
}

func (e *StartError) Error() string { return "cannot start the action: " + e.Words }

func (e *StartError) Unwrap() error { return e.Err }

func refuse(format string, a ...any) error {
	err := fmt.Errorf(format, a...)
	return &StartError{Words: err.Error(), Err: errors.Unwrap(err)}
}

// explain puts the errno of a failed fork or exec into words.
func explain(s *Spec, err error) error {
	path := s.Program.files[0].Path
	e := &StartError{Err: err}
	switch {
	case errors.Is(err, unix.EACCES):
		e.Words = fmt.Sprintf("uid %d may not execute %s, or its file system is mounted noexec", s.UID, path)
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		e.Words = "the loader of " + path + " does not exist"
	case errors.Is(err, unix.ENOEXEC):
		e.Words = path + " is neither a program for this machine nor a script with a #! line"
	case errors.Is(err, unix.ETXTBSY):
		e.Words = path + " is being written to by another program"
	case errors.Is(err, unix.E2BIG):
		e.Words = "the arguments and the environment together are too long for the system"
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.ENOMEM), errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		e.Words = fmt.Sprintf("the system has no room for another process: %v", err)
	default:
		e.Words = fmt.Sprintf("%s: %v", path, err)
	}
	return e
}
