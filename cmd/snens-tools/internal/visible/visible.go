// Package visible prepares the content of files and logs for a reader: what a
// terminal would obey or an eye would miss is spelled out, and long lines are
// cut between characters.
//
// Which characters are spelled out is decided by internal/escape, as \u{HEX}
// and \x{HEX}. Unlike there, a backslash of the content always stays as it is,
// because the content of files is mostly source text, which is full of them:
// the result cannot be turned back. Line is internal/escape's form for
// messages.
package visible

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"snens/internal/escape"
)

// Append adds one line of content, without its line end, to dst. Tabs stay.
// It says whether anything was spelled out.
func Append(dst, src []byte) ([]byte, bool) {
	if plain(src) {
		return append(dst, src...), false
	}
	start := len(dst)
	// A backslash is the one character for which escape looks at what follows.
	for i, part := range strings.Split(string(src), `\`) {
		if i > 0 {
			dst = append(dst, '\\')
		}
		dst = append(dst, escape.Text(part)...)
	}
	return dst, !bytes.Equal(dst[start:], src)
}

func plain(b []byte) bool {
	for _, c := range b {
		if (c < ' ' || c > '~') && c != '\t' {
			return false
		}
	}
	return true
}

// Line is s as one line of a message, with unsafe characters spelled out.
func Line(s string) string { return escape.Line(s) }

// Cut returns the longest beginning of b of at most most bytes that does not
// end inside a character, or the bytes where not even one character fits.
func Cut(b []byte, most int) []byte {
	if len(b) <= most {
		return b
	}
	// A character has at most three bytes after its first; what is longer is not UTF-8.
	for end := most; end > most-utf8.UTFMax && end > 0; end-- {
		if utf8.RuneStart(b[end]) {
			return b[:end]
		}
	}
	return b[:most]
}

// Size is a number of bytes for people: "512 bytes", "12.3 KiB".
func Size(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	if n < 1024 {
		return fmt.Sprintf("%d bytes", n)
	}
	value, unit := float64(n)/1024, "KiB"
	for _, next := range []string{"MiB", "GiB", "TiB", "PiB", "EiB"} {
		if value < 1024 {
			break
		}
		value, unit = value/1024, next
	}
	return fmt.Sprintf("%.1f %s", value, unit)
}

// Count is n with its noun: "1 line", "3 lines".
func Count[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
