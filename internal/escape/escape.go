package escape

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape returns s with everything spelled out that the package comment lists,
// the backslash included. The result is valid UTF-8, one line, and different
// for different s; Unescape is the inverse.
func Escape(s string) string { return spell(s, record) }

// Line returns s as one line for a terminal: line ends at the end are dropped,
// tabs become spaces, a backslash is spelled out only where it would read as
// an escape. Line ends inside stay visible as \u{a}.
func Line(s string) string { return spell(strings.TrimRight(s, "\r\n"), line) }

// Text returns s for a terminal with its line feeds and tabs kept; everything
// else is as in Line. A carriage return before a line feed is dropped.
func Text(s string) string { return spell(strings.ReplaceAll(s, "\r\n", "\n"), text) }

// form says which characters a form treats in its own way.
type form int

const (
	record form = iota
	line
	text
)

func spell(s string, f form) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	base := false // the rune before was printed as it is and can carry a mark
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		c := classOf(r, n, base)
		switch {
		case c == classBytes:
			writeByte(&b, s[i])
		case r == '\\' && f != record && !looksEscaped(s[i:]):
			b.WriteByte('\\')
		case r == '\t' && f == line:
			b.WriteByte(' ')
		case (r == '\t' || r == '\n') && f == text:
			b.WriteRune(r)
		case c != classPlain:
			writeRune(&b, r)
		default:
			b.WriteString(s[i : i+n])
		}
		base = c == classPlain && carriesMarks(r)
		i += n
	}
	return b.String()
}

// isPlain says that s is printable ASCII without a backslash: nearly all
// text, returned without a copy.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || s[i] == '\\' {
			return false
		}
	}
	return true
}

func looksEscaped(s string) bool {
	return strings.HasPrefix(s, `\u{`) || strings.HasPrefix(s, `\x{`)
}

func writeRune(b *strings.Builder, r rune) {
	b.WriteString(`\u{`)
	b.WriteString(strconv.FormatInt(int64(r), 16))
	b.WriteByte('}')
}

func writeByte(b *strings.Builder, c byte) {
	b.WriteString(`\x{`)
	b.WriteString(strconv.FormatInt(int64(c), 16)) // never below 0x80: always two digits
	b.WriteByte('}')
}

// carriesMarks says that a combining mark after r is drawn on r and reads as
// part of it. On a sign such as = it would make another sign of it.
func carriesMarks(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N)
}
