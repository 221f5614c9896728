package escape_test

import (
	"slices"
	"strings"
	"testing"

	"snens/internal/escape"
)

func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"plain", `C:\dir`, nil},
		{"other scripts, unmixed", "grep — поиск по файлам, 検索 αβγ", nil},
		{"scripts side by side but not in one word", "wc-строк λ/x", nil},
		{"Japanese mixes its own", "Goの日本語カタカナ", nil},
		{"control", "a\x1bb\n", []string{"contains control characters"}},
		{"bidi", "a\u202e", []string{"contains bidirectional control characters"}},
		{
			"everything, in a fixed order", "\xff\u0301\u0378\ue000\u00a0\u200b\u200f\a",
			[]string{
				"contains control characters", "contains bidirectional control characters",
				"contains invisible characters", "contains unusual spaces", "contains private-use characters",
				"contains unassigned characters", "contains combining marks with nothing to stand on",
				"contains bytes that are not UTF-8",
			},
		},
		{"Latin and Cyrillic", "p\u0430ypal", []string{"mixes Latin and Cyrillic letters in one word: p\u0430ypal"}},
		{
			"three alphabets", "x \u0430\u03bfe y",
			[]string{"mixes Latin, Cyrillic and Greek letters in one word: \u0430\u03bfe"},
		},
		{"a digit does not part a word", "a1\u0430", []string{"mixes Latin and Cyrillic letters in one word: a1\u0430"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := escape.Warnings(c.in); !slices.Equal(got, c.want) {
				t.Errorf("Warnings(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestWarningsAreBounded(t *testing.T) {
	got := escape.Warnings(strings.Repeat("a\u0430 ", 1000))
	if len(got) != 4 || got[3] != "mixes alphabets in 997 more words" {
		t.Errorf("got %q", got)
	}
}
