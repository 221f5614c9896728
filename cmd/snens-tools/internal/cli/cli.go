// Package cli is the command line of the shipped tools: options, refusals and
// their exit statuses. It is small on purpose, because every call of a tool
// pays for its start.
//
// A tool declares its options on a Set, calls Parse, and returns errors made
// with Usage or Fail; Report prints them. Options are long only (--name VALUE
// or --name=VALUE), may stand anywhere before "--", and are refused when they
// are unknown or given twice. Do not use it for the snens command itself,
// which has cobra.
package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"snens/cmd/snens-tools/internal/visible"
)

// Exit statuses that all tools share. A tool may add its own from 3 upwards.
const (
	ExitOK    = 0
	ExitFail  = 1
	ExitUsage = 2
)

// IO is what a tool reads and writes.
type IO struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// Error ends a tool with a status, one line that says what is wrong and,
// where there is one, a second line with the fix.
type Error struct {
	Code    int
	Message string
	Hint    string
}

func (e *Error) Error() string { return e.Message }

// Usage is the error of a call that the tool does not accept. Status 2.
func Usage(hint, format string, a ...any) error {
	return &Error{Code: ExitUsage, Message: fmt.Sprintf(format, a...), Hint: hint}
}

// Fail is the error of a call that was right but could not be carried out. Status 1.
func Fail(hint, format string, a ...any) error {
	return &Error{Code: ExitFail, Message: fmt.Sprintf(format, a...), Hint: hint}
}

// Report prints err for people as "NAME: message" and "hint: ...", escaped and
// one line each, and returns the exit status. A nil err is status 0 and prints nothing.
func Report(w io.Writer, name string, err error) int {
	if err == nil {
		return ExitOK
	}
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Code: ExitFail, Message: err.Error()}
	}
	if e.Message != "" {
		fmt.Fprintf(w, "%s: %s\n", name, visible.Line(e.Message))
	}
	if e.Hint != "" {
		fmt.Fprintf(w, "hint: %s\n", visible.Line(e.Hint))
	}
	return e.Code
}

// Essence is the first line of a tool's help text, and UsageLine the second.
func Essence(help string) string { return nthLine(help, 0) }

// UsageLine is the second line of a tool's help text.
func UsageLine(help string) string { return nthLine(help, 1) }

func nthLine(s string, n int) string {
	lines := strings.SplitN(s, "\n", n+2)
	if n >= len(lines) {
		return ""
	}
	return lines[n]
}
