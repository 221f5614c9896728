package escape

import (
	"unicode"
	"unicode/utf8"
)

// class is why a character is spelled out.
type class int

const (
	classPlain class = iota // stays as it is
	classBackslash
	classControl
	classBidi
	classInvisible
	classSpace
	classPrivate
	classUnassigned
	classMark
	classBytes
	classes // how many there are
)

// words names each class that is worth a warning.
var words = [classes]string{
	classControl:    "control characters",
	classBidi:       "bidirectional control characters",
	classInvisible:  "invisible characters",
	classSpace:      "unusual spaces",
	classPrivate:    "private-use characters",
	classUnassigned: "unassigned characters",
	classMark:       "combining marks with nothing to stand on",
	classBytes:      "bytes that are not UTF-8",
}

// classOf classifies the rune r that took n bytes; base says
// that the rune before it carries marks.
func classOf(r rune, n int, base bool) class {
	switch {
	case r == utf8.RuneError && n == 1:
		return classBytes
	case r == '\\':
		return classBackslash
	case r >= ' ' && r <= '~':
		return classPlain
	case unicode.Is(unicode.Cc, r):
		return classControl
	case unicode.Is(unicode.Bidi_Control, r):
		return classBidi
	case unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp), isBlank(r):
		return classSpace
	case unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return classInvisible
	case unicode.Is(unicode.Co, r):
		return classPrivate
	case !unicode.IsPrint(r):
		return classUnassigned
	case unicode.Is(unicode.M, r) && !base:
		return classMark
	}
	return classPlain
}

// isBlank names the characters that are drawn as an empty place although
// Unicode counts them as letters or symbols.
func isBlank(r rune) bool {
	switch r {
	case 0x115F, 0x1160, 0x3164, 0xFFA0, // Hangul fillers
		0x2800,  // Braille pattern without dots
		0x1D159: // musical null notehead
		return true
	}
	return false
}
