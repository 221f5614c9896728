package search

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snens/internal/testneed"
)

// engines are the programs of this machine, each in a folder of its own.
func engines(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for name, pkg := range map[string]string{"rg": "ripgrep", "grep": "grep"} {
		dir := t.TempDir()
		if err := os.Symlink(testneed.Program(t, name, pkg), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		found[name] = dir
	}
	return found
}

// Results are the same with ripgrep, with GNU grep and with neither.
func TestEnginesChangeNothing(t *testing.T) {
	paths := engines(t)
	files := map[string]string{
		"kelvin": "a\u212ab\n", "sharp": "\u017fee\n", "latin": "na\xefve abc\n", "-": "abc\n", "bin": "abc\x00\n",
		"utf16": "\xff\xfea\x00b\x00c\x00\n", "bom": "\ufeffabc\n", "crlf": "abc\r\n", "sub/new\nline": "abc\n", "sub/-x": "xABCx\n",
	}
	words := []string{"abc", "Abc", "xyz", "foo.bar", "größe", "k", "see", "\\", "$"}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range engineFiles + 50 {
		var b strings.Builder
		for range random.IntN(4) {
			b.WriteString(words[random.IntN(len(words))] + " " + words[random.IntN(len(words))] + "\n")
		}
		files[fmt.Sprintf("d%d/f%03d", i%7, i)] = b.String()
	}
	tree(t, files)
	for _, pattern := range []string{
		"abc", "^abc$", "(?i)abc", "(?i)akb", "(?i)see", "a.c|xyz", "foo\\.bar", "größe", "(?i)größe", "[a-c]{3}", "x?yz", "na.ve", "\\$", "\\\\", "nowhere at all",
	} {
		for _, word := range []bool{false, true} {
			r := Request{Pattern: pattern, Word: word, Limit: 1000}
			want, _ := run(t, r)
			for name, path := range paths {
				r.Path = path
				if got, _ := run(t, r); got != want {
					t.Errorf("%s, %q, word %v:\n%s\nwant\n%s", name, pattern, word, got, want)
				}
			}
		}
	}
}

// The programs are really asked: for what they rule out, files are not opened.
func TestEnginesNarrow(t *testing.T) {
	tree(t, map[string]string{"yes": "a needle\n", "no": "hay\n", "-": "needle", "sub/x\ny": "needle\n"})
	files := []file{{"yes", 9}, {"no", 4}, {"-", 6}, {"sub/x\ny", 7}}
	p, err := compile("need(le|ful)", false)
	if err != nil {
		t.Fatal(err)
	}
	for name, path := range engines(t) {
		e := findEngine("relative:" + path)
		if e == nil || filepath.Base(e.path) != name {
			t.Fatalf("%s is not found: %+v", name, e)
		}
		if !e.serves(p) {
			t.Fatalf("%s does not serve", name)
		}
		if got := fmt.Sprint(e.narrow(p, files)); got != "[{yes 9} {-  6} {sub/x\ny 7}]" && got != "[{yes 9} {- 6} {sub/x\ny 7}]" {
			t.Errorf("%s: %s", name, got)
		}
		// A program that fails rules nothing out.
		if got := e.narrow(p, append(files, file{"gone", 1})); len(got) != len(files)+1 {
			t.Errorf("%s with a missing file: %v", name, got)
		}
	}
}

func TestEngineServes(t *testing.T) {
	rg, grep := &engine{rg: true}, &engine{}
	for _, c := range []struct {
		pattern  string
		rg, grep bool
	}{
		{"abc", true, true},
		{"(?i)abc", true, true},
		{"(?i)akb", true, false},
		{"(?i)größe", false, false},
		{"größe", true, true},
		{"[ab]", false, false},
	} {
		p, err := compile(c.pattern, false)
		if err != nil {
			t.Fatal(err)
		}
		if rg.serves(p) != c.rg || grep.serves(p) != c.grep {
			t.Errorf("%q: rg %v, grep %v; want %v, %v", c.pattern, rg.serves(p), grep.serves(p), c.rg, c.grep)
		}
	}
	var none *engine
	if p, _ := compile("abc", false); none.serves(p) {
		t.Error("no program serves")
	}
}

func TestFindEnginePassesOver(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// This program under the name, and a grep that is not GNU's.
	if err := os.Symlink(self, filepath.Join(dir, "rg")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "grep"), []byte("#!/bin/sh\necho BusyBox\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if e := findEngine(dir); e != nil {
		t.Errorf("found %+v", e)
	}
	if e := findEngine(""); e != nil {
		t.Errorf("found %+v in no folder", e)
	}
}
