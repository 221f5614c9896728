package edit

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"snens/cmd/snens-tools/internal/visible"
)

// Bounds of a diff.
const (
	maxDiffLines = 400
	maxDiffLine  = 1000
	// maxCompared is how many bytes, old and new, are compared by lines.
	maxCompared = 16 << 20
	context     = 3
)

// Unified is the complete unified diff from old to new, byte for byte, with
// three lines around each change. It is empty when they are equal, and ok is
// false when what lies between the first and the last change is too large to
// be compared line by line.
func Unified(name string, old, new []byte) (unified []byte, ok bool) {
	start, end := commonEnds(old, new)
	if len(old)+len(new)-2*(start+end) > maxCompared {
		return nil, false
	}
	d := diff.Diff(name, old[start:len(old)-end], name, new[start:len(new)-end])
	// The library begins with a line "diff NAME NAME" that adds nothing.
	if _, rest, found := bytes.Cut(d, []byte("\n")); found {
		d = rest
	}
	return shift(d, bytes.Count(old[:start], []byte("\n"))), true
}

// commonEnds returns how many bytes at the beginning and at the end of old and
// new can be left out of the comparison: whole lines, and three fewer than are
// equal, for the context. The library would compare them all.
func commonEnds(old, new []byte) (start, end int) {
	most := min(len(old), len(new))
	for start < most && old[start] == new[start] {
		start++
	}
	for end < most-start && old[len(old)-1-end] == new[len(new)-1-end] {
		end++
	}
	start = bytes.LastIndexByte(old[:start], '\n') + 1
	for range context {
		start = bytes.LastIndexByte(old[:max(start-1, 0)], '\n') + 1
	}
	// The first newline of the equal end ends a line that may differ.
	tail := old[len(old)-end:]
	for range context + 1 {
		_, tail, _ = bytes.Cut(tail, []byte("\n"))
	}
	return start, len(tail)
}

// shift adds lines to the line numbers of a diff.
func shift(unified []byte, lines int) []byte {
	if lines == 0 {
		return unified
	}
	var out []byte
	for line := range bytes.Lines(unified) {
		var oldAt, oldN, newAt, newN int
		// Lines of content begin with a blank, "+", "-" or a backslash.
		if n, _ := fmt.Sscanf(string(line), "@@ -%d,%d +%d,%d @@", &oldAt, &oldN, &newAt, &newN); n == 4 {
			line = fmt.Appendf(nil, "@@ -%d,%d +%d,%d @@\n", oldAt+lines, oldN, newAt+lines, newN)
		}
		out = append(out, line...)
	}
	return out
}

// Show is a diff made fit for a reader: unsafe characters escaped, long lines
// cut, at most maxDiffLines lines, and what was left out said. hideCR takes
// the CR from the end of every line.
func Show(unified []byte, hideCR bool) string {
	var b strings.Builder
	all := strings.SplitAfter(string(unified), "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	for i, line := range all {
		if i == maxDiffLines {
			fmt.Fprintf(&b, "... %s of the diff not shown\n", visible.Count(len(all)-i, "more line"))
			break
		}
		line = strings.TrimSuffix(line, "\n")
		if hideCR {
			line = strings.TrimSuffix(line, "\r")
		}
		cut := visible.Cut([]byte(line), maxDiffLine)
		shown, _ := visible.Append(nil, cut)
		b.Write(shown)
		if left := len(line) - len(cut); left > 0 {
			fmt.Fprintf(&b, " [... %s]", visible.Count(left, "more byte"))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
