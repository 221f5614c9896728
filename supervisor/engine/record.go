package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"snens/supervisor/call"
)

// record puts the one result together.
func (l *loop) record() *call.Record {
	s := l.spec
	r := &call.Record{
		Tool: s.Tool, CallID: s.CallID,
		TimedOut: l.timedOut, Cancelled: l.cancelled, OOM: l.tree.oom(),
		OutputOpen: l.outputOpen, Survivors: l.left, Capture: s.Mode == Capture,
		Attachments: []call.Attachment{}, Cwd: s.Dir, StartedAt: l.start,
		DurationMS: time.Since(l.start).Milliseconds(),
		CPUMS:      (l.usage.Utime.Nano() + l.usage.Stime.Nano()) / int64(time.Millisecond),
		MaxRSSKB:   l.usage.Maxrss,
	}
	if r.Survivors == nil {
		r.Survivors = []call.Survivor{}
	}
	l.ending(r)
	r.OK = r.Class == call.ClassOK || r.Class == call.ClassEmpty
	if s.Mode == Capture {
		l.output(r)
	}
	r.Content = l.content(r)
	return r
}

// ending fills in how the process ended and the class.
func (l *loop) ending(r *call.Record) {
	if l.lost != nil {
		r.Class, r.Message = call.ClassError, fmt.Sprintf("how the program ended is not known: %v", l.lost)
	} else if l.status.Signaled() {
		sig := l.status.Signal()
		name := signalName(sig)
		r.Signal, r.SignalNumber, r.Class = &name, int(sig), call.ClassSignal
	} else {
		code := l.status.ExitStatus()
		r.ExitCode = &code
		switch {
		case l.spec.Classify != nil:
			r.Class = l.spec.Classify(code)
		case code == 0:
			r.Class = call.ClassOK
		default:
			r.Class = call.ClassError
		}
	}
	switch {
	case l.timedOut:
		r.Class = call.ClassTimeout
	case l.cancelled:
		r.Class = call.ClassCancelled
	}
}

func signalName(sig syscall.Signal) string {
	if n := unix.SignalName(sig); n != "" {
		return n
	}
	return fmt.Sprintf("SIG%d", int(sig))
}

// output fills in the captured streams.
func (l *loop) output(r *call.Record) {
	stdout, stderr := l.out.text(), l.err.text()
	r.Stdout, r.Stderr = &stdout, &stderr
	t := call.Truncated{}
	if !l.out.whole() {
		t.Stdout = l.out.total
	}
	if !l.err.whole() {
		t.Stderr = l.err.total
	}
	if t != (call.Truncated{}) {
		r.Truncated = &t
	}
	sp := call.Spill{
		Stdout: l.out.path, Stderr: l.err.path,
		StdoutCapped: l.out.capped && l.out.path != "", StderrCapped: l.err.capped && l.err.path != "",
	}
	if sp != (call.Spill{}) {
		r.Spill = &sp
	}
	if l.spec.JSONOutput && l.out.whole() && l.out.isText() {
		r.Data = jsonData(strings.TrimSpace(stdout))
	}
}

// maxDataDepth bounds what is handed on as data: printed with indents, deep
// nesting makes much of little.
const maxDataDepth = 64

// jsonData is text when it is one JSON value of bearable depth, else nil.
func jsonData(text string) json.RawMessage {
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '[' || c == '{':
			if depth++; depth > maxDataDepth {
				return nil
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	if !json.Valid([]byte(text)) {
		return nil
	}
	return json.RawMessage(text)
}

// content is what a model reads: the output, then one line for each thing that
// it must know of.
func (l *loop) content(r *call.Record) string {
	var b strings.Builder
	line := func(format string, a ...any) {
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, format, a...)
	}
	if r.Stdout != nil {
		b.WriteString(*r.Stdout)
		if (!r.OK || *r.Stdout == "") && *r.Stderr != "" {
			line("[stderr]\n%s", *r.Stderr)
		}
	}
	if !r.OK {
		line("%s", l.statusLine(r))
	}
	if r.Stdout == nil {
		return b.String()
	}
	if l.spec.JSONOutput && r.Data == nil && r.OK {
		line("[stdout was to be JSON of at most 64 levels and is not]")
	}
	for _, s := range []*stream{l.out, l.err} {
		if text := s.remark(); text != "" {
			line("%s", text)
		}
	}
	return b.String()
}

func (l *loop) statusLine(r *call.Record) string {
	switch {
	case r.TimedOut:
		return fmt.Sprintf("timed out after %s", seconds(l.spec.Timeout))
	case r.Cancelled:
		return "cancelled"
	case l.lost != nil:
		return r.Message
	case r.Signal != nil && r.OOM:
		return fmt.Sprintf("killed by %s (out of memory)", *r.Signal)
	case r.Signal != nil:
		return fmt.Sprintf("killed by %s", *r.Signal)
	case r.ExitCode != nil:
		return fmt.Sprintf("exit %d", *r.ExitCode)
	}
	return string(r.Class)
}

func seconds(d time.Duration) string {
	if d%time.Second == 0 {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return fmt.Sprintf("%g s", d.Seconds())
}

// remark is the line about a stream that is not shown in full, "" for others.
func (s *stream) remark() string {
	var what string
	switch {
	case s.total == 0 && s.failed == nil:
		return ""
	case s.always:
		what = fmt.Sprintf("[%s: %d bytes of binary data", s.name, s.total)
	case !s.whole():
		what = fmt.Sprintf("[%s: %d bytes in all, the middle is left out", s.name, s.total)
	case !s.isText():
		what = fmt.Sprintf("[%s: %d bytes, not all of them text", s.name, s.total)
	default:
		return ""
	}
	switch {
	case s.path == "" && s.failed != nil:
		return fmt.Sprintf("%s; the full stream could not be kept: %v]", what, s.failed)
	case s.path == "":
		return what + "]"
	case s.failed != nil:
		return fmt.Sprintf("%s; the first %d are in %s, then writing failed: %v]", what, s.spilled, s.path, s.failed)
	case s.capped:
		return fmt.Sprintf("%s; the first %d are in %s]", what, s.spilled, s.path)
	}
	return fmt.Sprintf("%s; all of it is in %s]", what, s.path)
}
