package search

import "testing"

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		glob    string
		yes, no []string
	}{
		{"", []string{"a", "a/b"}, nil},
		{"*.go", []string{"a.go", "x/y/a.go", ".go"}, []string{"a.gox", "go", "a.go/x"}},
		{"*.{c,h}", []string{"a.c", "x/a.h"}, []string{"a.cc", "a.{c,h}"}},
		{"?.txt", []string{"a.txt"}, []string{"ab.txt", ".txt"}},
		{"[ab]*", []string{"a", "bx"}, []string{"c", "[ab]"}},
		{"[!a-c]x", []string{"dx"}, []string{"ax", "cx", "x"}},
		{"[]x]1", []string{"]1", "x1"}, []string{"1"}},
		{`[\]1`, []string{`\1`}, []string{"]1"}},
		{`\*x`, []string{"*x"}, []string{"ax", `\*x`}},
		{"!*.min.js", []string{"a.js", "b"}, []string{"a.min.js", "x/a.min.js"}},
		{"src/*.go", []string{"src/a.go"}, []string{"a.go", "x/src/a.go", "src/x/a.go"}},
		{"/a.go", []string{"a.go"}, []string{"x/a.go"}},
		{"src/**/*.go", []string{"src/a.go", "src/x/a.go", "src/x/y/a.go"}, []string{"a.go", "srcx/a.go", "x/src/a.go"}},
		{"**/test/*", []string{"test/a", "x/test/a"}, []string{"xtest/a", "test/a/b"}},
		{"vendor/**", []string{"vendor/a", "vendor/x/y"}, []string{"vendor", "x/vendor/a"}},
		{"!**/vendor/**", []string{"a", "vendorx/a"}, []string{"vendor/a", "x/vendor/a/b"}},
		{"a**b", []string{"ab", "axxb"}, []string{"a"}},
		{"a.b+(c)", []string{"a.b+(c)"}, []string{"aXb+(c)", "a.bb(c)"}},
		{"größe*", []string{"größe.txt"}, []string{"grosse"}},
	} {
		g, err := parseGlob(c.glob)
		if err != nil {
			t.Errorf("%q: %v", c.glob, err)
			continue
		}
		for _, name := range c.yes {
			if !g.chooses(name) {
				t.Errorf("%q does not choose %q", c.glob, name)
			}
		}
		for _, name := range c.no {
			if g.chooses(name) {
				t.Errorf("%q chooses %q", c.glob, name)
			}
		}
	}
	for _, bad := range []string{"[a", "[", "[]", "{a", "!", "[z-a]", "[!]"} {
		if _, err := parseGlob(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestGlobSkipsWholeFolders(t *testing.T) {
	for glob, want := range map[string]bool{
		"":                    false,
		"!node_modules/**":    true,
		"!**/node_modules/**": true,
		"!node_modules/*":     false, // folders below it are still wanted
		"node_modules/**":     false,
		"!*.js":               false,
		"!other/**":           false,
	} {
		g, err := parseGlob(glob)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.skips("node_modules"); got != want {
			t.Errorf("%q skips node_modules: %v; want %v", glob, got, want)
		}
	}
}

func FuzzGlob(f *testing.F) {
	for _, seed := range []string{"*.go", "[!a-]*", "{a,{b,c}}/**", "**/x", `\`, "[[:alpha:]]", "a,b", "}"} {
		f.Add(seed, "a/b.go")
	}
	f.Fuzz(func(t *testing.T, glob, name string) {
		g, err := parseGlob(glob)
		if err != nil || g == nil {
			return
		}
		// Turning it round turns every answer round.
		if glob[0] != '!' {
			other, err := parseGlob("!" + glob)
			if err != nil || other.chooses(name) == g.chooses(name) {
				t.Fatalf("%q and its opposite agree on %q (%v)", glob, name, err)
			}
		}
	})
}
