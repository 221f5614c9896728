package engine

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// stream keeps what one output of a call holds: the beginning and the end in
// memory, and everything, up to a cap, in a file as soon as memory would lose
// a byte of it.
type stream struct {
	name     string // "stdout", "stderr": the spill file's name
	limit    int    // bytes kept at the beginning, and as many at the end
	tailOff  bool
	spillDir string
	spillMax int64
	always   bool // spill from the first byte (binary output)

	red   *redactor
	total int64 // bytes after redaction
	head  []byte
	tail  []byte // ring of cap limit, oldest byte at tailAt when full
	at    int

	file    *os.File
	path    string
	spilled int64
	capped  bool  // the file does not hold all
	failed  error // the file could not be made or written
}

// write takes the next piece of the stream.
func (s *stream) write(p []byte) {
	if s.red != nil {
		p = s.red.next(p)
	}
	s.keep(p)
}

// finish is called once, after the last write.
func (s *stream) finish() {
	if s.red != nil {
		s.keep(s.red.rest())
	}
	if s.file == nil && s.spillDir != "" && s.failed == nil && s.total > 0 && !s.isText() {
		s.openSpill()
	}
	if s.file != nil {
		if err := s.file.Close(); err != nil && s.failed == nil {
			s.failed, s.capped = err, true
		}
		s.file = nil
	}
}

func (s *stream) keep(p []byte) {
	if len(p) == 0 {
		return
	}
	fits := s.total+int64(len(p)) <= int64(s.memory())
	if s.file == nil && s.spillDir != "" && s.failed == nil && (!fits || s.always) {
		s.openSpill()
	}
	s.spill(p)
	s.total += int64(len(p))
	if n := min(s.limit-len(s.head), len(p)); n > 0 {
		s.head = append(s.head, p[:n]...)
		p = p[n:]
	}
	if !s.tailOff {
		s.keepTail(p)
	}
}

func (s *stream) memory() int {
	if s.tailOff {
		return s.limit
	}
	return 2 * s.limit
}

func (s *stream) keepTail(p []byte) {
	if len(p) >= s.limit {
		s.tail, s.at = append(s.tail[:0], p[len(p)-s.limit:]...), 0
		return
	}
	if room := s.limit - len(s.tail); room > 0 {
		n := min(room, len(p))
		s.tail = append(s.tail, p[:n]...)
		p = p[n:]
	}
	for len(p) > 0 {
		n := copy(s.tail[s.at:], p)
		p = p[n:]
		s.at = (s.at + n) % s.limit
	}
}

func (s *stream) tailBytes() []byte {
	return append(append(make([]byte, 0, len(s.tail)), s.tail[s.at:]...), s.tail[:s.at]...)
}

// openSpill makes the file and writes what memory holds: nothing is lost yet
// when it is called.
func (s *stream) openSpill() {
	fail := func(err error) { s.failed, s.capped = err, true }
	if err := os.MkdirAll(s.spillDir, 0o700); err != nil {
		fail(err)
		return
	}
	path := filepath.Join(s.spillDir, s.name)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		fail(err)
		return
	}
	s.file, s.path = f, path
	s.spill(s.head)
	s.spill(s.tailBytes())
}

// spill appends p to the file up to the cap; a full disk ends the file and is
// said in the record, the call goes on.
func (s *stream) spill(p []byte) {
	if s.file == nil || s.capped || len(p) == 0 {
		return
	}
	if room := s.spillMax - s.spilled; int64(len(p)) > room {
		p, s.capped = p[:max(0, room)], true
	}
	n, err := s.file.Write(p)
	s.spilled += int64(n)
	if err != nil {
		s.failed, s.capped = err, true
	}
}

// whole says that text holds every byte of the stream.
func (s *stream) whole() bool { return s.total <= int64(s.memory()) && !s.always }

// isText says that what is kept is UTF-8 without NUL, but for runes cut where
// the middle was left out.
func (s *stream) isText() bool {
	head, tail := s.parts()
	for _, b := range [][]byte{head, tail} {
		if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
			return false
		}
	}
	return true
}

// parts returns beginning and end, cut at rune borders where bytes between
// them are left out; joined in head when none are.
func (s *stream) parts() (head, tail []byte) {
	tail = s.tailBytes()
	if s.total <= int64(s.memory()) {
		return append(append(make([]byte, 0, len(s.head)+len(tail)), s.head...), tail...), nil
	}
	return cutEnd(s.head), cutStart(tail)
}

// text is what is shown of the stream: valid UTF-8 without NUL.
func (s *stream) text() string {
	if s.always {
		return ""
	}
	head, tail := s.parts()
	if s.total <= int64(s.memory()) {
		return clean(head)
	}
	left := s.total - int64(len(head)) - int64(len(tail))
	return fmt.Sprintf("%s\n[... %d bytes left out ...]\n%s", clean(head), left, clean(tail))
}

func clean(b []byte) string {
	b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	return string(bytes.ReplaceAll(b, []byte{0}, []byte("\uFFFD")))
}

// cutEnd drops an incomplete rune at the end of b.
func cutEnd(b []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax, len(b)); i++ {
		c := b[len(b)-i]
		if utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// cutStart drops the rest of a rune that began before b.
func cutStart(b []byte) []byte {
	for i := 0; i < min(utf8.UTFMax-1, len(b)); i++ {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	return b
}
