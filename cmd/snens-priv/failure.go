package main

import (
	"errors"
	"fmt"
	"strings"
)

// Exit statuses. exitUntrusted is that of every client of the broker.
const (
	exitFailed    = 1
	exitUsage     = 2
	exitUntrusted = 69
)

// failure is how a command ends when it does not end well. A nil err means that
// everything has been said.
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

func (f *failure) Unwrap() error { return f.err }

func failf(status int, format string, args ...any) *failure {
	return &failure{status: status, err: fmt.Errorf(format, args...)}
}

func usagef(format string, args ...any) *failure { return failf(exitUsage, format, args...) }

func (f *failure) hintf(format string, args ...any) *failure {
	f.hint = fmt.Sprintf(format, args...)
	return f
}

// finish says what went wrong and gives the exit status.
func (a *app) finish(err error) int {
	if err == nil {
		return 0
	}
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{status: exitFailed, err: err}
	}
	if f.err != nil {
		a.complain(f.err.Error(), f.hint)
	}
	return f.status
}

// complain prints an error, one line for each of its lines, and what to do.
func (a *app) complain(message, hint string) {
	lines := strings.Split(strings.TrimRight(message, "\n"), "\n")
	fmt.Fprintf(a.stderr, "snens-priv: %s\n", line(lines[0]))
	for _, l := range lines[1:] {
		fmt.Fprintf(a.stderr, "  %s\n", line(l))
	}
	if hint != "" {
		fmt.Fprintf(a.stderr, "hint: %s\n", line(hint))
	}
}
