package tomlread_test

import (
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"snens/internal/tomlread"
)

// plain lists the keys of parsed values that are not inside lists.
func plain(prefix string, v map[string]any) []string {
	var out []string
	for name, v := range v {
		out = append(out, prefix+name)
		if table, ok := v.(map[string]any); ok {
			out = append(out, plain(prefix+name+"\x00", table)...)
		}
	}
	return out
}

// The scan ends on any text, and on TOML finds each key where it is written.
func FuzzPositions(f *testing.F) {
	for _, s := range []string{
		"a = 1\n[b.c]\nd.e = {f = [1, {g = 2}], 'h i' = '''x\n'''}\n", "[[a]]\nb = \"\"\"\\\"\"\"\"\"\n[[a]]\nc=[[1],[\n2, # x ]\n]]",
		`"a\"b" = "]" # c = 1`, "a = 1979-05-27 07:32:00Z\r\nb=+1_000", "= [{]}'\"", "\"\\e\"=1", "'' = 1\n\"\".x = 2", "a.b = 1\na.c = 2\n[d]",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found := tomlread.Positions(text)
		var values map[string]any
		if toml.Unmarshal([]byte(text), &values) != nil || strings.ContainsAny(text, "\\\ufeff") {
			return
		}
		lines := strings.Split(text, "\n")
		for _, path := range plain("", values) {
			if strings.Count(path, "\x00") > 12 {
				continue // deeper than places are noted
			}
			at, ok := found[path]
			if !ok {
				t.Fatalf("%q: no place for %q", text, path)
			}
			rest := string([]rune(lines[at[0]-1])[at[1]-1:])
			last := path[strings.LastIndexByte(path, 0)+1:]
			if unquoted := strings.TrimLeft(rest, `"'`); !strings.HasPrefix(unquoted, last) && last != "" && !strings.ContainsAny(last, `"'`) {
				t.Fatalf("%q: %q is placed at %v, where %q is", text, path, at, rest)
			}
		}
	})
}
