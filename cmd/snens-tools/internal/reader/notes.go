package reader

import (
	"bufio"
	"fmt"
	"io"

	"snens/cmd/snens-tools/internal/visible"
)

// write prints the lines and, below them, what a reader has to know.
func (p *printer) write(w io.Writer) error {
	out := bufio.NewWriter(w)
	plain, crlf := 0, 0
	for i, l := range p.lines {
		switch {
		case l.crlf:
			crlf++
		case i < len(p.lines)-1 || !p.noEnd:
			plain++
		}
	}
	// Only where both kinds of line ends are mixed is the CR shown.
	mixed := plain > 0 && crlf > 0
	escaped, buf := false, []byte(nil)
	for _, l := range p.lines {
		var odd bool
		buf, odd = visible.Append(buf[:0], l.text)
		escaped = escaped || odd
		fmt.Fprintf(out, "%d\t%s", l.number, buf)
		if mixed && l.crlf {
			out.WriteString(`\u{d}`)
			escaped = true
		}
		if l.after > 0 {
			least := ""
			if l.open {
				least = "at least "
			}
			fmt.Fprintf(out, " [... %s%s; use %scolumn=%d]", least, visible.Count(l.after, "more byte"),
				p.address(l.number), p.request.Column+len(l.text))
		}
		out.WriteByte('\n')
	}
	p.notes(out, crlf > 0 && !mixed, escaped)
	return out.Flush()
}

// address is how to ask for one line again, where its number is known.
func (p *printer) address(number int) string {
	if p.unsure {
		return fmt.Sprintf("tail=%d limit=1 ", -number)
	}
	return fmt.Sprintf("start=%d limit=1 ", number)
}

func (p *printer) notes(out *bufio.Writer, crlf, escaped bool) {
	switch {
	case p.unsure:
		fmt.Fprintf(out, "... the file is %s long; line numbers count back from its end; for earlier lines use a larger tail with limit\n", visible.Size(p.size))
	case p.before > 0:
		earlier := min(p.before, p.request.Limit)
		fmt.Fprintf(out, "... %s before; use start=%d limit=%d\n", visible.Count(p.before, "line"), p.before-earlier+1, earlier)
	}
	if p.more > 0 || p.atLeast {
		p.noteMore(out)
	}
	if p.noEnd {
		out.WriteString("... no newline at the end of the file\n")
	}
	if crlf {
		out.WriteString("... the lines shown end with CR LF\n")
	}
	if escaped {
		out.WriteString("... unsafe and invisible characters are shown as \\u{HEX}, bytes that are not UTF-8 as \\x{HEX}\n")
	}
}

func (p *printer) noteMore(out *bufio.Writer) {
	last := p.lines[len(p.lines)-1].number
	next := fmt.Sprintf("start=%d", last+1)
	if p.unsure {
		next = fmt.Sprintf("tail=%d", -last-1)
	}
	why := ""
	if p.full {
		why = fmt.Sprintf(" (stopped at %s of output)", visible.Size(outputBytes))
	}
	if p.atLeast && p.more == 0 {
		fmt.Fprintf(out, "... the file goes on; read was up to byte %d of %d; for the next line use %s\n", p.read, p.size, next)
		return
	}
	if p.atLeast {
		fmt.Fprintf(out, "... at least %s%s, up to byte %d of %d; use %s\n", visible.Count(p.more, "more line"), why, p.read, p.size, next)
		return
	}
	fmt.Fprintf(out, "... %s%s; use %s\n", visible.Count(p.more, "more line"), why, next)
}
