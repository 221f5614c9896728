package visible_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"snens/cmd/snens-tools/internal/visible"
)

func TestAppend(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "",
		"plain text":              "plain text",
		"tab\there":               "tab\there",
		"Größe 日本 👍":              "Größe 日本 👍",
		`C:\new \d+ \\ \u{1f600}`: `C:\new \d+ \\ \u{1f600}`,
		"\x1b[31mred":             `\u{1b}[31mred`,
		"a\rb":                    `a\u{d}b`,
		"end\r":                   `end\u{d}`,
		"nul\x00del\x7f":          `nul\u{0}del\u{7f}`,
		"latin \xe4":              `latin \x{e4}`,
		"c1 \u0085":               `c1 \u{85}`,
		"bidi \u202e":             `bidi \u{202e}`,
		"zero\u200bwidth":         `zero\u{200b}width`,
		"nbsp\u00a0":              `nbsp\u{a0}`,
		"\\\x1b":                  `\\u{1b}`,
	} {
		got, changed := visible.Append([]byte("> "), []byte(in))
		if string(got) != "> "+want || changed != (in != want) {
			t.Errorf("%q: %q, changed %v; want %q", in, got, changed, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in   string
		most int
		want string
	}{
		{"abc", 3, "abc"},
		{"abc", 2, "ab"},
		{"aé", 2, "a"},
		{"日本", 5, "日"},
		{"日本", 3, "日"},
		{"👍", 3, "\xf0\x9f\x91"}, // nothing at all would be no progress
		{"\x80\x80\x80\x80\x80\x80", 5, "\x80\x80\x80\x80\x80"},
	} {
		if got := visible.Cut([]byte(c.in), c.most); string(got) != c.want {
			t.Errorf("Cut(%q, %d) = %q; want %q", c.in, c.most, got, c.want)
		}
	}
}

func TestSizeAndCount(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 1023: "1023 bytes", 1024: "1.0 KiB", 1536: "1.5 KiB",
		5 << 30: "5.0 GiB", 1 << 50: "1.0 PiB",
	} {
		if got := visible.Size(n); got != want {
			t.Errorf("Size(%d) = %q; want %q", n, got, want)
		}
	}
	if a, b := visible.Count(1, "line"), visible.Count(int64(2), "line"); a != "1 line" || b != "2 lines" {
		t.Errorf("Count: %q, %q", a, b)
	}
}

func FuzzAppend(f *testing.F) {
	for _, seed := range []string{"", "a\x1b\\\\", "\\u{1b}", "\xff\xfe", "\u202e\t\r", "e\u0301"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out, changed := visible.Append(nil, in)
		if !utf8.Valid(out) {
			t.Fatalf("%q gives invalid UTF-8: %q", in, out)
		}
		// A line feed is the callers' to split at; everything else must be gone.
		for _, r := range string(out) {
			if r < ' ' && r != '\t' && r != '\n' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e {
				t.Fatalf("%q gives %q, which holds %U", in, out, r)
			}
		}
		if changed != (string(in) != string(out)) {
			t.Fatalf("%q: changed is %v, but the result is %q", in, changed, out)
		}
		if again, changed := visible.Append(nil, out); changed && !strings.Contains(string(in), "\n") {
			t.Fatalf("%q is still changed to %q", out, again)
		}
	})
}
