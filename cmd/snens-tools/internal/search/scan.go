package search

import (
	"bufio"
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
func scan(path string, skip *skipped, buf *bufio.Reader, to lines) int64 {
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
		skip.binary++
		return int64(len(head))
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
