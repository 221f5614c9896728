package escape_test

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"snens/internal/escape"
)

var seeds = []string{
	"", "plain", `\`, `\u{a}`, `\x{80}`, "\x80\xff", "a\u0301", "\u0301", "\u202e\u2066", "e\xcc\x81",
	"\xed\xa0\x80", "\U000e0041", "p\u0430ypal", "a\r\n\tb", `\u{5c}u{a}`, `\u{41}`, `\x{c3}\x{a9}`, "=\u0338",
}

// What Escape prints is printable, one line, and turns back to the same bytes
// (so no two texts print alike).
func FuzzEscape(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := escape.Escape(s)
		mustBePrintable(t, out, "")
		back, err := escape.Unescape(out)
		if err != nil || back != s {
			t.Fatalf("%q became %q and came back as %q, %v", s, out, back, err)
		}
		mustBePrintable(t, escape.Line(s), "")
		mustBePrintable(t, escape.Text(s), "\n\t")
		for _, w := range escape.Warnings(s) {
			mustBePrintable(t, w, "")
		}
	})
}

// What Unescape accepts is exactly what Escape prints.
func FuzzUnescape(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out, err := escape.Unescape(s)
		if err == nil && escape.Escape(out) != s {
			t.Fatalf("%q was accepted as %q, which prints as %q", s, out, escape.Escape(out))
		}
	})
}

func mustBePrintable(t *testing.T, s, except string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Fatalf("%q is not UTF-8", s)
	}
	for _, r := range s {
		allowed := false
		for _, e := range except {
			allowed = allowed || r == e
		}
		if !allowed && (!unicode.IsPrint(r) || unicode.Is(unicode.Bidi_Control, r)) {
			t.Fatalf("%q holds %U", s, r)
		}
	}
}
