package escape

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// alphabets are the scripts with letters that look alike across them, in the
// order in which a warning names them.
var alphabets = []struct {
	name  string
	table *unicode.RangeTable
}{
	{"Latin", unicode.Latin},
	{"Cyrillic", unicode.Cyrillic},
	{"Greek", unicode.Greek},
	{"Armenian", unicode.Armenian},
	{"Coptic", unicode.Coptic},
	{"Cherokee", unicode.Cherokee},
}

// maxMixedWords bounds how many words one text is warned about.
const maxMixedWords = 3

// Warnings says what is suspicious about s, one line per finding and nothing
// when there is none: first each class of characters that Escape spells out
// (the backslash is none), then the words that mix alphabets whose letters
// look alike (a word is a run of letters, marks and digits). The lines are
// escaped and in a fixed order.
func Warnings(s string) []string {
	if isPlain(s) {
		return nil
	}
	var found [classes]bool
	base := false
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		c := classOf(r, n, base)
		found[c] = true
		base = c == classPlain && carriesMarks(r)
		i += n
	}
	var out []string
	for c, yes := range found {
		if yes && words[c] != "" {
			out = append(out, "contains "+words[c])
		}
	}
	return append(out, mixedWords(s)...)
}

// mixedWords names the words that hold letters of more than one alphabet.
func mixedWords(s string) []string {
	var out []string
	more := 0
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return !carriesMarks(r) }) {
		names := alphabetsOf(word)
		if len(names) < 2 {
			continue
		}
		if len(out) == maxMixedWords {
			more++
			continue
		}
		out = append(out, fmt.Sprintf("mixes %s letters in one word: %s", join(names), Escape(word)))
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("mixes alphabets in %d more words", more))
	}
	return out
}

// alphabetsOf names the alphabets of a word's letters.
func alphabetsOf(word string) []string {
	var names []string
	for _, a := range alphabets {
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(a.table, r) }) {
			names = append(names, a.name)
		}
	}
	return names
}

// join writes a list as a person would: "A and B", "A, B and C".
func join(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
