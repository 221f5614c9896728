// Package logs shows the newest lines of a log: the systemd journal, or a file
// below /var/log. The newest are chosen and printed oldest first; how many is
// bounded in lines and bytes, and what was left out is said.
//
// Show chooses the source. The journal is read through journalctl; files are
// read from their end, those that end in .gz from their beginning. It follows
// nothing and waits for nothing.
package logs

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"snens/cmd/snens-tools/internal/visible"
)

// Bounds of a request.
const (
	DefaultLimit = 100
	MaxLimit     = 5000
	outputBytes  = 64 << 10
	lineWidth    = 1000
	// scanBytes and scanEntries bound how far back is searched.
	scanBytes   = 256 << 20
	scanEntries = 300_000
)

// Request says which lines are wanted. Zero values ask for no restriction.
type Request struct {
	Unit         string
	Priority     string // a name of Priorities
	Since, Until time.Time
	Grep         *regexp.Regexp
	Limit        int
	File         string // below the folder of logs; "": the journal, else the system's log file
}

// Source is where logs are.
type Source struct {
	Folder     string // of log files: /var/log
	Journalctl string // program; "" when there is no journal
}

// Error is a refusal with its fix.
type Error struct{ Message, Hint string }

func (e *Error) Error() string { return e.Message }

func refuse(hint, format string, a ...any) error {
	return &Error{Message: fmt.Sprintf(format, a...), Hint: hint}
}

// Priorities are the names of syslog(3), most urgent first.
func Priorities() []string {
	return []string{"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"}
}

// Show prints what r asks for and returns the number of entries. Errors: *Error
// for a source that is not there, or one of reading or writing.
func (s Source) Show(w io.Writer, r Request) (int, error) {
	if r.Limit == 0 {
		r.Limit = DefaultLimit
	}
	c := &collector{request: r}
	var err error
	switch {
	case r.File == "" && s.Journalctl != "":
		err = s.journal(c)
	case r.Unit != "" || r.Priority != "":
		return 0, refuse("name a file instead: "+s.list(), "unit and priority need the systemd journal, which is not what is read here")
	default:
		err = s.file(c)
	}
	if err != nil {
		return 0, err
	}
	return len(c.entries), c.print(w)
}

// collector takes entries, newest first, until a bound is reached.
type collector struct {
	request Request
	entries []string // newest first
	bytes   int
	oldest  time.Time // of the last entry taken
	notes   []string
	more    bool // older entries match, or may
	byBytes bool
}

// take adds an entry that matches in all but its text. It returns false when
// no more is wanted.
func (c *collector) take(text string, at time.Time) bool {
	if c.request.Grep != nil && !c.request.Grep.MatchString(text) {
		return true
	}
	shown := entry(text)
	c.byBytes = c.bytes+len(shown) > outputBytes && len(c.entries) > 0
	if c.byBytes || len(c.entries) == c.request.Limit {
		c.more = true
		return false
	}
	c.bytes += len(shown) + 1
	c.entries = append(c.entries, shown)
	c.oldest = at
	return true
}

// entry makes a text fit to be printed; its further lines are indented.
func entry(text string) string {
	const mostLines = 30
	lines := strings.Split(strings.TrimRight(text, "\r\n"), "\n")
	var out []byte
	for i, line := range lines {
		if i > 0 {
			out = append(out, "\n    "...)
		}
		if i == mostLines {
			out = fmt.Appendf(out, "[... %s]", visible.Count(len(lines)-i, "more line"))
			break
		}
		line = strings.TrimSuffix(line, "\r")
		cut := visible.Cut([]byte(line), lineWidth)
		out, _ = visible.Append(out, cut)
		if left := len(line) - len(cut); left > 0 {
			out = fmt.Appendf(out, " [... %s]", visible.Count(left, "more byte"))
		}
	}
	return string(out)
}

// print writes the entries oldest first, then the notes.
func (c *collector) print(w io.Writer) error {
	var b strings.Builder
	for i := len(c.entries) - 1; i >= 0; i-- {
		b.WriteString(c.entries[i])
		b.WriteByte('\n')
	}
	if len(c.entries) == 0 {
		b.WriteString("... no entries\n")
	}
	if c.more {
		how := fmt.Sprintf("use a larger limit than %d", c.request.Limit)
		if c.byBytes {
			how = fmt.Sprintf("stopped at %s of output", visible.Size(outputBytes))
		}
		if !c.oldest.IsZero() {
			how += fmt.Sprintf(", or until=%q", c.oldest.Format(time.RFC3339))
		}
		fmt.Fprintf(&b, "... older entries are not shown; %s\n", how)
	}
	for _, note := range c.notes {
		fmt.Fprintf(&b, "... %s\n", visible.Line(note))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
