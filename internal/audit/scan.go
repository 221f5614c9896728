package audit

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
)

// lineReader reads lines of at most MaxLine bytes. A longer one comes out as
// its beginning, which no hash can fit, and the rest of it is passed over.
type lineReader struct {
	r *bufio.Reader
	n uint64 // lines so far
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, MaxLine)}
}

// next returns a line without its end. whole is false for one that has no end;
// size is what it takes in the file. At the end it returns io.EOF.
func (l *lineReader) next() (line []byte, whole bool, size int64, err error) {
	line, err = l.r.ReadSlice('\n')
	size = int64(len(line))
	if errors.Is(err, bufio.ErrBufferFull) {
		line = bytes.Clone(line)
		for errors.Is(err, bufio.ErrBufferFull) {
			var more []byte
			more, err = l.r.ReadSlice('\n')
			size += int64(len(more))
		}
		l.n++
		return line, err == nil, size, nilAtEOF(err)
	}
	if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
		return nil, false, 0, err
	}
	l.n++
	return bytes.TrimSuffix(line, []byte("\n")), err == nil, size, nil
}

func nilAtEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// tail is what Open learns from the last file that holds records.
type tail struct {
	last    frame // the last good record; seq 0 when there is none
	highest frame // the good record with the highest number, after damage too
	good    int64 // bytes up to the end of the last good record
	torn    []byte
	damaged uint64 // the first line that is neither good nor torn; 0: none
	why     string
	asHead  bool // the record with the head's number has the head's hash, or is not here
}

// scanTail reads one file. Only an unfinished last line counts as torn.
func scanTail(f *os.File, head Head) (tail, error) {
	t := tail{asHead: true}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return t, err
	}
	lines := newLineReader(f)
	for {
		line, whole, size, err := lines.next()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return t, err
		}
		fr, bad := readFrame(line)
		fr.value.Members = nil // keep the numbers only
		switch {
		case bad == nil && fr.seq == head.Count && fr.hash != head.Hash:
			t.asHead = false
		case bad == nil && whole && t.last.seq != 0 && !follows(t.last, fr):
			bad = errors.New("it does not follow the record before it")
		}
		if bad == nil && fr.seq > t.highest.seq {
			t.highest = fr
		}
		switch {
		case t.damaged != 0:
		case !whole:
			t.torn = bytes.Clone(line)
		case bad != nil:
			t.damaged, t.why = lines.n, bad.Error()
		default:
			t.last, t.good = fr, t.good+size
		}
	}
}

// follows says that b may stand after a. A gap jumps: what it leaves out is
// judged by Verify.
func follows(a, b frame) bool {
	if b.kind == string(Gap) && b.seq > a.seq {
		return true
	}
	return b.seq == a.seq+1 && b.prev == a.hash
}
