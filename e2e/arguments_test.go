package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shower is a typed tool that writes down that it was started and shows its
// arguments.
func shower(w *world) {
	w.tool("show", `echo >>started; printf '<%s>' "$@"; echo`)
	w.file("tools/show/schema.json", `{
  "type": "object",
  "properties": {
    "path": {"type": "string"}, "n": {"type": "integer"}, "loud": {"type": "boolean"},
    "word": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}
  },
  "required": ["path"],
  "x-snens": {"argv": [
    {"flag": "--n", "field": "n"}, {"flag": "--loud", "when_field": "loud"}, {"flag": "--word", "field": "word"},
    {"flag": "--tags", "field": "tags", "separator": ","}, {"field": "path"}
  ]}
}`, 0o644)
}

// refusedArguments are arguments that no tool may see, and what is said of
// them: the field, the rule and the way out.
var refusedArguments = []struct{ name, args, says string }{
	{"NUL", `{"path":"a\u0000b"}`, `path: holds a NUL character, which no argument can hold; send it without NUL`},
	{"200 KiB", `{"path":"` + strings.Repeat("x", 200<<10) + `"}`, `path: makes an argument of 204800 bytes; one argument has at most 131071; send less, or let the tool take it by stdin or "as": "file"`},
	{"leading dash", `{"path":"-rf"}`, `path: must not begin with "-", which the tool would take for an option; for a file write "./" before it`},
	{"empty", `{"path":""}`, `path: must not be empty; leave it out or send text`},
	{"null where it is required", `{"path":null}`, `path: must be a string, not null`},
	{"missing", `{}`, `path: is required; add it (a string)`},
	{"no number", `{"path":"p","n":"x"}`, `n: must be an integer, not the string "x"`},
	{"no whole number", `{"path":"p","n":5.5}`, `n: must be an integer, not 5.5; send a whole number`},
	{"true as a number", `{"path":"p","n":true}`, `n: must be an integer, not true`},
	{"number as text", `{"path":3}`, `path: must be a string, not 3; put it in double quotes`},
	{"no truth", `{"path":"p","loud":"yes"}`, `loud: must be true or false, not the string "yes"`},
	{"unknown field", `{"pth":"p","path":"p"}`, `pth: is not a field of this tool; did you mean "path"? accepted: "path", "n", "loud", "word", "tags"`},
	{"separator in an item", `{"path":"p","tags":["a,b"]}`, `tags[0]: must not contain ",", which separates the items; send it in another way`},
	{"text as a list", `{"path":"p","tags":"a"}`, `tags: must be an array, not the string "a"; send a list, [...]`},
	{"duplicate key", `{"path":"p","path":"q"}`, `arguments: line 1, column 13: the key "path" is given twice; give it once`},
	{"half a surrogate", `{"path":"\ud800"}`, `path: line 1, column 10: \ud800 is half of a surrogate pair`},
	{"cut short", `{"path":"p"`, `arguments: line 1, column 12: ends before its closing`},
	{"two values", `{"path":"p"} {}`, `arguments: line 1, column 14: something follows the value; exactly one JSON value is read`},
	{"a list", `["p"]`, "arguments: must be an object, not an array; send {...} with the tool's fields"},
	{"absent folder", `{"path":"p","cwd":"/absent/folder"}`, "the working directory \"/absent/folder\" does not exist\nhint: choose another working directory (--cwd DIR, or cwd in JSON)"},
	{"no time", `{"path":"p","timeout_seconds":0}`, "timeout_seconds: must be a number of seconds above zero\nhint: leave it out for the default"},
}

func TestRefusedArgumentsStartNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shower(w)
	for _, c := range refusedArguments {
		file := w.file("args", c.args, 0o644) // an argument of ours has its limit too
		r := w.run("call", "show", "--args", "@"+file)
		if want := "snens: cannot call show: " + c.says; r.status != 125 || r.stdout != "" || !strings.HasPrefix(r.stderr, want) {
			t.Errorf("%s: %d, %q, stderr\n%s\nwant\n%s", c.name, r.status, r.stdout, r.stderr, want)
		}
		status, rec := w.call("show", "--args", "@"+file)
		if status != 125 || rec.OK || rec.Class != "refused" || rec.ExitCode != nil || rec.Stdout != nil || !strings.Contains(rec.Content, c.says) {
			t.Errorf("%s: as a record: %d, %+v", c.name, status, rec)
		}
	}
	if _, err := os.Stat(filepath.Join(w.work, "started")); err == nil {
		t.Error("the tool was started")
	}
	if w.run("call", "show", "path=p"); waitFile(t, filepath.Join(w.work, "started")) != "" {
		t.Error("the tool does not write down that it was started")
	}
}

// What looks odd and is right reaches the tool, byte for byte.
func TestAcceptedArguments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shower(w)
	for _, c := range []struct{ args, shows string }{
		{`{"path":"p","n":"3"}`, `<--n=3><p>`},
		{`{"path":"p","n":1e6}`, `<--n=1000000><p>`},
		{`{"path":"p","n":1.0}`, `<--n=1><p>`},
		{`{"path":"p","n":99999999999999999999999}`, `<--n=99999999999999999999999><p>`},
		{`{"path":"p","n":null,"loud":false}`, `<p>`},
		{`{"path":"p","loud":"true"}`, `<--loud><p>`},
		{`{"path":"3"}`, `<3>`},
		{`{"path":" a  b "}`, `< a  b >`},
		{`{"path":"$(id) * ~ ; \"'"}`, `<$(id) * ~ ; "'>`},
		{`{"path":"p","word":"--loud"}`, `<--word=--loud><p>`},
		{`{"path":"p","tags":["a","b c"]}`, `<--tags=a,b c><p>`},
		{`{"path":"\ud83d\ude00"}`, "<\U0001F600>"},
	} {
		if r := w.run("call", "show", "--args", c.args); r.status != 0 || r.stdout != c.shows+"\n" || r.stderr != "" {
			t.Errorf("%s: %+v, want %s", c.args, r, c.shows)
		}
	}
}
