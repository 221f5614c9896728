package spelling_test

import (
	"testing"

	"pgregory.net/rapid"

	"snens/internal/spelling"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"grep", "grep", 0},
		{"gerp", "grep", 1}, // neighbours swapped
		{"grp", "grep", 1},
		{"grepp", "grep", 1},
		{"grap", "grep", 1},
		{"kitten", "sitting", 3},
		{"ab", "ba", 1},
		{"abcd", "badc", 2},
		{"Case", "case", 1},
	} {
		if got := spelling.Distance(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// What must hold of any two words: symmetry, the bounds by length, and that one
// edit moves the distance by one at most.
func TestDistanceOfAnyWords(t *testing.T) {
	word := rapid.StringMatching(`[ab-]{0,8}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := spelling.Distance(a, b)
		long, short := max(len(a), len(b)), min(len(a), len(b))
		if d != spelling.Distance(b, a) || d < long-short || d > long || (d == 0) != (a == b) {
			t.Fatalf("%q and %q: %d", a, b, d)
		}
		if more := spelling.Distance(a+"x", b); more > d+1 || more < d-1 {
			t.Fatalf("%q and %q: %d, with an x more %d", a, b, d, more)
		}
	})
}
