package execute

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/internal/spawn"
)

// internalError is a fault of whoever called us.
type internalError struct{ words string }

func (e internalError) Error() string { return "cannot run the request: " + e.words }

// resumeError says that a request cannot be taken up again.
type resumeError struct{ err error }

func (e *resumeError) Error() string { return "cannot open its files again: " + e.err.Error() }

func (e *resumeError) Unwrap() error { return e.err }

// why is the reason for the end of ctx, 0 when it has not ended.
func (x *Executor) why(ctx context.Context) action.Reason {
	if ctx.Err() == nil {
		return 0
	}
	if why := x.o.Why(ctx); why.Explains(action.Exited) {
		return why
	}
	return action.ReasonCancelled
}

// failed is the ending of what never ran.
func (r *run) failed(ctx context.Context, err error) Ending {
	e := Ending{Reason: action.ReasonCannotStart, Detail: err.Error()}
	var changed *spawn.ChangedError
	var stale *resumeError
	var fault internalError
	var hung *spawn.StartError
	switch {
	case errors.As(err, &fault):
		e.Reason = action.ReasonInternal
	case errors.As(err, &changed), errors.As(err, &stale):
		e.Reason = action.ReasonStaleFile
	case errors.As(err, &hung) && hung.Released != nil:
		e.Detail += "; it is counted as unkillable"
	case ctx.Err() != nil:
		why := r.x.why(ctx)
		if why.Explains(action.FailedToStart) {
			e.Reason = why
		}
		e.Detail = "given up before it ran: " + why.String()
	case missing(err):
		e.Reason = action.ReasonCommandMissing
	}
	return e
}

// missing: the program, an interpreter or a loader is not there. A folder that
// is not there has the same errno, behind words of its own.
func missing(err error) bool {
	var start *spawn.StartError
	if !errors.As(err, &start) {
		return errors.Is(err, fs.ErrNotExist)
	}
	return start.Err == unix.ENOENT || start.Err == unix.ENOTDIR
}

// ending puts what became of an action into the words of a request. why is the
// reason for which we ended it.
func ending(res spawn.Result, why action.Reason) Ending {
	var e Ending
	var notes []string
	status := func() {
		switch {
		case res.Signal != 0:
			notes = append(notes, fmt.Sprintf("the command was ended by signal %d", int(res.Signal)))
		case res.ExitCode >= 0:
			notes = append(notes, fmt.Sprintf("the command ended with exit status %d", res.ExitCode))
		}
	}
	switch res.Outcome {
	case spawn.Exited:
		if e.Reason, e.Code = action.ReasonExited, res.ExitCode; res.ExitCode < 0 {
			e.Reason, e.Code = action.ReasonLost, 0
			notes = append(notes, "somebody else took its exit status")
		}
	case spawn.Signalled:
		e.Reason, e.Signal = action.ReasonSignalled, int(res.Signal)
	case spawn.TimedOut:
		e.Reason = action.ReasonTimedOut
		status()
	case spawn.Cancelled:
		if e.Reason = why; why == 0 {
			e.Reason = action.ReasonCancelled
		}
		status()
	case spawn.Unkillable:
		e.Reason = action.ReasonUnkillable
		status()
		notes = append(notes, "cannot be ended: "+pids(res.Left))
		if why != 0 {
			notes = append(notes, "told to end: "+why.String())
		}
	default:
		e.Reason = action.ReasonLost
	}
	if res.OOM {
		notes = append(notes, "the kernel ended a process of it at the limit on memory")
	}
	if len(res.Survivors) > 0 {
		notes = append(notes, "ended after the command: "+pids(res.Survivors))
	}
	e.Detail = strings.Join(notes, "; ")
	return e
}

// pids names processes, a handful of them.
func pids(list []int) string {
	const most = 8
	words := make([]string, 0, most)
	for _, pid := range list[:min(len(list), most)] {
		words = append(words, fmt.Sprint(pid))
	}
	text := fmt.Sprintf("%d processes (%s", len(list), strings.Join(words, ", "))
	if len(list) > most {
		text += ", ..."
	}
	return text + ")"
}
