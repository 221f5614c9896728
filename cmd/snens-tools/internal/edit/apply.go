package edit

import (
	"bytes"
	"fmt"
	"strings"
)

// Outcome is an applied change.
type Outcome struct {
	Content []byte
	Count   int
	// Lines are the lines of the old content where the first replacements
	// begin, from 1, each once.
	Lines []int
	// CRLF: the file's lines end with CR LF, and the change, which was written
	// with plain newlines, was taken to mean the same.
	CRLF bool
}

// maxListed is how many places are named.
const maxListed = 100

// AmbiguousError: the old text occurs more than once.
type AmbiguousError struct {
	Count int   // occurrences, overlapping ones too
	Lines []int // where they begin, each line once, the first maxListed
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("the old text occurs %d times: %s", e.Count, Places(e.Lines, e.Count, maxListed))
}

// NoMatchError: the old text does not occur. Near says what comes nearest, or
// is empty.
type NoMatchError struct{ Near string }

func (e *NoMatchError) Error() string { return "the old text does not occur in the file" }

// Apply replaces the old text in content, which it does not modify. Without
// All, a text that occurs twice, be it overlapping itself, is refused; with
// All, replacement goes from left to right. Errors: *AmbiguousError, *NoMatchError.
func Apply(content []byte, c Change) (Outcome, error) {
	c, converted := matchLineEnds(content, c)
	old := []byte(c.Old)
	count, lines := places(content, old, !c.All)
	switch {
	case count == 0:
		return Outcome{}, &NoMatchError{Near: nearest(content, c.Old)}
	case count > 1 && !c.All:
		return Outcome{}, &AmbiguousError{Count: count, Lines: lines}
	}
	return Outcome{
		Content: bytes.ReplaceAll(content, old, []byte(c.New)),
		Count:   count, Lines: lines, CRLF: converted,
	}, nil
}

// matchLineEnds gives the change the line ends of a file that has only CR LF.
// A change that names CR LF itself is meant as it stands.
func matchLineEnds(content []byte, c Change) (Change, bool) {
	if !OnlyCRLF(content) || strings.Contains(c.Old+c.New, "\r\n") || !strings.Contains(c.Old+c.New, "\n") {
		return c, false
	}
	c.Old = strings.ReplaceAll(c.Old, "\n", "\r\n")
	c.New = strings.ReplaceAll(c.New, "\n", "\r\n")
	return c, true
}

// OnlyCRLF says whether content has line ends and all are CR LF.
func OnlyCRLF(content []byte) bool {
	n := bytes.Count(content, []byte("\n"))
	return n > 0 && n == bytes.Count(content, []byte("\r\n"))
}

// places counts old in content, overlapping occurrences too when asked, and
// lists the lines where they begin.
func places(content, old []byte, overlapping bool) (count int, lines []int) {
	step := len(old)
	if overlapping {
		step = 1
	}
	line, from := 1, 0
	for at := 0; ; at += step {
		i := bytes.Index(content[at:], old)
		if i < 0 {
			return count, lines
		}
		at += i
		count++
		line += bytes.Count(content[from:at], []byte("\n"))
		from = at
		if len(lines) < maxListed && (len(lines) == 0 || lines[len(lines)-1] != line) {
			lines = append(lines, line)
		}
	}
}

// Places is "line 3" or "lines 3, 7, 9": at most most lines, and what else
// there is to know when count occurrences are on more of them, or on fewer.
func Places(lines []int, count, most int) string {
	var b strings.Builder
	b.WriteString("line")
	if len(lines) > 1 {
		b.WriteString("s")
	}
	for i, n := range lines[:min(len(lines), most)] {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, " %d", n)
	}
	switch {
	case len(lines) > most, len(lines) == maxListed && count > maxListed:
		b.WriteString(" and later")
	case count > len(lines):
		b.WriteString(" (several on one line)")
	}
	return b.String()
}
