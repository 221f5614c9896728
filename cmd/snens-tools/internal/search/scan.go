package search

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"snens/cmd/snens-tools/internal/reader"
)

// maxLine is how much of a line is searched, in bytes.
const maxLine = 1 << 20

// lines is what scan reports the lines of one file to.
type lines interface {
	// line gets each line without its line end; text is valid during the call.
	// It returns false when nothing more of the file is wanted.
	line(number int, text []byte) bool
}

// scan reads the file at path line by line. It returns the bytes read.
func scan(path string, p *pattern, skip *skipped, buf *bufio.Reader, to lines) int64 {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		skip.cannotRead(path, err)
		return 0
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		skip.special++
		return 0
	}
	buf.Reset(f)
	head, err := buf.Peek(8 << 10)
	if err != nil && err != io.EOF {
		skip.cannotRead(path, err)
		return 0
	}
	if reader.Binary(head, err == io.EOF) != "" {
		// Another program has ruled out those without the text already; here
		// it is done too, so that the count is the same.
		may, n := mayHold(buf, p)
		if may {
			skip.binary++
		}
		return n
	}
	var read int64
	for number := 1; ; number++ {
		text, n, err := nextLine(buf, skip)
		read += n
		if n > 0 && !to.line(number, text) {
			return read
		}
		if err == io.EOF {
			return read
		}
		if err != nil {
			skip.cannotRead(path, err)
			return read
		}
	}
}

// mayHold says whether the rest of in holds one of the pattern's literals,
// true where they are not known or cannot be compared here, and the bytes read.
func mayHold(in *bufio.Reader, p *pattern) (bool, int64) {
	if len(p.ascii) == 0 {
		return true, 0
	}
	block := make([]byte, 64<<10)
	kept, total := 0, int64(0)
	for {
		n, err := in.Read(block[kept:])
		total += int64(n)
		text := block[:kept+n]
		if p.fold {
			text = lower(text)
		}
		for _, l := range p.ascii {
			if bytes.Contains(text, l) {
				return true, total
			}
		}
		if err != nil {
			return false, total
		}
		// A literal may lie across two blocks.
		tail := min(kept+n, p.longest-1)
		copy(block, block[kept+n-tail:kept+n])
		kept = tail
	}
}

// lower is b with the letters of ASCII in lower case.
func lower(b []byte) []byte {
	out := make([]byte, len(b))
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		out[i] = c
	}
	return out
}

// nextLine returns the first maxLine bytes of the next line without its end
// (LF or CR LF), and how many bytes it took.
func nextLine(in *bufio.Reader, skip *skipped) (text []byte, n int64, err error) {
	part, err := in.ReadSlice('\n')
	n = int64(len(part))
	if err != bufio.ErrBufferFull {
		return trimEnd(part), n, err
	}
	text = append(text, part...)
	for err == bufio.ErrBufferFull {
		part, err = in.ReadSlice('\n')
		n += int64(len(part))
		text = append(text, part[:min(len(part), maxLine-min(len(text), maxLine))]...)
	}
	if n > maxLine+2 {
		skip.longLines++
		return text, n, err
	}
	return trimEnd(text), n, err
}

func trimEnd(b []byte) []byte {
	if len(b) > 0 && b[len(b)-1] == '\n' {
		b = b[:len(b)-1]
		if len(b) > 0 && b[len(b)-1] == '\r' {
			b = b[:len(b)-1]
		}
	}
	return b
}

func cause(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}
