package logs

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"snens/cmd/snens-tools/internal/reader"
	"snens/cmd/snens-tools/internal/visible"
)

// file reads the log file of the request.
func (s Source) file(c *collector) error {
	path, err := s.locate(c.request.File)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return refuse("", "cannot open %s: %v", path, cause(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return refuse("", "%s is no plain file", path)
	}
	p := &picker{collector: c, now: time.Now()}
	var backward func(func(string) bool) error
	if strings.HasSuffix(path, ".gz") {
		backward = gzipLines(f, c)
	} else if backward, err = plainLines(f, info.Size(), c); err != nil {
		return refuse("use read for what it is", "%s is %v", path, err)
	}
	if err := backward(p.line); err != nil {
		return fmt.Errorf("cannot read %s: %w", path, err)
	}
	p.flush()
	if (!c.request.Since.IsZero() || !c.request.Until.IsZero()) && !p.dated && p.lines > 0 {
		return refuse("leave out since and until, or use grep", "the lines of %s begin with no time that is known here", path)
	}
	if c.request.File == "" {
		c.notes = append(c.notes, "from "+path)
	}
	return nil
}

// locate finds the file below the folder of logs; a link may not lead out of it.
func (s Source) locate(name string) (string, error) {
	if name == "" {
		for _, usual := range []string{"syslog", "messages"} {
			path := filepath.Join(s.Folder, usual)
			if _, err := os.Stat(path); err == nil {
				return path, nil
			}
		}
		return "", refuse(s.list(), "there is no journal here, and neither syslog nor messages in %s", s.Folder)
	}
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Folder, path)
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", refuse(s.list(), "there is no log file %s", path)
	}
	if err != nil {
		return "", refuse("", "cannot look at %s: %v", path, cause(err))
	}
	folder, err := filepath.EvalSymlinks(s.Folder)
	if err != nil {
		return "", refuse("", "cannot look at %s: %v", s.Folder, cause(err))
	}
	if rel, err := filepath.Rel(folder, real); err != nil || !filepath.IsLocal(rel) {
		return "", refuse("read and grep show other files", "%s is not below %s", name, s.Folder)
	}
	return real, nil
}

// list names log files for a hint.
func (s Source) list() string {
	const most = 20
	var names []string
	more := 0
	_ = filepath.WalkDir(s.Folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasSuffix(path, ".journal") {
			return nil
		}
		if len(names) == most {
			if more++; more > 1000 {
				return fs.SkipAll
			}
			return nil
		}
		if rel, err := filepath.Rel(s.Folder, path); err == nil {
			names = append(names, rel)
		}
		return nil
	})
	if len(names) == 0 {
		return "no log files in " + s.Folder
	}
	list := "files: " + strings.Join(names, ", ")
	if more > 0 {
		list += " and more"
	}
	return list
}

// picker sorts lines, which come newest first, by time. A line without a time
// belongs to the nearest one before it that has one.
type picker struct {
	*collector
	now     time.Time
	pending []string // lines without a time, newest first
	lines   int
	dated   bool // some line had a time
}

func (p *picker) line(text string) bool {
	p.lines++
	if p.request.Since.IsZero() && p.request.Until.IsZero() {
		at, _ := stamp(text, p.now)
		return p.take(text, at)
	}
	at, ok := stamp(text, p.now)
	if !ok {
		// A file of another kind must not be gathered whole.
		if p.pending = append(p.pending, text); len(p.pending) > MaxLimit {
			return p.dated
		}
		return true
	}
	p.dated = true
	lines := append(p.pending, text)
	p.pending = nil
	if !p.request.Since.IsZero() && at.Before(p.request.Since) {
		return false
	}
	if !p.request.Until.IsZero() && at.After(p.request.Until) {
		return true
	}
	for _, line := range lines {
		if !p.take(line, at) {
			return false
		}
	}
	return true
}

// flush drops lines at the beginning of the file that have no time: it is not known.
func (p *picker) flush() { p.pending = nil }

// plainLines reads a file backward from its end.
func plainLines(f *os.File, size int64, c *collector) (func(func(string) bool) error, error) {
	head := make([]byte, 8<<10)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if what := reader.Binary(head[:n], err == io.EOF); what != "" {
		return nil, &reader.BinaryError{What: what, Size: size}
	}
	return func(take func(string) bool) error {
		at, rest := size, []byte(nil)
		block := make([]byte, 64<<10)
		for at > 0 {
			if size-at > scanBytes {
				c.notes = append(c.notes, fmt.Sprintf("only the last %s of %s were searched", visible.Size(scanBytes), visible.Size(size)))
				return nil
			}
			n := min(int64(len(block)), at)
			at -= n
			if _, err := f.ReadAt(block[:n], at); err != nil {
				return err
			}
			var goOn bool
			if rest, goOn = backward(block[:n], rest, at+n == size, take); !goOn {
				return nil
			}
		}
		if len(rest) > 0 || size > 0 && at == 0 {
			take(string(rest))
		}
		return nil
	}, nil
}

// backward hands the lines of a block to take, last first. rest is what was
// read of the line that ends in the block; the beginning of the block's first
// line is returned. Of a line longer than a block the middle is dropped.
func backward(block, rest []byte, last bool, take func(string) bool) ([]byte, bool) {
	if last {
		block = bytes.TrimSuffix(block, []byte("\n"))
	}
	for {
		i := bytes.LastIndexByte(block, '\n')
		if i < 0 {
			joined := append(bytes.Clone(block), rest...)
			return joined[:min(len(joined), 1<<20)], true
		}
		if !take(string(block[i+1:]) + string(rest)) {
			return nil, false
		}
		block, rest = block[:i], nil
	}
}

// gzipLines unpacks a file and keeps its last lines, which it hands on last first.
func gzipLines(f *os.File, c *collector) func(func(string) bool) error {
	return func(take func(string) bool) error {
		unpacked, err := gzip.NewReader(f)
		if err != nil {
			return err
		}
		in := bufio.NewReaderSize(io.LimitReader(unpacked, scanBytes), 64<<10)
		var lines []string
		bytesKept := 0
		for {
			line, err := in.ReadString('\n')
			if line != "" {
				lines = append(lines, strings.TrimSuffix(line, "\n"))
				bytesKept += len(line)
			}
			// Memory is bounded; what is oldest goes first.
			for bytesKept > 32<<20 {
				bytesKept -= len(lines[0]) + 1
				lines = lines[1:]
				c.more = true
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
		}
		if n, _ := unpacked.Read(make([]byte, 1)); n > 0 {
			c.notes = append(c.notes, fmt.Sprintf("only the first %s, unpacked, were searched", visible.Size(scanBytes)))
		}
		for i := len(lines) - 1; i >= 0; i-- {
			if !take(lines[i]) {
				return nil
			}
		}
		return nil
	}
}

func cause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
