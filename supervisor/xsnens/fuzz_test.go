package xsnens_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"snens/internal/strictjson"
	"snens/supervisor/xsnens"
)

// seedSchemas are the schemas of the specification's examples.
func seedSchemas(f *testing.F) []string {
	doc, err := os.ReadFile("../../docs/x-snens.md")
	if err != nil {
		f.Fatal(err)
	}
	var out []string
	for _, part := range strings.Split(string(doc), "```json example\n")[1:] {
		text, _, _ := strings.Cut(part, "\n```")
		var b block
		if json.Unmarshal([]byte(text), &b) == nil && b.Schema != nil {
			out = append(out, string(b.Schema))
		}
	}
	return out
}

// FuzzLoad: never a panic; the error is one of the two kinds; what a model sees
// is strict JSON without our keys; examples and an empty call can be built.
func FuzzLoad(f *testing.F) {
	for _, s := range seedSchemas(f) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		i, err := xsnens.Load(data)
		if err != nil {
			var load *xsnens.LoadError
			var generic *xsnens.NotTypedError
			if !errors.As(err, &load) && !errors.As(err, &generic) || err.Error() == "" {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		v, err := strictjson.Parse(i.Parameters(), strictjson.Options{MaxDepth: 1000, MaxTokens: 1 << 20})
		if err != nil || v.Get("x-snens") != nil {
			t.Fatalf("%s: %v", i.Parameters(), err)
		}
		i.Fields()
		i.CheckExamples()
		checkBuild(t, i, []byte(`{}`))
	})
}

// FuzzBuild: never a panic; an error is an *ArgsError with lines; no argument
// or variable holds a NUL or is too long; the same input gives the same result.
func FuzzBuild(f *testing.F) {
	for _, in := range []string{`{}`, `{"path":"x","n":1e6,"l":["a"]}`, `{"n":"5","b":"true","o":{"z":1.0}}`, `{"path":null}`, `{"any":[1,{"a":"\ud83d\ude00"}]}`} {
		f.Add(in)
	}
	i := load(f, typed(`"properties":{
		"path":{"type":"string","minLength":1,"pattern":"[a-z]"},"n":{"type":"integer","minimum":0,"default":1},
		"b":{"type":"boolean"},"l":{"type":"array","items":{"type":["string","number"]},"uniqueItems":true},
		"o":{"type":"object","additionalProperties":{"type":"number"}},"any":{},"m":{"enum":["x",1,null]},
		"alt":{"anyOf":[{"type":"integer","multipleOf":2},{"type":"string","maxLength":3},{"type":"array","contains":{"const":1}}]},
		"k":{"secret":true}},
		"additionalProperties":true,"dependentRequired":{"b":["path"]},
		"x-snens":{"argv":[
			{"field":"path"},{"flag":"--n","field":"n"},{"flag":"-b","when_field":"b"},{"flag":"-l","field":"l","each":true},
			{"field":"l","separator":":"},{"flag":"-c","count":"n","max":5,"when":{"field":"m","is":1}},
			{"end_of_options":"--"},{"field":"any","as":"json"},{"field":"m","map":{"x":"y","1":[]}},{"field":"alt"},
			{"flag":"-k","field":"k","as":"file"}],
			"stdin":{"mode":"json","fields":["o","any","alt","b"]},"env":{"path":"P"}}`))
	f.Fuzz(func(t *testing.T, in string) {
		checkBuild(t, i, []byte(in))
		if inv, err := xsnens.Generic([]byte(in), false); err == nil {
			checkInvocation(t, inv)
		}
	})
}

func checkBuild(t *testing.T, i *xsnens.Interface, in []byte) {
	inv, err := i.Build(in)
	again, err2 := i.Build(in)
	if err != nil {
		var e *xsnens.ArgsError
		if !errors.As(err, &e) || len(e.Fields) == 0 {
			t.Fatalf("%T %v", err, err)
		}
		for _, line := range e.Fields {
			if line.Rule == "" || strings.ContainsAny(line.String(), "\n\r\x00") {
				t.Fatalf("not one readable line: %q", line)
			}
		}
		if err2 == nil || err.Error() != err2.Error() {
			t.Fatalf("first %v, then %v", err, err2)
		}
		return
	}
	a, _ := json.Marshal(inv)
	b, _ := json.Marshal(again)
	if string(a) != string(b) {
		t.Fatalf("first %s, then %s", a, b)
	}
	checkInvocation(t, inv)
}

func checkInvocation(t *testing.T, inv *xsnens.Invocation) {
	for _, a := range inv.Args {
		if strings.ContainsRune(a.Text, 0) || len(a.Text) > xsnens.MaxArg {
			t.Fatalf("no argument: %q", a.Text)
		}
	}
	for _, v := range inv.Env {
		if strings.ContainsRune(v.Value, 0) || v.Name == "" {
			t.Fatalf("no variable: %q", v)
		}
	}
}

// FuzzFromWords: never a panic; what comes out is a strict JSON object, and
// a plain word arrives as it was.
func FuzzFromWords(f *testing.F) {
	for _, w := range []string{"a=x", "n=3", "l=x\x1fl=y", "o:={\"a\":1}", "a@=f", "=", ":=", "a:=", "é=1"} {
		f.Add(w)
	}
	fields := []xsnens.Field{
		{Name: "a", Types: []string{"string"}},
		{Name: "n", Types: []string{"integer"}},
		{Name: "l", Types: []string{"array"}, ItemTypes: []string{"string"}},
		{Name: "o"},
	}
	f.Fuzz(func(t *testing.T, joined string) {
		words := strings.Split(joined, "\x1f")
		out, err := xsnens.FromWords(fields, words, func(p string) ([]byte, error) { return []byte(p), nil })
		if err != nil {
			var e *xsnens.ArgsError
			if !errors.As(err, &e) {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		v, err := strictjson.Parse(out, strictjson.Options{})
		if err != nil || v.Kind != strictjson.Object {
			t.Fatalf("%s: %v", out, err)
		}
		for _, w := range words {
			if text, ok := strings.CutPrefix(w, "a="); ok && v.Get("a").Text != text {
				t.Fatalf("%q became %s", w, out)
			}
		}
	})
}
