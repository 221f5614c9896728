package search

import (
	"bufio"
	"fmt"
	"strings"

	"snens/cmd/snens-tools/internal/visible"
)

// shownWidth is how much of a line is shown, in bytes.
const shownWidth = 300

// output prints matching lines with their context, until a bound is reached,
// and counts from then on.
type output struct {
	w       *bufio.Writer
	request Request

	path      string // of the file being read, escaped
	pattern   *pattern
	before    []contextLine // the last lines that were not printed, oldest first
	after     int           // lines of context still to print
	last      int           // number of the last line printed of this file
	inFile    int           // matches in this file that are not shown
	any       bool          // something was printed
	found     int           // matching lines
	shown     int
	bytes     int
	full      bool // a bound is reached: only counting
	byBytes   bool // it was outputBytes
	moreFiles int  // files with matches that are not shown
}

type contextLine struct {
	number int
	text   string
}

// begin starts the next file.
func (o *output) begin(path string, p *pattern) {
	o.path, o.pattern = visible.Line(path), p
	// No line of another file follows the last one printed.
	o.before, o.after, o.last, o.inFile = o.before[:0], 0, -1, 0
}

func (o *output) line(number int, text []byte) bool {
	at := o.pattern.find(text)
	switch {
	case at == nil:
		o.context(number, text)
	case o.full:
		if o.found++; o.inFile == 0 {
			o.moreFiles++
		}
		o.inFile++
		o.after = 0
		// One file with endless matches must not hold up the rest.
		return o.found-o.shown <= countMatches
	default:
		o.match(number, text, at)
	}
	return true
}

// context prints a line behind a match, or remembers it for the next one.
func (o *output) context(number int, text []byte) {
	switch {
	case o.after > 0:
		o.after--
		o.print(number, '-', window(text, 0, 0))
	case o.full || o.request.Context == 0:
	default:
		if len(o.before) == o.request.Context {
			o.before = append(o.before[:0], o.before[1:]...)
		}
		o.before = append(o.before, contextLine{number, window(text, 0, 0)})
	}
}

func (o *output) match(number int, text []byte, at []int) {
	first := number
	if len(o.before) > 0 {
		first = o.before[0].number
	}
	if o.request.Context > 0 && o.any && first != o.last+1 {
		o.w.WriteString("--\n")
	}
	for _, c := range o.before {
		o.print(c.number, '-', c.text)
	}
	o.before = o.before[:0]
	o.print(number, ':', window(text, at[0], at[1]))
	o.found++
	o.shown++
	o.after = o.request.Context
	o.byBytes = o.bytes >= outputBytes
	o.full = o.byBytes || o.shown == o.request.Limit
}

func (o *output) print(number int, mark byte, text string) {
	n, _ := fmt.Fprintf(o.w, "%s%c%d%c%s\n", o.path, mark, number, mark, text)
	o.bytes += n
	o.last, o.any = number, true
}

// window is the part of a line around the match, made safe.
func window(text []byte, from, to int) string {
	start := 0
	if to > shownWidth {
		// A third of the room for what stands before the match.
		start = max(from-shownWidth/3, 0)
		for start > 0 && text[start]&0xc0 == 0x80 {
			start--
		}
	}
	part := visible.Cut(text[start:], shownWidth)
	shown, _ := visible.Append(nil, part)
	before, after := "", ""
	if start > 0 {
		before = fmt.Sprintf("[%s] ", visible.Count(start, "byte"))
	}
	if left := len(text) - start - len(part); left > 0 {
		after = fmt.Sprintf(" [%s]", visible.Count(left, "more byte"))
	}
	return before + string(shown) + after
}

// notes prints what is not shown and what was not searched.
func (o *output) notes(skip *skipped, files int, cutShort bool) {
	if o.found == 0 {
		fmt.Fprintf(o.w, "... no match in %s\n", visible.Count(files, "file"))
	}
	if more := o.found - o.shown; more > 0 || cutShort {
		least, why := "", fmt.Sprintf("use limit=%d", min(o.found, MaxLimit))
		if cutShort {
			least = "at least "
		}
		if o.byBytes {
			why = fmt.Sprintf("stopped at %s of output", visible.Size(outputBytes))
		}
		fmt.Fprintf(o.w, "... %s%s in %s not shown; %s, or narrow the search by path, glob or pattern\n",
			least, visible.Count(more, "more matching line"), visible.Count(o.moreFiles, "file"), why)
	}
	if s := skip.String(); s != "" {
		fmt.Fprintf(o.w, "... skipped: %s\n", s)
	}
}

func (s *skipped) String() string {
	var parts []string
	add := func(n int, noun string) {
		if n > 0 {
			parts = append(parts, visible.Count(n, noun))
		}
	}
	if s.binary == 1 {
		parts = append(parts, "1 binary file that may match")
	} else if s.binary > 1 {
		parts = append(parts, fmt.Sprintf("%d binary files that may match", s.binary))
	}
	add(s.links, "symbolic link")
	add(s.special, "special file")
	add(s.versions, "version-control folder")
	add(s.virtual, "virtual file system")
	if s.unreadable > 0 {
		parts = append(parts, fmt.Sprintf("%d unreadable (%s)", s.unreadable, visible.Line(s.firstUnreadable)))
	}
	if s.longLines > 0 {
		parts = append(parts, fmt.Sprintf("what follows the first %s of %s", visible.Size(maxLine), visible.Count(s.longLines, "line")))
	}
	return strings.Join(parts, ", ")
}
