// Package call is the vocabulary of calls: the result record every call ends
// with, its classes, and how a record becomes an exit status. It does no I/O.
//
// The record's JSON is the same everywhere: snens call --json, calls.jsonl,
// the service and MCP. Its schema is described in docs/tools.md.
package call

import (
	"encoding/json"
	"time"
)

// ID names one call: it sorts by time, is never reused and is safe as a file name.
type ID string

// Class says in one word how a call ended. The first five can be chosen by a
// tool's x-snens "exit" key; the others are the supervisor's own.
type Class string

// The classes. A record is ok when its class is ClassOK or ClassEmpty.
const (
	ClassOK    Class = "ok"
	ClassEmpty Class = "empty" // ran well, found nothing
	ClassRetry Class = "retry" // may work later
	ClassUsage Class = "usage" // the tool did not accept its arguments
	ClassError Class = "error" // any other exit status

	ClassSignal    Class = "signal"    // died by a signal
	ClassTimeout   Class = "timeout"   // ended by the call's time limit
	ClassCancelled Class = "cancelled" // ended by the caller
	ClassRefused   Class = "refused"   // bad arguments or a missing guard: nothing was started
	ClassStart     Class = "start"     // could not be started
)

// Survivor is a process that was still alive when the tool itself had exited.
type Survivor struct {
	PID  int    `json:"pid"`
	Name string `json:"name"` // the kernel's comm, at most 15 bytes, as the process chose it
}

// Spill names the files that hold the streams in full (up to spill_max).
type Spill struct {
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
	// StdoutCapped and StderrCapped say that the file ends before the stream
	// did: spill_max was reached or the disk was full.
	StdoutCapped bool `json:"stdout_capped,omitempty"`
	StderrCapped bool `json:"stderr_capped,omitempty"`
}

// Truncated holds the total bytes of each stream that is not shown in full.
type Truncated struct {
	Stdout int64 `json:"stdout,omitempty"`
	Stderr int64 `json:"stderr,omitempty"`
}

// Attachment is a file that a call left in its attachment folder.
type Attachment struct {
	Path string `json:"path"`
	MIME string `json:"mime"`
	Size int64  `json:"size"`
}

// Record is the one result of a call. Pointers are null in JSON when the value
// does not apply: exit_code for a death by signal or a call that never
// started, stdout and stderr when the caller's own descriptors were used.
type Record struct {
	Tool      string  `json:"tool"`
	CallID    ID      `json:"call_id"`
	OK        bool    `json:"ok"`
	Class     Class   `json:"class"`
	ExitCode  *int    `json:"exit_code"`
	Signal    *string `json:"signal"` // "SIGKILL"
	TimedOut  bool    `json:"timed_out"`
	Cancelled bool    `json:"cancelled"`
	OOM       bool    `json:"oom"`
	// OutputOpen: something still held an output pipe when the tool had exited.
	OutputOpen bool       `json:"output_open"`
	Survivors  []Survivor `json:"survivors"` // never null
	Capture    bool       `json:"capture"`
	// Content is what a model reads. Empty in pass mode unless the call failed to start.
	Content   string     `json:"content"`
	Stdout    *string    `json:"stdout"`
	Stderr    *string    `json:"stderr"`
	Truncated *Truncated `json:"truncated"`
	Spill     *Spill     `json:"spill"`

	Data        json.RawMessage `json:"data"`
	Visual      json.RawMessage `json:"visual"`
	Attachments []Attachment    `json:"attachments"` // never null

	Cwd        string    `json:"cwd"`
	StartedAt  time.Time `json:"started_at"`
	DurationMS int64     `json:"duration_ms"`
	CPUMS      int64     `json:"cpu_ms"`
	MaxRSSKB   int64     `json:"max_rss_kb"`

	// Message is our own one-line reason for the classes refused and start and for
	// an end that is not known, Hint its fix; both are part of Content already.
	Message string `json:"-"`
	Hint    string `json:"-"`
	// SignalNumber is the number behind Signal, 0 when there is none.
	SignalNumber int `json:"-"`
	// Cause is the system's error behind ClassStart, nil otherwise.
	Cause error `json:"-"`
	// StartStatus is 126 or 127 for ClassStart, else 0.
	StartStatus int `json:"-"`
}

// Exit statuses of the wrappers (call, run, priv), as timeout(1) has them.
const (
	ExitTimeout  = 124
	ExitOurs     = 125 // any fault of ours, bad arguments too
	ExitNotRun   = 126 // found, but cannot be run
	ExitNotFound = 127 // no such tool
	ExitSignal   = 128 // plus the signal's number
)

// ExitStatus is the exit status a wrapper ends with for this record.
func (r *Record) ExitStatus() int {
	switch {
	case r.Class == ClassTimeout || r.TimedOut:
		return ExitTimeout
	case r.Class == ClassRefused:
		return ExitOurs
	case r.Class == ClassStart:
		if r.StartStatus != 0 {
			return r.StartStatus
		}
		return ExitNotRun
	case r.SignalNumber != 0:
		return ExitSignal + r.SignalNumber
	case r.ExitCode != nil:
		return *r.ExitCode
	}
	return ExitOurs
}

// Ours says whether the exit status of the record was made by the supervisor
// rather than by the command: what --status-fd reports.
func (r *Record) Ours() bool {
	return r.TimedOut || r.Class == ClassTimeout || r.Class == ClassRefused || r.Class == ClassStart ||
		r.ExitCode == nil && r.Signal == nil
}
