package main

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"tools", "call", "check", "completion"}
	for _, c := range []struct{ typed, want string }{
		{"tols", "tools"},
		{"otols", "tools"}, // two neighbours swapped are one slip
		{"chekc", "check"},
		{"complete", ""}, // more than a third away
		{"completon", "completion"},
		{"xyz", ""},
		{"", ""},
	} {
		if got := nearest(c.typed, names); got != c.want {
			t.Errorf("nearest(%q) = %q, want %q", c.typed, got, c.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"abc", "abc", 0},
		{"abc", "acb", 1},
		{"abcd", "badc", 2},
		{"kitten", "sitting", 3},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
