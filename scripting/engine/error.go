package engine

import (
	"context"
	"errors"
	"fmt"
)

// Kind says how a script failed.
type Kind string

// The kinds.
const (
	Syntax     Kind = "syntax"     // the text is no script; Message has line and column
	Thrown     Kind = "thrown"     // the script threw, or a helper's error was not caught
	Operations Kind = "operations" // Limits.Operations are used up
	Cancelled  Kind = "cancelled"  // the context ended; Unwrap gives its cause
	Stack      Kind = "stack"      // Limits.Frames
	Memory     Kind = "memory"     // Limits.Memory
	Pending    Kind = "pending"    // the promise it returned can never settle
	Missing    Kind = "missing"    // there is no function of that name
	Value      Kind = "value"      // a value cannot cross
	Internal   Kind = "internal"   // a fault of the engine or of this program
)

// Error is why a script has no result.
type Error struct {
	Kind    Kind
	Name    string // name of the exception: "TypeError"; may be ""
	Message string // one line or more, as the script gave it
	Stack   string // where, one frame a line; may be ""
	cause   error
}

// Error says the kind in words where the message alone would not.
func (e *Error) Error() string {
	if e.Name == "" || e.Name == "Error" {
		return e.Message
	}
	return e.Name + ": " + e.Message
}

// Unwrap gives the cause of a cancellation.
func (e *Error) Unwrap() error { return e.cause }

// Fail makes an error of a kind.
func Fail(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// KindOf gives the kind of err, Internal when it is none of ours, "" for nil.
func KindOf(err error) Kind {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Kind
	}
	return Internal
}

// errOperations is what ends a script whose operations are used up.
func errOperations(limit int64) *Error {
	return Fail(Operations, "the script was stopped after max_operations (%d); raise it, or look for a loop without end", limit)
}

func errCancelled(ctx context.Context) *Error {
	cause := context.Cause(ctx)
	what := "the script was cancelled"
	if errors.Is(cause, context.DeadlineExceeded) {
		what = "the script was stopped at its time limit"
	}
	return &Error{Kind: Cancelled, Message: what, cause: cause}
}
