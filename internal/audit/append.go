package audit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/safefile"
)

// MaxFinal is the space that a Reservation holds. No final record is longer: its
// detail is cut, and its other fields are short.
const MaxFinal = 8 << 10

// chunk is how much space is asked for at once.
const chunk = 64 << 10

// ErrFull is part of the error when the disk has no space for a record.
var ErrFull = errors.New("no space left for the audit log")

// errClosed is part of the error after Close.
var errClosed = errors.New("the audit log is closed")

// Append writes one record and moves the head. When it fails nothing was
// recorded, or (if only the head could not be moved) the record is there and
// must not be relied on.
func (w *Writer) Append(at time.Time, e Entry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.append(at, e, 0)
}

// AppendSync is Append that returns when the record is on the disk.
func (w *Writer) AppendSync(at time.Time, e Entry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.append(at, e, 0); err != nil {
		return err
	}
	return w.sync()
}

// Sync puts every record so far on the disk.
func (w *Writer) Sync() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sync()
}

// sync is Sync; the caller holds mu.
func (w *Writer) sync() error {
	if w.f == nil {
		return errClosed
	}
	if w.at.Synced == w.at.Count {
		return nil
	}
	if err := unix.Fdatasync(int(w.f.Fd())); err != nil {
		return fmt.Errorf("cannot write the audit log to the disk: %w", err)
	}
	w.at.Synced = w.at.Count
	return w.head.write(w.at)
}

// append writes a record, using up to own bytes of what is reserved. The caller
// holds mu.
func (w *Writer) append(at time.Time, e Entry, own int64) error {
	if w.f == nil {
		return errClosed
	}
	if err := w.clean(); err != nil {
		return err
	}
	line, next, err := w.line(at, e)
	if err != nil {
		return err
	}
	if w.size > 0 && w.size+int64(len(line)) > w.max {
		// That there cannot be a new file now is no reason to stop: this one may
		// have space left.
		if err := w.rotate(at); err != nil && !passes(err) {
			return err
		}
		if line, next, err = w.line(at, e); err != nil {
			return err
		}
	}
	return w.put(line, next, own)
}

// passes says that an error ends by itself.
func passes(err error) bool {
	return errors.Is(err, ErrFull) || errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE)
}

// line makes the next record and the head after it.
func (w *Writer) line(at time.Time, e Entry) ([]byte, Head, error) {
	r := Record{Seq: w.at.Count + 1, Time: at, Entry: e, Boundary: w.boundary, Prev: w.at.Hash}
	line, err := r.encode()
	return line, Head{Count: r.Seq, Hash: r.Hash, Synced: w.at.Synced}, err
}

// put writes a line for which space is found first.
func (w *Writer) put(line []byte, next Head, own int64) error {
	keep := w.reserved - min(own, int64(len(line)))
	if err := w.allocate(w.size + int64(len(line)) + keep); err != nil {
		return err
	}
	n, err := w.f.Write(line)
	if err != nil || n < len(line) {
		w.dirty = true
		return errors.Join(fmt.Errorf("cannot write the audit log: %w", full(err)), w.clean())
	}
	w.size += int64(n)
	w.at = next
	return w.head.write(w.at)
}

// clean cuts off part of a record that could not be written whole. That frees
// the space beyond as well, so what is reserved is taken anew.
func (w *Writer) clean() error {
	if !w.dirty {
		return nil
	}
	if err := w.f.Truncate(w.size); err != nil {
		return fmt.Errorf("cannot cut off an unfinished record: %w", err)
	}
	w.dirty, w.allocated = false, w.size
	return w.allocate(w.size + w.reserved)
}

// allocate sees to it that the file has space up to end. The size of the file
// does not change.
func (w *Writer) allocate(end int64) error {
	if end <= w.allocated {
		return nil
	}
	fd := int(w.f.Fd())
	for _, to := range []int64{end + chunk, end} {
		err := unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, w.allocated, to-w.allocated)
		switch {
		case err == nil:
			w.allocated = to
			return nil
		case errors.Is(err, unix.EOPNOTSUPP):
			return fmt.Errorf("cannot reserve space for the audit log: the file system of %s cannot do that; ext4, xfs, btrfs and tmpfs can: %w", w.dir.Name(), err)
		case to == end:
			return fmt.Errorf("cannot write the audit log: %w", full(err))
		}
	}
	return nil
}

// full marks the errors that mean a full disk.
func full(err error) error {
	switch {
	case err == nil:
		return io.ErrShortWrite
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT), errors.Is(err, unix.EFBIG):
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}

// rotate goes on in a new file, which gets space for what is reserved (put sees
// to it). The old file is on the disk before the new one begins. On an
// error the old file stays in use.
func (w *Writer) rotate(at time.Time) (err error) {
	if err := w.sync(); err != nil {
		return err
	}
	old := struct {
		f               *os.File
		size, allocated int64
	}{w.f, w.size, w.allocated}
	name := segmentName(w.at.Count + 1)
	f, err := openNewSegment(w.dir, name)
	if err != nil {
		return fmt.Errorf("cannot begin a new file: %w", full(err))
	}
	w.f, w.size, w.allocated = f, 0, 0
	defer func() {
		if err != nil && w.f == f && w.size == 0 {
			err = errors.Join(err, f.Close(), unix.Unlinkat(int(w.dir.Fd()), name, 0))
			w.f, w.size, w.allocated, w.dirty = old.f, old.size, old.allocated, false
		}
	}()
	line, next, err := w.line(at, Entry{Kind: Rotated, File: filepath.Base(old.f.Name())})
	if err != nil {
		return err
	}
	if err := w.put(line, next, 0); w.size == 0 {
		return err
	}
	// From here on the new file is the log.
	return errors.Join(w.sync(), safefile.SyncDir(w.dir.Name()), old.f.Truncate(old.size), old.f.Close())
}
