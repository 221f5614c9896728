package search

import (
	"regexp/syntax"
	"slices"
	"testing"
)

func TestFind(t *testing.T) {
	for _, c := range []struct {
		pattern string
		word    bool
		line    string
		want    []int
	}{
		{"b+", false, "abba", []int{1, 3}},
		{"^a$", false, "a", []int{0, 1}},
		{"x", false, "abba", nil},
		{"(?i)ABBA", false, "xabbay", []int{1, 5}},
		{"alpha", true, "alphabet alpha", []int{9, 14}},
		{"alpha", true, "alphabet", nil},
		{"alpha", true, "x_alpha", nil},
		{"alpha", true, "(alpha)", []int{1, 6}},
		{"alpha", true, "älpha alphaß", nil},
		{"foo|foobar", true, "foobar", []int{0, 6}},
		{"-v", true, "grep -v", []int{5, 7}},
		{"^a", true, "a b", []int{0, 1}},
		{"ä", true, "ä", []int{0, 2}},
	} {
		p, err := compile(c.pattern, c.word)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.find([]byte(c.line)); !slices.Equal(got, c.want) {
			t.Errorf("%q (word %v) in %q: %v; want %v", c.pattern, c.word, c.line, got, c.want)
		}
	}
	for _, bad := range []string{"(", "a{2000}", `\8`, "[z-a]", "(?<=a)b", "*"} {
		if _, err := compile(bad, false); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestRequired(t *testing.T) {
	for _, c := range []struct {
		pattern string
		want    []string
		fold    bool
	}{
		{"abc", []string{"abc"}, false},
		{"a.*bcd", []string{"bcd"}, false},
		{"(abc)+x", []string{"abc"}, false},
		{"(?:abc){2,}", []string{"abc"}, false},
		{"(?:abc){0,2}", nil, false},
		{"abc?", []string{"ab"}, false},
		{"x*", nil, false},
		{"foo|bar", []string{"foo", "bar"}, false},
		{"foo|b*", nil, false},
		{"[ab]", nil, false},
		{"", nil, false},
		{`\Qa.b\E`, []string{"a.b"}, false},
		{"(?i)abc", []string{"ABC"}, true},
		{"a\nb", nil, false},
		{"a\ufffdb", nil, false},
		{`\bword\b`, []string{"word"}, false},
		{"^Port [0-9]+", []string{"Port "}, false},
	} {
		tree, err := syntax.Parse(c.pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		got, fold := required(tree)
		if !slices.Equal(got, c.want) || fold != c.fold {
			t.Errorf("%q: %q, fold %v; want %q, %v", c.pattern, got, fold, c.want, c.fold)
		}
	}
}

// The quick look never hides a match.
func FuzzPossible(f *testing.F) {
	for _, seed := range []string{"a(b|c)d", "(?i)Straße", "x{2,3}y?", "(foo|fob)+", "[a-c]z|zz", "(?:a|b)*c"} {
		f.Add(seed, []byte("xabd foo STRASSE zz"))
	}
	f.Fuzz(func(t *testing.T, text string, line []byte) {
		p, err := compile(text, false)
		if err != nil {
			return
		}
		if p.re.Match(line) && !p.possible(line) {
			t.Fatalf("%q matches %q, but none of %q is in it", text, line, p.literals)
		}
	})
}
