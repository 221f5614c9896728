package tomlread

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// The TOML library keeps the places of keys to itself, so they are found by a
// scan of our own. It runs over a text that the library has accepted and may
// therefore assume that quotes and brackets are in order; on any other text it
// ends all the same, with places that mean nothing.

// maxDepth bounds how deep places are noted: nothing known lies deeper, and
// paths must not grow with a file made to hurt.
const maxDepth = 16

// place is a byte offset in the text.
type place int

// places maps a key, as pathKey joins it, to where it is written first.
type places map[string]struct{ key, value place }

// pathKey joins a path of keys; items of arrays are "[0]".
func pathKey(path []string) string { return strings.Join(path, "\x00") }

func scan(text string) places {
	s := &scanner{text: text, found: places{}, tables: map[string]int{}}
	s.document()
	return s.found
}

type scanner struct {
	text   string
	at     int
	found  places
	tables map[string]int // how many tables [[path]] there are so far
}

func (s *scanner) document() {
	var table []string
	for {
		s.blank(true)
		switch {
		case s.at >= len(s.text):
			return
		case s.text[s.at] == '[':
			s.skip("[")
			table = s.header(s.skip("["))
			s.line()
		default:
			s.pair(table)
		}
	}
}

// header takes the name of a table and returns the path of what follows it: for
// [[a]] that is the next item of a, and [a.b] lies in the last item of a.
func (s *scanner) header(item bool) []string {
	var path []string
	for {
		s.blank(false)
		start := place(s.at)
		if part := s.key(); len(path) < maxDepth {
			path = append(path, part)
			s.note(path, start, start)
		}
		s.blank(false)
		more := s.skip(".")
		key := pathKey(path)
		if item && !more {
			s.tables[key]++
		}
		if n := s.tables[key]; n > 0 && len(path) < maxDepth {
			path = Item(path, n-1)
			s.note(path, start, start)
		}
		if !more {
			return path
		}
	}
}

// pair takes "key = value".
func (s *scanner) pair(table []string) {
	start := s.at
	path := s.keys(table)
	s.blank(false)
	s.skip("=")
	s.blank(false)
	s.note(path, -1, place(s.at))
	s.value(path)
	if s.at == start { // not TOML: get on all the same
		s.at++
	}
}

// keys takes a dotted key and notes each part under its whole path.
func (s *scanner) keys(table []string) []string {
	path := append([]string(nil), table...)
	for {
		s.blank(false)
		start := s.at
		if part := s.key(); len(path) < maxDepth {
			path = append(path, part)
			s.note(path, place(start), place(start))
		}
		s.blank(false)
		if !s.skip(".") {
			return path
		}
	}
}

// note remembers where a key and its value are; the first place counts.
func (s *scanner) note(path []string, key, value place) {
	k := pathKey(path)
	p, seen := s.found[k]
	switch {
	case !seen:
		p.key, p.value = key, value
		if key < 0 {
			p.key = value
		}
	case key < 0 && p.key == p.value:
		p.value = value
	}
	s.found[k] = p
}

// key takes one part of a key: bare or quoted.
func (s *scanner) key() string {
	if s.at < len(s.text) && (s.text[s.at] == '"' || s.text[s.at] == '\'') {
		start := s.at
		s.quoted(s.text[s.at])
		raw := s.text[start:s.at]
		if raw[0] == '"' {
			if plain, err := strconv.Unquote(raw); err == nil {
				return plain
			}
		}
		return strings.Trim(raw, raw[:1])
	}
	n := strings.IndexAny(s.text[s.at:], " \t\r\n=.]#,}{[\"'")
	if n < 0 {
		n = len(s.text) - s.at
	}
	word := s.text[s.at : s.at+n]
	s.at += n
	return word
}

// value passes over a value and notes what is inside it.
func (s *scanner) value(path []string) {
	if s.at >= len(s.text) {
		return
	}
	switch c := s.text[s.at]; c {
	case '"', '\'':
		s.quoted(c)
	case '[':
		s.array(path)
	case '{':
		s.inline(path)
	default:
		if n := strings.IndexAny(s.text[s.at:], ",]}#\n"); n >= 0 {
			s.at += n
		} else {
			s.at = len(s.text)
		}
	}
}

func (s *scanner) array(path []string) {
	s.skip("[")
	for i := 0; ; i++ {
		s.blank(true)
		if s.at >= len(s.text) || s.skip("]") {
			return
		}
		start := s.at
		item := path
		if len(path) < maxDepth {
			item = Item(path, i)
			s.note(item, place(s.at), place(s.at))
		}
		s.value(item)
		s.blank(true)
		s.skip(",")
		if s.at == start {
			s.at++
		}
	}
}

func (s *scanner) inline(path []string) {
	s.skip("{")
	for {
		s.blank(true)
		if s.at >= len(s.text) || s.skip("}") {
			return
		}
		s.pair(path)
		s.blank(true)
		s.skip(",")
	}
}

// quoted passes over a string of any of the four kinds.
func (s *scanner) quoted(q byte) {
	end := string(q)
	if triple := strings.Repeat(end, 3); strings.HasPrefix(s.text[s.at:], triple) {
		end = triple
	}
	s.at += len(end)
	for s.at < len(s.text) {
		switch {
		case q == '"' && s.text[s.at] == '\\':
			s.at += 2
		case strings.HasPrefix(s.text[s.at:], end):
			s.at += len(end)
			// Up to two quotes may stand right before the closing three.
			for range 2 {
				if len(end) == 3 {
					s.skip(end[:1])
				}
			}
			return
		default:
			s.at++
		}
	}
	s.at = min(s.at, len(s.text))
}

// blank passes over spaces, and over comments and line ends where they may be.
func (s *scanner) blank(lines bool) {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == ' ', c == '\t', c == '\r', c == '\n' && lines:
			s.at++
		case c == '#' && lines:
			s.line()
		default:
			return
		}
	}
}

// line passes over the rest of the line.
func (s *scanner) line() {
	if n := strings.IndexByte(s.text[s.at:], '\n'); n >= 0 {
		s.at += n
	} else {
		s.at = len(s.text)
	}
}

func (s *scanner) skip(what string) bool {
	if strings.HasPrefix(s.text[s.at:], what) {
		s.at += len(what)
		return true
	}
	return false
}

// lineColumn turns a byte offset into a line and a column in characters, both
// from 1.
func lineColumn(text string, at place) (line, column int) {
	before := text[:min(max(int(at), 0), len(text))]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}
