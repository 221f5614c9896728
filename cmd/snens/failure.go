package main

import (
	"errors"
	"fmt"
	"strings"

	"snens/internal/escape"
	"snens/supervisor/call"
)

// Exit statuses of all commands but the wrappers, which have timeout(1)'s
// (package call).
const (
	statusFailed = 1
	statusUsage  = 2
)

// failure is how a command ends when it does not end well. A nil err means
// that everything has been said already.
type failure struct {
	status int
	err    error
	hint   string
}

func (f *failure) Error() string {
	if f.err == nil {
		return fmt.Sprintf("exit status %d", f.status)
	}
	return f.err.Error()
}

func fail(status int, err error) *failure { return &failure{status: status, err: err} }

func failf(status int, format string, args ...any) *failure {
	return fail(status, fmt.Errorf(format, args...))
}

func (f *failure) withHint(format string, args ...any) *failure {
	f.hint = fmt.Sprintf(format, args...)
	return f
}

// finish prints what went wrong and returns the exit status. An error that is
// no failure comes from reading the command line and gets the status usage.
func (a *app) finish(err error, usage int) int {
	if flushErr := a.out.flush(); flushErr != nil && err == nil {
		status := statusFailed
		if usage == call.ExitOurs {
			status = call.ExitOurs
		}
		err = failf(status, "cannot write the output: %w", flushErr)
	}
	if err == nil {
		return 0
	}
	f := &failure{}
	if !errors.As(err, &f) {
		f = fail(usage, err)
	}
	if f.err != nil {
		a.complain(f.err.Error(), f.hint)
	}
	return f.status
}

// complain prints an error, and its fix when there is one, on stderr.
func (a *app) complain(message, hint string) {
	lines := strings.Split(strings.TrimRight(message, "\n"), "\n")
	fmt.Fprintf(a.notes, "snens: %s\n", escape.Line(lines[0]))
	for _, line := range lines[1:] {
		fmt.Fprintf(a.notes, "  %s\n", escape.Line(line))
	}
	if hint != "" {
		fmt.Fprintf(a.notes, "hint: %s\n", escape.Line(a.ownHint(hint)))
	}
}
