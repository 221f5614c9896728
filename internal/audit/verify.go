package audit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Fault names the first record that is not as it was written. It is the error
// of Verify when the log itself is wrong.
type Fault struct {
	File string // name of the file of the log
	Line uint64 // from 1; where the record is, or where it would be
	Seq  uint64 // the record
	To   uint64 // the last one, when several are missing; else Seq
	What string
}

func (f *Fault) Error() string {
	which := fmt.Sprintf("record %d", f.Seq)
	if f.To > f.Seq {
		which = fmt.Sprintf("records %d to %d", f.Seq, f.To)
	}
	return fmt.Sprintf("%s:%d: %s %s", f.File, f.Line, which, f.What)
}

// Report says what was found in a log without faults.
type Report struct {
	Head  Head // of the last record; Synced is not set
	Files int
	Notes []string // what is no fault, and worth knowing
}

// Verify reads a whole log and follows its chain. With a head it must go at
// least that far; without (nil) a cut at the end cannot be noticed. A *Fault
// names the first record that was changed, is missing or was cut off. A log that
// is being written can be verified too.
func Verify(dir string, head *Head) (Report, error) {
	v := &verifier{head: head}
	segments, err := Segments(dir)
	if err != nil {
		return v.report, err
	}
	for i, s := range segments {
		v.report.Files++
		if err := v.file(dir, s, i == len(segments)-1); err != nil {
			return v.report, err
		}
	}
	return v.report, v.end()
}

type verifier struct {
	head   *Head
	report Report
	name   string
	lines  uint64 // of the file
	before Fault  // where the last good record is
}

// next is the number of the record that has to come.
func (v *verifier) next() uint64 { return v.report.Head.Count + 1 }

func (v *verifier) fault(seq, to uint64, format string, args ...any) error {
	return &Fault{File: v.name, Line: v.lines, Seq: seq, To: to, What: fmt.Sprintf(format, args...)}
}

func (v *verifier) note(format string, args ...any) {
	v.report.Notes = append(v.report.Notes, fmt.Sprintf(format, args...))
}

func (v *verifier) file(dir string, s Segment, last bool) error {
	v.name, v.lines = s.Name, 1
	switch {
	case s.First > v.next():
		return v.fault(v.next(), s.First-1, "missing: no file of the log holds it")
	case s.First < v.next():
		return v.fault(s.First, s.First, "there twice, or the file was renamed: it should begin with record %d", v.next())
	}
	f, err := os.OpenFile(filepath.Join(dir, s.Name), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("cannot read the audit log: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("cannot read the audit log: %s is no plain file", f.Name())
	}
	lines := newLineReader(f)
	for {
		line, whole, _, err := lines.next()
		v.lines = lines.n
		if errors.Is(err, io.EOF) {
			v.lines++
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot read the audit log: %w", err)
		}
		if !whole && last && (v.head == nil || v.head.Count <= v.report.Head.Count) {
			v.note("%s:%d: an unfinished line; it is being written, or a crash cut it off", v.name, v.lines)
			return nil
		}
		if err := v.line(line, whole, lines); err != nil {
			return err
		}
	}
}

func (v *verifier) line(line []byte, whole bool, rest *lineReader) error {
	fr, err := readFrame(line)
	switch {
	case err != nil:
		return v.fault(v.next(), v.next(), "was changed or cut off: %v", err)
	case !whole:
		return v.fault(v.next(), v.next(), "was changed or cut off: the line has no end")
	case fr.seq > v.next():
		if err := v.gap(line, fr); err != nil {
			return err
		}
	case fr.seq < v.next():
		return v.fault(fr.seq, fr.seq, "stands where record %d should be", v.next())
	case fr.prev != v.report.Head.Hash:
		return v.mismatch(fr, rest)
	}
	v.report.Head.Count, v.report.Head.Hash = fr.seq, fr.hash
	v.before = Fault{File: v.name, Line: v.lines, Seq: fr.seq, To: fr.seq}
	if fr.kind == string(Damaged) || fr.kind == string(HeadLost) {
		v.note("%s:%d: the broker found the log or its head damaged when it started", v.name, v.lines)
	}
	if v.head != nil && v.head.Count == fr.seq && v.head.Hash != fr.hash {
		return v.fault(fr.seq, fr.seq, "was replaced: the head names another hash")
	}
	return nil
}

// mismatch is the fault of two good records that do not fit each other: one of
// them was replaced as a whole. What comes after the second tells which.
func (v *verifier) mismatch(fr frame, rest *lineReader) error {
	foreign := v.head != nil && v.head.Count == fr.seq && v.head.Hash != fr.hash
	if line, whole, _, err := rest.next(); err == nil && whole {
		after, err := readFrame(line)
		foreign = err == nil && after.seq == fr.seq+1 && after.prev != fr.hash
	}
	if foreign || v.before.Seq == 0 {
		return v.fault(fr.seq, fr.seq, "was replaced: it names another hash before it")
	}
	v.before.What = fmt.Sprintf("was replaced: record %d names another hash before it", fr.seq)
	return &v.before
}

// gap accepts a jump that a gap record explains by a crash before the missing
// records were on the disk.
func (v *verifier) gap(line []byte, fr frame) error {
	if r, err := ParseRecord(line); err == nil && r.Kind == Gap && r.Unsynced && r.MissingFrom == v.next() && r.MissingTo == fr.seq-1 {
		v.note("%s:%d: records %d to %d were lost in a crash before they were on the disk", v.name, v.lines, r.MissingFrom, r.MissingTo)
		return nil
	}
	return v.fault(v.next(), fr.seq-1, "missing")
}

// end compares the end of the log with the head.
func (v *verifier) end() error {
	if v.name == "" {
		v.name, v.lines = segmentName(1), 1
	}
	switch {
	case v.head == nil:
		v.note("without the head of the state folder a cut at the end cannot be noticed")
	case v.report.Head.Count < v.head.Count:
		return v.fault(v.next(), v.head.Count, "missing: cut off at the end")
	case v.report.Head.Count > v.head.Count:
		v.note("%d records are newer than the head: the log is being written, or the broker was killed", v.report.Head.Count-v.head.Count)
	}
	return nil
}
