package snens_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// forbidden is what no committed file may hold. The patterns are spelt so that
// this file does not match them.
var forbidden = []struct {
	pattern *regexp.Regexp
	why     string
}{
	{regexp.MustCompile(`\b(TO[D]O|FIX[M]E|X[X]X|HA[C]K)\b`), "finish it, or say in the documents what is not there"},
	{regexp.MustCompile(`(?i)not (yet )?imple[m]ented|unimple[m]ented|coming s[o]on`), "nothing here is a stub"},
	{regexp.MustCompile(`/wo[r]k/(main|shared|brief)\b|/ro[o]t/(go|\.cache|\.pyenv)\b`), "a path of one machine"},
	{regexp.MustCompile(`proxy\.gola[n]g\.org|registry\.np[m]js|(deb|security)\.deb[i]an\.org|py[p]i\.org`), "a registry's host belongs to the machine's settings"},
	{regexp.MustCompile(`(?i)\b(agent ses[s]ion|the br[i]ef|is[s]ue #?[0-9]+|the is[s]ue on)\b`), "how the work is organised is not part of the project"},
}

// wordExceptions are files in which a pattern is right, with the reason.
var wordExceptions = map[string]string{}

func TestNoForbiddenWords(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range allFiles(t) {
		info, err := os.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || strings.HasSuffix(name, "go.sum") {
			continue
		}
		text := readFile(t, name)
		if !utf8.ValidString(text) {
			continue // a binary fixture
		}
		for _, f := range forbidden {
			at := f.pattern.FindStringIndex(text)
			if at == nil {
				continue
			}
			seen[name] = true
			if wordExceptions[name] == "" {
				t.Errorf("%s:%d: %q: %s", name, 1+strings.Count(text[:at[0]], "\n"), text[at[0]:at[1]], f.why)
			}
		}
	}
	unused(t, "wordExceptions", wordExceptions, seen)
}

func TestTheForbiddenWordsAreFound(t *testing.T) {
	for _, bad := range []string{
		"// TO" + "DO: later", "FIX" + "ME", "not " + "implemented", "Not yet " + "implemented",
		"cd /wo" + "rk/main", "/ro" + "ot/go/pkg", "https://proxy.gol" + "ang.org",
	} {
		found := false
		for _, f := range forbidden {
			found = found || f.pattern.MatchString(bad)
		}
		if !found {
			t.Errorf("%q is not found", bad)
		}
	}
	for _, good := range []string{"a todo list", "hackney", "/workspace", "/root/notes"} {
		for _, f := range forbidden {
			if f.pattern.MatchString(good) {
				t.Errorf("%q is found by %s", good, f.pattern)
			}
		}
	}
}
