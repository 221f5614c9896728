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
