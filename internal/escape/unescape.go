package escape

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Unescape is the exact inverse of Escape: it accepts only what Escape
// returns and gives the bytes back. The error says at which byte the text
// stops being such a result: an unknown or malformed escape, upper-case or
// padded digits, an escape that was not needed, or a character that should
// have been one.
func Unescape(s string) (string, error) {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			i++
			continue
		}
		n, err := unspell(&b, s[i:])
		if err != nil {
			return "", fmt.Errorf("cannot unescape: at byte %d: %w", i, err)
		}
		i += n
	}
	// One comparison covers every way in which the same text could be spelled
	// twice, bytes that together make a character included.
	out := b.String()
	if again := Escape(out); again != s {
		return "", fmt.Errorf("cannot unescape: at byte %d: not spelled as Escape spells it", firstDifference(s, again))
	}
	return out, nil
}

// unspell reads the escape at the beginning of s, writes what it stands for
// and returns its length.
func unspell(b *strings.Builder, s string) (int, error) {
	if !looksEscaped(s) {
		return 0, fmt.Errorf(`a backslash must begin \u{...} or \x{...}`)
	}
	end := strings.IndexByte(s, '}')
	if end < 0 {
		return 0, fmt.Errorf(`the escape has no closing }`)
	}
	digits := s[3:end]
	// The longest is 10ffff. ParseUint itself takes no sign, and an underscore only with base 0.
	v, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || len(digits) > 6 {
		return 0, fmt.Errorf("%q is not a hexadecimal code", digits)
	}
	switch {
	case s[1] == 'x' && v <= 0xff:
		b.WriteByte(byte(v))
	case s[1] == 'u' && v <= utf8.MaxRune && utf8.ValidRune(rune(v)):
		b.WriteRune(rune(v))
	default:
		return 0, fmt.Errorf("%s is out of range", s[:end+1])
	}
	return end + 1, nil
}

func firstDifference(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
