package strictjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"snens/internal/strictjson"
)

func parse(t *testing.T, s string) strictjson.Value {
	t.Helper()
	v, err := strictjson.Parse([]byte(s), strictjson.Options{})
	if err != nil {
		t.Fatalf("Parse(%q): %v", s, err)
	}
	return v
}

func TestPrintsWhatItRead(t *testing.T) {
	for in, want := range map[string]string{
		`null`:                                "null",
		"\t\r\n true ":                        "true",
		`[ ]`:                                 "[]",
		`{ }`:                                 "{}",
		`{"z":1,"a":{"y":[1,2],"b":null}}`:    `{"z":1,"a":{"y":[1,2],"b":null}}`,
		`[1e6, 1.0, -0, 5.50, 1E+2]`:          `[1e6,1.0,-0,5.50,1E+2]`,
		`"<a href=\"x\">&\u2028\/"`:           "\"<a href=\\\"x\\\">&\u2028/\"",
		`"\u0041\ud83d\ude00\uD83D\uDE00"`:    `"A😀😀"`,
		`"\u0000\u001f\u007f\b\f\n\r\t\\"`:    "\"\\u0000\\u001f\x7f\\b\\f\\n\\r\\t\\\\\"",
		`123456789012345678901234567890.1e-7`: `123456789012345678901234567890.1e-7`,
		`{"":{"":""}}`:                        `{"":{"":""}}`,
	} {
		v := parse(t, in)
		if got := string(v.JSON()); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

func TestKeysAreExact(t *testing.T) {
	v := parse(t, `{"METHOD":1,"method":2}`)
	if got := v.Get("method").Text; got != "2" {
		t.Errorf("method = %s", got)
	}
	if v.Get("Method") != nil {
		t.Error("Method was found though only METHOD and method are there")
	}
}

func TestRefusals(t *testing.T) {
	many := &strings.Builder{}
	for i := range 20 {
		fmt.Fprintf(many, `"k%d":0,`, i)
	}
	for _, c := range []struct{ in, want string }{
		{"", "line 1, column 1: ends where a value should begin"},
		{" \n ", "line 2, column 2: ends where a value should begin"},
		{"\xef\xbb\xbf{}", "line 1, column 1: begins with a byte order mark; save it as UTF-8 without one"},
		{"{\n\"\u00e9\": \"a\xff\"}", "line 2, column 8: byte 0xff is not UTF-8"},
		{"\"\xed\xa0\x80\"", "line 1, column 2: byte 0xed is not UTF-8"},
		{"\"\xc0\x80\"", "line 1, column 2: byte 0xc0 is not UTF-8"},
		{`{"a":1,"b":{"c":1,"c":2}}`, `line 1, column 19: b: the key "c" is given twice; give it once`},
		{`{"c":1,"\u0063":2}`, `line 1, column 8: the key "c" is given twice; give it once`},
		{"{" + many.String() + `"k3":1}`, `the key "k3" is given twice; give it once`},
		{`{"a":[0,{"b c":"\ud800"}]}`, `line 1, column 17: a[1]["b c"]: \ud800 is half of a surrogate pair`},
		{`"\ud800\u0041"`, `\ud800 is half of a surrogate pair`},
		{`"\udc00"`, `\udc00 is half of a surrogate pair`},
		{`"\u12g4"`, `\u needs four hexadecimal digits`},
		{`"\u12`, `\u needs four hexadecimal digits`},
		{`"\x41"`, `\'x' is not a JSON escape`},
		{`"\`, `ends within an escape`},
		{"\"a\nb\"", `line 1, column 3: control character 0x0a in a string; write it as \u000a`},
		{`"abc`, "line 1, column 1: the string that begins here has no closing quote"},
		{`[1,]`, "line 1, column 4: [1]: ']' where a value should begin"},
		{`[1 2]`, "line 1, column 4: '2' where ',' or ']' should be"},
		{`[1`, "ends before its closing ']'"},
		{`{"a":1,}`, "'}' where a key in double quotes should be"},
		{`{"a":1`, "ends before its closing '}'"},
		{`{"a":1,`, "ends before its closing '}'"},
		{`{"a" 1}`, `no ':' after the key "a"`},
		{`{a:1}`, "'a' where a key in double quotes should be"},
		{`{} {}`, "line 1, column 4: something follows the value"},
		{`truex`, "something follows the value"},
		{`True`, "'T' where a value should begin"},
		{`NaN`, "'N' where a value should begin"},
		{`01`, "01 is not a JSON number"},
		{`1.`, "1. is not a JSON number"},
		{`-`, "- is not a JSON number"},
		{`1e`, "1e is not a JSON number"},
		{`+1`, "'+' where a value should begin"},
		{`.5`, "'.' where a value should begin"},
		{`--1`, "--1 is not a JSON number"},
		{`// x`, "'/' where a value should begin"},
	} {
		v, err := strictjson.Parse([]byte(c.in), strictjson.Options{})
		if err == nil {
			t.Errorf("%q was accepted as %s", c.in, v.JSON())
			continue
		}
		var e *strictjson.Error
		if !errors.As(err, &e) {
			t.Errorf("%q: %T is not an *Error", c.in, err)
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q\n got %s\nwant %s", c.in, err, c.want)
		}
	}
}

func TestLimits(t *testing.T) {
	nest := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct {
		name, in string
		opt      strictjson.Options
		want     string // "" = accepted
	}{
		{"depth held", nest(3), strictjson.Options{MaxDepth: 3}, ""},
		{"depth passed", nest(4), strictjson.Options{MaxDepth: 3}, "line 1, column 4: [0][0][0]: nested deeper than 3 levels"},
		{"default depth held", nest(64), strictjson.Options{}, ""},
		{"default depth passed", nest(65), strictjson.Options{}, "nested deeper than 64 levels"},
		{"no option passes the ceiling", nest(1001), strictjson.Options{MaxDepth: 1 << 30}, "nested deeper than 1000 levels"},
		{"siblings are not depth", `[[],[],[],{}]`, strictjson.Options{MaxDepth: 2}, ""},
		{"bytes held", `"abc"`, strictjson.Options{MaxBytes: 5}, ""},
		{"bytes passed", `"abcd"`, strictjson.Options{MaxBytes: 5}, "is 6 bytes long; at most 5 are read"},
		{"tokens held", `{"a":[1,2]}`, strictjson.Options{MaxTokens: 5}, ""},
		{"tokens passed by a value", `{"a":[1,2,3]}`, strictjson.Options{MaxTokens: 5}, "more than 5 values and keys"},
		{"tokens passed by a key", `{"a":[1,2],"b":1}`, strictjson.Options{MaxTokens: 5}, "more than 5 values and keys"},
		{"deep input does not exhaust the stack", strings.Repeat("[", 5_000_000), strictjson.Options{}, "nested deeper than 64 levels"},
	} {
		_, err := strictjson.Parse([]byte(c.in), c.opt)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

func TestPathsQuoteWhatIsNoPlainName(t *testing.T) {
	got := strictjson.Index(strictjson.Field(strictjson.Field("", "x-snens"), "a.b\n"), 2)
	if want := `x-snens["a.b\n"][2]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// FuzzParse: never a panic; what is accepted, encoding/json accepts with the
// same meaning; printing and reading again gives the same bytes.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2.50,-0,1e400],"b":{"c":null,"d":"\ud83d\ude00"}}`, `"\u2028<"`, `[`, `{"a":1,"a":2}`,
		"\"\xff\"", `"\ud800"`, ` true `, `-`, "\xef\xbb\xbf1",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := strictjson.Parse(data, strictjson.Options{})
		if err != nil {
			var e *strictjson.Error
			if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 || e.Msg == "" {
				t.Fatalf("bad error %#v", err)
			}
			return
		}
		if !json.Valid(data) {
			t.Fatalf("encoding/json refuses %q", data)
		}
		printed := v.JSON()
		again, err := strictjson.Parse(printed, strictjson.Options{})
		if err != nil {
			t.Fatalf("%q prints as %q, which is refused: %v", data, printed, err)
		}
		if string(again.JSON()) != string(printed) {
			t.Fatalf("%q, then %q", printed, again.JSON())
		}
		if theirs, ours := normal(t, data), normal(t, printed); theirs != ours {
			t.Fatalf("encoding/json reads %q as %s but ours as %s", data, theirs, ours)
		}
	})
}

// normal is what encoding/json makes of data, numbers kept as text.
func normal(t *testing.T, data []byte) string {
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
