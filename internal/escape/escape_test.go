package escape_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"snens/internal/escape"
)

func TestEscape(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain", "ls -l /tmp 'a b'", "ls -l /tmp 'a b'"},
		{"space at the end stays visible as itself", "true ", "true "},
		{"letters of other scripts", "поиск — 検索 – עברית हिन्दी é", "поиск — 検索 – עברית हिन्दी é"},
		{"decomposed accent", "e\u0301", "e\u0301"},
		{"backslash", `a\b`, `a\u{5c}b`},
		{"text that reads as an escape", `\u{a}`, `\u{5c}u{a}`},
		{"newline and forged line", "x\nDecision: approved", `x\u{a}Decision: approved`},
		{"tab, CR, BS, ESC, DEL", "\t\r\b\x1b[2J\x7f", `\u{9}\u{d}\u{8}\u{1b}[2J\u{7f}`},
		{"NUL", "\x00", `\u{0}`},
		{"OSC 52", "\x1b]52;c;aGk=\a", `\u{1b}]52;c;aGk=\u{7}`},
		{"C1", "\u009b31m", `\u{9b}31m`},
		{"lone byte 0x80", "\x80", `\x{80}`},
		{"lone byte 0x9b", "a\x9b31m", `a\x{9b}31m`},
		{"overlong slash", "\xc0\xaf", `\x{c0}\x{af}`},
		{"encoded surrogate", "\xed\xa0\x80", `\x{ed}\x{a0}\x{80}`},
		{"cut rune", "\xe2\x80", `\x{e2}\x{80}`},
		{"the replacement character itself", "\ufffd", "\ufffd"},
		{"right-to-left override", "a\u202eb", `a\u{202e}b`},
		{"isolates", "\u2066x\u2069", `\u{2066}x\u{2069}`},
		{"zero width space, soft hyphen, BOM", "\u200b\u00ad\ufeff", `\u{200b}\u{ad}\u{feff}`},
		{"line and paragraph separator", "\u2028\u2029", `\u{2028}\u{2029}`},
		{"no-break and ideographic space", "\u00a0\u3000", `\u{a0}\u{3000}`},
		{"tag characters", "\U000e0041\U000e007f", `\u{e0041}\u{e007f}`},
		{"variation selector", "a\ufe0f", `a\u{fe0f}`},
		{"Hangul filler, Braille blank", "\u3164\u2800", `\u{3164}\u{2800}`},
		{"combining grapheme joiner", "a\u034fb", `a\u{34f}b`},
		{"private use", "\ue000\U0010fffd", `\u{e000}\u{10fffd}`},
		{"noncharacter", "\uffff", `\u{ffff}`},
		{"unassigned", "\u0378", `\u{378}`},
		{"mark at the start", "\u0338a", `\u{338}a`},
		{"mark that would change a sign", "a=\u0338b", `a=\u{338}b`},
		{"mark after an escape", "\n\u0301", `\u{a}\u{301}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := escape.Escape(c.in); got != c.want {
				t.Errorf("Escape(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

// Every code point, against the categories themselves.
func TestEveryCodePoint(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		in := "a" + string(r)
		out := escape.Escape(in)
		kept := out == in
		bad := unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Variation_Selector,
			unicode.Other_Default_Ignorable_Code_Point) || unicode.Is(unicode.Zs, r) && r != ' ' || r == '\\'
		if bad && kept {
			t.Fatalf("U+%04X is not spelled out", r)
		}
		letter := unicode.In(r, unicode.L, unicode.N) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
		if letter && !kept {
			t.Fatalf("U+%04X, a letter or digit, became %q", r, out)
		}
		if back, err := escape.Unescape(out); err != nil || back != in {
			t.Fatalf("U+%04X came back as %q, %v", r, back, err)
		}
	}
}

func TestUnescapeRefuses(t *testing.T) {
	for _, c := range []struct{ name, in, err string }{
		{"lone backslash", `a\`, `at byte 1: a backslash must begin`},
		{"foreign escape", `\n`, `a backslash must begin`},
		{"no end", `\u{a`, `no closing }`},
		{"no digits", `\u{}`, `"" is not a hexadecimal code`},
		{"sign", `\u{+a}`, `"+a" is not a hexadecimal code`},
		{"too long", `\u{0000000a}`, `is not a hexadecimal code`},
		{"surrogate", `\u{d800}`, `out of range`},
		{"beyond Unicode", `\u{110000}`, `out of range`},
		{"byte out of range", `\x{100}`, `out of range`},
		{"upper case", `ab\u{A0}`, `at byte 5: not spelled as Escape spells it`},
		{"leading zero", `\u{0a}`, `not spelled as Escape`},
		{"escape that was not needed", `\u{41}`, `at byte 0: not spelled`},
		{"ASCII as a byte", `\x{41}`, `not spelled as Escape`},
		{"bytes that make a character", `\x{c3}\x{a9}`, `not spelled as Escape`},
		{"a raw control character", "a\nb", `at byte 1: not spelled`},
		{"a raw byte", "\x80", `at byte 0: not spelled`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := escape.Unescape(c.in)
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("Unescape(%q) = %q, %v; want an error with %q", c.in, got, err, c.err)
			}
		})
	}
}

func TestLineAndText(t *testing.T) {
	for _, c := range []struct{ name, in, line, text string }{
		{"ordinary backslashes stay", `C:\dir [\w]+`, `C:\dir [\w]+`, `C:\dir [\w]+`},
		{"one that reads as an escape does not", `\u{1b}[0m`, `\u{5c}u{1b}[0m`, `\u{5c}u{1b}[0m`},
		{"lines", "a\n\tb\r\n", `a\u{a} b`, "a\n\tb\n"},
		{"carriage return alone", "a\rb", `a\u{d}b`, `a\u{d}b`},
		{"terminal escapes", "\x1b[1m\x9b", `\u{1b}[1m\x{9b}`, `\u{1b}[1m\x{9b}`},
		{"only line ends", "\n\r\n", "", "\n\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := escape.Line(c.in); got != c.line {
				t.Errorf("Line(%q) = %q, want %q", c.in, got, c.line)
			}
			if got := escape.Text(c.in); got != c.text {
				t.Errorf("Text(%q) = %q, want %q", c.in, got, c.text)
			}
		})
	}
}
