package audit

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"snens/broker/action"
	"snens/internal/safefile"
)

// DefaultMaxSegment is the size at which a new file begins.
const DefaultMaxSegment = 16 << 20

// Options say where a log is kept.
type Options struct {
	Dir        string // of the log
	StateDir   string // of the head; ours alone
	MaxSegment int64  // bytes; 0: DefaultMaxSegment
	Boundary   string // "" or BoundaryNone, in every record
}

// Writer appends to a log. It is safe for concurrent use.
type Writer struct {
	dir      *os.File
	max      int64
	boundary string

	mu        sync.Mutex // guards what follows, and the order of records; held during the writes themselves
	head      *headFile
	at        Head
	f         *os.File // nil after Close
	size      int64    // of f, whole records only
	dirty     bool     // f may hold part of a record beyond size
	allocated int64    // up to where f has space
	reserved  int64    // promised to reservations, beyond size
}

// Open opens the log for appending, makes it when missing, and puts right what
// a crash left; records about that carry the time at. It refuses a folder that
// others could write to, and a log that another process keeps
// (safefile.ErrLocked).
func Open(o Options, at time.Time) (*Writer, error) {
	if o.MaxSegment == 0 {
		o.MaxSegment = DefaultMaxSegment
	}
	if o.Boundary != "" && o.Boundary != BoundaryNone {
		return nil, fmt.Errorf("cannot open the audit log: the boundary is %q or empty, not %q", BoundaryNone, o.Boundary)
	}
	dir, err := openDir(o.Dir)
	if err != nil {
		return nil, err
	}
	w := &Writer{dir: dir, max: o.MaxSegment, boundary: o.Boundary}
	if err := w.resume(o.StateDir, at); err != nil {
		w.closeFiles()
		return nil, err
	}
	return w, nil
}

// resume finds the end of the log and makes the first records about it.
func (w *Writer) resume(stateDir string, at time.Time) error {
	hf, head, exists, lost, err := openHead(stateDir)
	if err != nil {
		return err
	}
	w.head = hf
	segments, err := Segments(w.dir.Name())
	if err != nil {
		return err
	}
	if !exists && len(segments) > 0 {
		lost = "the state folder held no head"
	}
	var notes []Entry
	if lost != "" {
		notes = append(notes, Entry{Kind: HeadLost, Detail: lost + "; the log is taken as it was found"})
	}
	more, err := w.findEnd(segments, head, lost != "")
	if err != nil {
		return err
	}
	if w.f == nil {
		if w.f, err = openNewSegment(w.dir, segmentName(w.at.Count+1)); err != nil {
			return err
		}
		if err := safefile.SyncDir(w.dir.Name()); err != nil {
			return fmt.Errorf("cannot open the audit log: %w", err)
		}
	}
	w.allocated = w.size
	// Each of these moves the head; until then it stays what it was, so that a
	// crash here changes nothing.
	for _, e := range append(more, notes...) {
		if err := w.Append(at, e); err != nil {
			return err
		}
	}
	if err := w.Sync(); err != nil {
		return err
	}
	return w.head.both(w.at)
}

// findEnd sets at, f and size to where the log goes on, and returns the records
// that say what was wrong there. f stays nil when a new file has to begin.
func (w *Writer) findEnd(segments []Segment, head Head, headLost bool) (notes []Entry, err error) {
	w.at = head
	var torn []Entry
	for i := len(segments) - 1; i >= 0; i-- {
		name := segments[i].Name
		f, err := openSegment(w.dir, name, 0)
		if err != nil {
			return nil, err
		}
		t, err := scanTail(f, head)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("cannot read the audit log: %w", err)
		}
		if t.damaged != 0 {
			f.Close()
			if w.f != nil { // a later, empty file: never mind where it begins
				w.f.Close()
				w.f = nil
			}
			if t.highest.seq > head.Count || headLost {
				w.at = Head{Count: max(t.highest.seq, segments[i].First), Hash: t.highest.hash}
			}
			// The next record names a new file, which must not be there already.
			w.at.Count = max(w.at.Count, segments[len(segments)-1].First)
			return append(torn, Entry{Kind: Damaged, File: name, Line: t.damaged, Detail: t.why}), nil
		}
		if len(t.torn) > 0 {
			torn = append(torn, Entry{
				Kind: Torn, File: name, Offset: uint64(t.good), Bytes: uint64(len(t.torn)),
				Digest: action.DigestOf(string(t.torn)), Detail: string(t.torn),
			})
			if err := f.Truncate(t.good); err != nil {
				f.Close()
				return nil, fmt.Errorf("cannot cut off the unfinished line of %s: %w", f.Name(), err)
			}
		}
		if w.f == nil { // the newest file is the one to go on in
			w.f, w.size = f, t.good
		} else {
			f.Close()
		}
		if t.last.seq == 0 {
			continue
		}
		return append(w.compare(t, head, headLost, name), torn...), nil
	}
	if head.Count > 0 { // every record is gone
		return append(w.compare(tail{asHead: true}, head, false, ""), torn...), nil
	}
	return torn, nil
}

// compare holds the last record against the head.
func (w *Writer) compare(t tail, head Head, headLost bool, name string) []Entry {
	found := Head{Count: t.last.seq, Hash: t.last.hash, Synced: min(head.Synced, t.last.seq)}
	switch {
	case headLost:
		w.at = found
	case !t.asHead:
		// With the head's hash before it, what comes now does not fit the record
		// before, and Verify says so for ever.
		w.at = found
		w.at.Hash = head.Hash
		return []Entry{{Kind: Damaged, File: name, Line: 1, Detail: fmt.Sprintf("record %d is not the one that the head names", head.Count)}}
	case t.last.seq >= head.Count:
		w.at = found // records after the head: written, and then the crash came
	default:
		w.at = head
		return []Entry{{Kind: Gap, MissingFrom: t.last.seq + 1, MissingTo: head.Count, Unsynced: t.last.seq >= head.Synced}}
	}
	return nil
}

// Head is how far the log goes now.
func (w *Writer) Head() Head {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

// Close makes everything durable and gives the log free. Records that are
// appended afterwards are errors; space that is still reserved is given up.
func (w *Writer) Close() error {
	err := w.Sync()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.f == nil {
		return nil
	}
	// Gives back what was allocated beyond the end.
	err = errors.Join(err, w.f.Truncate(w.size), w.head.both(w.at))
	w.closeFiles()
	return err
}

func (w *Writer) closeFiles() {
	if w.f != nil {
		w.f.Close()
		w.f = nil
	}
	if w.head != nil {
		w.head.f.Close()
	}
	w.dir.Close()
}
