package edit_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"snens/cmd/snens-tools/internal/edit"
)

func TestParseChange(t *testing.T) {
	for in, want := range map[string]edit.Change{
		`{"old":"a","new":""}`:                                {Old: "a"},
		` {"new":"b\n","old":"a\t","all":true} ` + "\n":       {Old: "a\t", New: "b\n", All: true},
		`{"old":"a","new":"b","all":false}`:                   {Old: "a", New: "b"},
		`{"old":"a","new":"b","all":null}`:                    {Old: "a", New: "b"},
		`{"old":"\ud83d\udc4d \\ud83d","new":"\u0000\u20ac"}`: {Old: "\U0001f44d \\ud83d", New: "\x00\u20ac"},
	} {
		if got, err := edit.ParseChange(strings.NewReader(in)); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", in, got, err, want)
		}
	}
}

func TestParseChangeRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"":                                        "no change on stdin",
		" \n":                                     "no change on stdin",
		"[]":                                      "it must be an object, not a value of type array",
		`"old"`:                                   "it must be an object, not a value of type string",
		`{"old":"a"}`:                             `it needs the fields "old" and "new"`,
		`{"new":"a"}`:                             `it needs the fields "old" and "new"`,
		`{"old":"","new":"a"}`:                    `"old" must not be empty`,
		`{"old":"a","new":"a"}`:                   "nothing would change",
		`{"old":"a","new":1}`:                     `field "new" must be a string, not of type number`,
		`{"old":null,"new":"b"}`:                  `field "old" must be a string, not of type null`,
		`{"old":"a","new":"b","all":"true"}`:      `field "all" must be true or false`,
		`{"old":"a","new":"b","path":"x"}`:        `field "path" is unknown; known are old, new, all`,
		`{"old":"a","New":"b"}`:                   `field "New" is unknown`,
		`{"old":"a","old":"c","new":"b"}`:         "line 1, column 12",
		`{"old":"a","new":"b"} {}`:                "line 1, column 23",
		`{"old":"a","new":"b"`:                    "line 1, column 21",
		`{"old":"\ud83d","new":"b"}`:              "surrogate",
		"{\"old\":\"\xff\",\"new\":\"b\"}":        "UTF-8",
		"\ufeff{\"old\":\"a\",\"new\":\"b\"}":     "byte order mark",
		`{"old":` + strings.Repeat("[", 50) + "1": "deep",
	} {
		if got, err := edit.ParseChange(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v; want an error with %q", in, got, err, want)
		}
	}
	long := `{"old":"a","new":"` + strings.Repeat("x", edit.MaxChange) + `"}`
	if _, err := edit.ParseChange(strings.NewReader(long)); err == nil || !strings.Contains(err.Error(), "longer than 16.0 MiB") {
		t.Errorf("a change that is too long: %v", err)
	}
}

// Whatever parses says the same when it is written again, and encoding/json agrees.
func FuzzParseChange(f *testing.F) {
	for _, seed := range []string{
		`{"old":"a","new":"b"}`, `{"old":"\u00e4\n","new":"","all":true}`, `{"old":"a","old":"b","new":""}`,
		`{"Old":"a","new":"b"}`, `{"old":"\ud800","new":"b"}`, `{}`, `[1e999]`, "{\"old\":\"\xc3\x28\",\"new\":\"\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		c, err := edit.ParseChange(bytes.NewReader(in))
		if err != nil {
			return
		}
		var std map[string]any
		if err := json.Unmarshal(in, &std); err != nil || std["old"] != c.Old || std["new"] != c.New {
			t.Fatalf("%q: we read %+v, encoding/json %v (%v)", in, c, std, err)
		}
		again, err := json.Marshal(map[string]any{"old": c.Old, "new": c.New, "all": c.All})
		if err != nil {
			t.Fatal(err)
		}
		if c2, err := edit.ParseChange(bytes.NewReader(again)); err != nil || c2 != c {
			t.Fatalf("%q became %q: %+v, %v; want %+v", in, again, c2, err, c)
		}
	})
}
