package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"snens/session"
	"snens/supervisor/call"
)

// statusLine is what --status-fd writes: one line that tells the exit
// statuses of snens (ours) from those of the command.
type statusLine struct {
	Tool     string     `json:"tool"`
	CallID   call.ID    `json:"call_id"`
	Status   int        `json:"status"` // the exit status of snens
	Ours     bool       `json:"ours"`   // snens made it, not the command
	Class    call.Class `json:"class"`
	ExitCode *int       `json:"exit_code"` // the command's own, null without one
	Signal   *string    `json:"signal"`
}

// statusFile opens the descriptor of --status-fd, before anything is started.
func statusFile(fd int) (*os.File, error) {
	mode, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if fd < 0 || errors.Is(err, syscall.EBADF) || ownKind(fd) {
		return nil, fmt.Errorf("cannot write to descriptor %d of --status-fd: it is not open", fd)
	}
	if err == nil && mode&unix.O_ACCMODE == unix.O_RDONLY {
		return nil, fmt.Errorf("cannot write to descriptor %d of --status-fd: it is open for reading only", fd)
	}
	// A copy above the standard three, which no tool inherits.
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, fmt.Errorf("cannot write to descriptor %d of --status-fd: %w", fd, err)
	}
	if fd > 2 {
		unix.CloseOnExec(fd)
	}
	return os.NewFile(uintptr(own), "status"), nil
}

// ownKind says that a descriptor is of a kind that the runtime opens for itself
// (epoll, eventfd) and that nobody passes: the number was free when we began.
func ownKind(fd int) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == 0
}

// writeStatus writes the line. A reader who has gone is no fault of the call.
func writeStatus(to *os.File, r *call.Record, status int) {
	line, err := json.Marshal(statusLine{
		Tool: r.Tool, CallID: r.CallID, Status: status,
		Ours: r.Ours() || r.Cancelled, Class: r.Class, ExitCode: r.ExitCode, Signal: r.Signal,
	})
	if err == nil {
		_, _ = to.Write(append(line, '\n'))
	}
}

// neverStarted is the record of a call that ended before there was a tool to
// start: every call has one result.
func (a *app) neverStarted(name string, class call.Class, status int, cwd string, f *failure) *call.Record {
	if abs, err := filepath.Abs(cwd); err == nil {
		cwd = abs
	}
	r := &call.Record{
		Tool: name, CallID: session.NewCallID(), Class: class, Cancelled: class == call.ClassCancelled,
		Survivors: []call.Survivor{}, Attachments: []call.Attachment{}, Capture: a.json, Cwd: cwd,
		Content: "snens: " + f.Error(), Message: f.Error(), Hint: f.hint, StartedAt: time.Now(),
	}
	if f.hint != "" {
		r.Content += "\nhint: " + f.hint
	}
	if class == call.ClassStart {
		r.StartStatus = status
	}
	return r
}

// printRecord prints the record where one was asked for.
func (a *app) printRecord(r *call.Record) error {
	if !a.json {
		return nil
	}
	a.recorded = true
	return a.printJSON(r)
}

// recordUsage gives a call its record whose command line could not be read.
// The options may not have been read as far as --json.
func (a *app) recordUsage(rest []string, err error) {
	var f *failure
	if a.recorded || err == nil {
		return
	}
	if !errors.As(err, &f) {
		f = fail(call.ExitOurs, err)
	}
	name, _ := subcommand(rest)
	if f.err != nil {
		// What cannot be printed, finish finds out.
		_ = a.printRecord(a.neverStarted(name, call.ClassRefused, call.ExitOurs, "", f))
	}
}

// wantsJSON says whether the words of a command line ask for JSON.
func wantsJSON(args []string) bool {
	wants := false
	for _, arg := range args {
		switch arg {
		case "--":
			return wants
		case "--json", "--json=true":
			wants = true
		case "--json=false":
			wants = false
		}
	}
	return wants
}

// asFailure is err as a failure, whatever it was.
func asFailure(err error) *failure {
	f := &failure{}
	if errors.As(err, &f) {
		return f
	}
	return fail(call.ExitOurs, err)
}
