package main

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// atTerminal says that a person sees what we print and types what we read.
func (a *app) atTerminal() bool {
	return isTerminal(a.stdin) && isTerminal(a.stdout) && !a.json
}

// question asks and reads one whole line. What was typed before the question was
// there is thrown away: it cannot have been meant for it. The blank behind the
// question comes after that, so whoever waits for it (expect(1)) loses nothing.
// false is the end of input, and everything else that is no answer.
func (a *app) question(text string) (line string, ok bool) {
	fd := int(a.stdin.Fd())
	fmt.Fprint(a.out, text)
	if !a.flushed() || unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) != nil {
		return "", false
	}
	fmt.Fprint(a.out, " ")
	if !a.flushed() {
		return "", false
	}
	const most = 1024
	var got []byte
	for b := make([]byte, 1); len(got) < most; {
		n, err := unix.Read(fd, b)
		switch {
		case err == unix.EINTR:
		case err != nil || n == 0:
			fmt.Fprintln(a.out)
			return "", false
		case b[0] == '\n':
			return strings.TrimSpace(string(got)), true
		default:
			got = append(got, b[0])
		}
	}
	return "", false
}

// flushed writes what was printed and says that it can be seen.
func (a *app) flushed() bool { return a.out.flush() == nil && a.out.err == nil }

// isYes is for whole answers: whatever else is typed is no yes.
func isYes(answer string) bool {
	return answer == "y" || answer == "Y" || strings.EqualFold(answer, "yes")
}

// read shows lines to a person, page by page where the terminal is too small, and
// says whether all of it was shown. What continues a line begins with blanks and
// a bar, so that no part of a long value stands where a line of its own would.
func (a *app) read(lines []string) bool {
	width, height, err := term.GetSize(int(a.stdout.Fd()))
	if err != nil || width < 20 || height < 4 {
		width, height = 80, 24
	}
	rows := foldLines(lines, width)
	page := max(1, height-1-60/width-1) // without the rows of the question
	for shown := 0; ; {
		n := min(page, len(rows)-shown)
		for _, row := range rows[shown : shown+n] {
			fmt.Fprintln(a.out, row)
		}
		if shown += n; shown == len(rows) {
			return true
		}
		answer, ok := a.question(fmt.Sprintf("-- %d of %d lines: Enter = more, q = end --", shown, len(rows)))
		if !ok || strings.EqualFold(answer, "q") {
			return false
		}
	}
}

// foldLines breaks lines at the width of a terminal. Whatever is not ASCII counts as
// two columns: a line that ends early does no harm.
func foldLines(lines []string, width int) (rows []string) {
	const mark = "    | "
	for _, line := range lines {
		var row strings.Builder
		used := 0
		for _, r := range line {
			columns := 1
			if r >= 0x80 {
				columns = 2
			}
			if used+columns >= width {
				rows = append(rows, row.String())
				row.Reset()
				row.WriteString(mark)
				used = len(mark)
			}
			row.WriteRune(r)
			used += columns
		}
		rows = append(rows, row.String())
	}
	return rows
}
