// Package reader prints a range of a file's lines with their numbers, for a
// reader with little room: bounded in lines, in bytes and in the length of a
// line, and exact about what was left out and how to get it.
//
// It reads forward in a fixed buffer and never holds more of the file than it
// prints, so the size of the file does not matter; the end of a large file is
// found from its end. Use Binary first, or let Print refuse.
package reader

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"snens/cmd/snens-tools/internal/visible"
)

// Bounds of a request, and what it gets when it names nothing.
const (
	DefaultLines = 400
	MaxLines     = 20_000
	DefaultWidth = 1000
	MaxWidth     = 50_000
	// outputBytes bounds what is printed before the notes. It is above MaxWidth,
	// so that one line always fits.
	outputBytes = 64 << 10
	// scanBytes bounds reading whose only purpose is to count lines.
	scanBytes = 64 << 20
)

// Request is the range that is wanted. Zero values take the defaults.
type Request struct {
	Start  int // first line, from 1
	Limit  int // most lines
	Tail   int // instead of Start: begin this many lines before the end
	Column int // first byte of each line, from 1
	Width  int // most bytes of each line
}

func (r Request) filled() Request {
	r.Start = max(r.Start, 1)
	r.Column = max(r.Column, 1)
	if r.Limit == 0 {
		r.Limit = DefaultLines
	}
	if r.Width == 0 {
		r.Width = DefaultWidth
	}
	return r
}

// BinaryError says that a file is not text.
type BinaryError struct {
	What string // "PNG image"
	Size int64  // bytes
}

func (e *BinaryError) Error() string {
	return fmt.Sprintf("not text: %s, %s", e.What, visible.Size(e.Size))
}

// PastEndError says that the first line wanted does not exist.
type PastEndError struct{ Start, Lines int }

func (e *PastEndError) Error() string {
	return fmt.Sprintf("line %d is past the end (%s)", e.Start, visible.Count(e.Lines, "line"))
}

// Print writes the wanted lines of f and the notes on what was left out. The
// error is a *BinaryError, a *PastEndError, or one of reading or writing.
func Print(w io.Writer, f *os.File, request Request) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	p := &printer{request: request.filled(), size: info.Size(), in: bufio.NewReaderSize(f, 64<<10)}
	head, err := p.in.Peek(sniffLen)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if what := Binary(head, errors.Is(err, io.EOF)); what != "" {
		return &BinaryError{What: what, Size: max(info.Size(), int64(len(head)))}
	}
	if len(head) == 0 {
		_, err := io.WriteString(w, "... the file is empty\n")
		return err
	}
	p.number = 1
	if p.request.Tail > 0 {
		err = p.findTail(f)
	} else {
		err = p.skipTo(p.request.Start)
	}
	if err != nil {
		return err
	}
	if err := p.collect(); err != nil {
		return err
	}
	return p.write(w)
}

// printer is one run of Print.
type printer struct {
	request Request
	in      *bufio.Reader
	size    int64
	read    int64 // bytes taken from in, counted from the file's beginning
	stopAt  int64 // give up a line whose end is not found before this byte; 0: never
	number  int   // of the next line; negative when counted from the end
	before  int   // lines before the first shown, when Tail was asked
	unsure  bool  // before is not known: the numbers count from the end

	lines   []line
	more    int  // lines after the last shown
	atLeast bool // the file goes on after what more counts
	full    bool // stopped by outputBytes, not by the limit
	noEnd   bool // the last line shown has no newline
}

// line is one line as far as it is shown.
type line struct {
	number int
	text   []byte // from the column on, at most width bytes, without its newline
	after  int    // bytes left out behind text
	open   bool   // its end was not looked for any further: after is the least
	crlf   bool   // the line ends with CR LF; the CR is not in text
}

// skipTo reads to the beginning of line n.
func (p *printer) skipTo(n int) error {
	for p.number < n {
		if _, err := p.next(false); err == io.EOF {
			return &PastEndError{Start: n, Lines: p.number - 1}
		} else if err != nil {
			return err
		}
	}
	if _, err := p.in.Peek(1); err == io.EOF {
		return &PastEndError{Start: n, Lines: p.number - 1}
	}
	return nil
}

// errNoEnd: the line goes on beyond stopAt.
var errNoEnd = errors.New("the line is too long to find its end")

// next reads one line; it keeps the wanted part only when keep is set. The
// error is io.EOF only when there was no line; with errNoEnd the line counts.
func (p *printer) next(keep bool) (line, error) {
	l := line{number: p.number}
	length, last := 0, byte(0)
	for {
		part, err := p.in.ReadSlice('\n')
		p.read += int64(len(part))
		ended := len(part) > 0 && part[len(part)-1] == '\n'
		if ended {
			part = part[:len(part)-1]
		}
		if keep {
			l.keep(part, length, p.request)
		}
		length += len(part)
		if len(part) > 0 {
			last = part[len(part)-1]
		}
		switch {
		case err == bufio.ErrBufferFull && (p.stopAt == 0 || p.read < p.stopAt):
			continue
		case err == bufio.ErrBufferFull:
			p.number++
			l.open, p.noEnd = true, false
			l.cut(length, p.request)
			return l, errNoEnd
		case err != nil && err != io.EOF:
			return l, err
		case err == io.EOF && length == 0:
			return l, io.EOF
		}
		p.number++
		if ended && last == '\r' {
			l.crlf = true
			length--
			if keep && len(l.text) > 0 && p.request.Column-1+len(l.text) > length {
				l.text = l.text[:len(l.text)-1]
			}
		}
		p.noEnd = !ended
		l.cut(length, p.request)
		return l, nil
	}
}

// keep adds the wanted bytes of a part that begins at offset of its line.
func (l *line) keep(part []byte, offset int, r Request) {
	if skip := r.Column - 1 - offset; skip > 0 {
		part = part[min(skip, len(part)):]
	}
	// A few bytes more than asked, to cut between characters.
	room := r.Width + 4 - len(l.text)
	l.text = append(l.text, part[:min(max(room, 0), len(part))]...)
}

// cut shortens the text to the width; length is that of the whole line.
func (l *line) cut(length int, r Request) {
	l.text = visible.Cut(l.text, r.Width)
	l.after = max(length-(r.Column-1)-len(l.text), 0)
}

// collect reads the lines to show and counts those after them.
func (p *printer) collect() error {
	used := 0
	p.stopAt = p.read + scanBytes
	for len(p.lines) < p.request.Limit {
		l, err := p.next(true)
		if err == io.EOF {
			return nil
		}
		if err != nil && err != errNoEnd {
			return err
		}
		// Escaping makes a byte up to six; what counts is what is printed.
		shown, _ := visible.Append(nil, l.text)
		used += len(shown) + 12
		if used > outputBytes && len(p.lines) > 0 {
			p.full, p.more = true, 1
			break
		}
		p.lines = append(p.lines, l)
		if l.open {
			p.atLeast = true
			return nil
		}
	}
	return p.count()
}

// count counts the lines after the last shown, as far as scanBytes allow.
func (p *printer) count() error {
	noEnd := p.noEnd
	defer func() {
		if p.more > 0 {
			noEnd = false
		}
		p.noEnd = noEnd
	}()
	p.stopAt = p.read + scanBytes
	for ; p.read < p.stopAt; p.more++ {
		if _, err := p.next(false); err == io.EOF {
			return nil
		} else if err != nil && err != errNoEnd {
			return err
		}
	}
	_, err := p.in.Peek(1)
	p.atLeast = err == nil
	return nil
}

// findTail places the reader at the first of the last lines.
func (p *printer) findTail(f *os.File) error {
	if p.size > scanBytes {
		return p.seekTail(f)
	}
	for {
		if _, err := p.next(false); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
	}
	total := p.number - 1
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	p.in.Reset(f)
	p.read, p.number = 0, 1
	p.before = max(total-p.request.Tail, 0)
	return p.skipTo(p.before + 1)
}

// seekTail looks for the line from the end of the file in blocks. Line numbers
// are not known then; lines count -N to -1.
func (p *printer) seekTail(f *os.File) error {
	end := p.size
	block := make([]byte, 64<<10)
	newlines, at := 0, end
	for at > 0 && end-at < scanBytes {
		n := min(int64(len(block)), at)
		at -= n
		if _, err := f.ReadAt(block[:n], at); err != nil {
			return err
		}
		for part := block[:n]; ; {
			i := bytes.LastIndexByte(part, '\n')
			if i < 0 {
				break
			}
			// The newline that ends the file ends the last line, it begins none.
			if at+int64(i) != end-1 {
				if newlines++; newlines == p.request.Tail {
					return p.startAt(f, at+int64(i)+1, -newlines)
				}
			}
			part = part[:i]
		}
	}
	if at == 0 {
		return p.startAt(f, 0, 1)
	}
	return fmt.Errorf("the last %d lines are longer than %s: ask for fewer", p.request.Tail, visible.Size(scanBytes))
}

func (p *printer) startAt(f *os.File, offset int64, number int) error {
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	p.in.Reset(f)
	p.read, p.number, p.unsure = offset, number, number < 0
	return nil
}
