package tomlread_test

import (
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"snens/internal/tomlread"
)

// Each table of a list of tables has its own places.
func TestTablesOfAList(t *testing.T) {
	found := tomlread.Positions("[[rule]]\nid = 'a'\nargs = [1, {k = 2}]\n\n  [[rule]]\nid = 'b'\n[rule.approve]\nneed = 1\n[[rule.more]]\nx.y = 1\n[[rule.more]]\nx = 2\n[[rule]]\nid = 'c'\n[other]\nid = 1\n")
	for path, want := range map[string][2]int{
		"rule":                      {1, 3},
		"rule [0]":                  {1, 3},
		"rule [0] id":               {2, 1},
		"rule [0] args [1] k":       {3, 13},
		"rule [1]":                  {5, 5},
		"rule [1] id":               {6, 1},
		"rule [1] approve":          {7, 7},
		"rule [1] approve need":     {8, 1},
		"rule [1] more [0] x y":     {10, 3},
		"rule [1] more [1] x":       {12, 1},
		"rule [2] id":               {14, 1},
		"other id":                  {16, 1},
		"rule [0] approve":          {0, 0},
		"rule [1] args":             {0, 0},
		"other [0]":                 {0, 0},
		"rule [1] more [0] x [0] y": {0, 0},
	} {
		if got := found[strings.ReplaceAll(path, " ", "\x00")]; got != want {
			t.Errorf("%s is at %v, want %v", path, got, want)
		}
	}
}

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
