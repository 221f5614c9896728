package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"snens/internal/audit"
)

// segment is one file of the log while it is read.
type segment struct {
	name   string
	f      *os.File
	lines  int   // whole ones so far
	offset int64 // of the first byte that is not part of them
}

// openSegment opens a file of the log. Whatever else lies there by its name is
// not waited for.
func openSegment(dir, name string) (*segment, error) {
	path := filepath.Join(dir, name)
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot read the audit log: %w", &os.PathError{Op: "open", Path: path, Err: err})
	}
	f := os.NewFile(uintptr(fd), path)
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, errors.Join(fmt.Errorf("cannot read the audit log: %s is no plain file", path), err)
	}
	return &segment{name: name, f: f}, nil
}

// read gives each whole line that came since the last read. The writer may be in
// the middle of the last one: that is left for the next read.
func (s *segment) read(a *app, each func(record) error) error {
	if _, err := s.f.Seek(s.offset, io.SeekStart); err != nil {
		return fmt.Errorf("cannot read the audit log: %w", err)
	}
	in := bufio.NewReaderSize(s.f, audit.MaxLine)
	for a.ctx.Err() == nil {
		line, err := in.ReadSlice('\n')
		size, tooLong := int64(len(line)), false
		for errors.Is(err, bufio.ErrBufferFull) {
			var more []byte
			more, err = in.ReadSlice('\n')
			size, tooLong = size+int64(len(more)), true
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot read the audit log: %w", err)
		}
		s.lines++
		s.offset += size
		r, err := record{}, error(nil)
		if tooLong {
			err = fmt.Errorf("cannot read the record: it is longer than %d bytes", audit.MaxLine)
		} else {
			r, err = parseRecord(bytes.TrimSuffix(line, []byte("\n")))
		}
		if err != nil {
			a.bad(s.name, s.lines, err)
			continue
		}
		if err := each(r); err != nil {
			return err
		}
	}
	return nil
}

// readSegment reads one file from its beginning and closes it.
func (a *app) readSegment(name string, each func(record) error) error {
	s, err := openSegment(a.options.dir, name)
	if err != nil {
		return err
	}
	defer s.f.Close()
	if err := s.read(a, each); err != nil {
		return err
	}
	if s.unfinished() && a.ctx.Err() == nil {
		a.bad(s.name, s.lines+1, errors.New("cannot read the record: the line has no end (yet)"))
	}
	return nil
}

// unfinished says whether the file ends in the middle of a line: a crash, or the
// writer at work.
func (s *segment) unfinished() bool {
	info, err := s.f.Stat()
	return err == nil && info.Size() > s.offset
}
