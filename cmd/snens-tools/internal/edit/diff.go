package edit

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"snens/cmd/snens-tools/internal/visible"
)

// Bounds of a diff that is shown.
const (
	maxDiffLines = 400
	maxDiffLine  = 1000
)

// Unified is the complete unified diff from old to new, byte for byte, with
// three lines around each change. It is empty when they are equal.
func Unified(name string, old, new []byte) []byte {
	d := diff.Diff(name, old, name, new)
	// The library begins with a line "diff NAME NAME" that adds nothing.
	if _, rest, ok := bytes.Cut(d, []byte("\n")); ok {
		return rest
	}
	return d
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
