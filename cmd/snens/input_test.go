package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestInput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("content\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in := &input{ctx: t.Context(), stdin: strings.NewReader("from stdin"), limit: 100}
	for _, c := range []struct{ name, want, err string }{
		{path, "content\n", ""},
		{"-", "from stdin", ""},
		{"-", "", "stdin was read already"},
		{path + ".none", "", "open " + path + ".none: no such file or directory"},
	} {
		got, err := in.read(c.name)
		if string(got) != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: got %q, %v; want %q, %q", c.name, got, err, c.want, c.err)
		}
	}
}

func TestInputIsBounded(t *testing.T) {
	in := &input{ctx: t.Context(), stdin: strings.NewReader("12345"), limit: 5}
	if got, err := in.read("-"); err != nil || string(got) != "12345" {
		t.Errorf("at the limit: got %q, %v", got, err)
	}
	in = &input{ctx: t.Context(), stdin: strings.NewReader("123456"), limit: 5}
	if _, err := in.read("-"); err == nil || err.Error() != "- is longer than 5 bytes" {
		t.Errorf("above the limit: got %v", err)
	}
}

func TestArgsObject(t *testing.T) {
	path := filepath.Join(t.TempDir(), "args.json")
	if err := os.WriteFile(path, []byte(`{"a":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	in := &input{ctx: t.Context(), stdin: strings.NewReader(`{"b":2}`), limit: 100}
	for value, want := range map[string]string{`{"c":3}`: `{"c":3}`, "@" + path: `{"a":1}`, "-": `{"b":2}`} {
		if got, err := argsObject(value, in); err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v", value, got, err)
		}
	}
	if _, err := argsObject("@"+path+".none", in); err == nil || !strings.HasPrefix(err.Error(), "cannot read what --args names: ") {
		t.Errorf("got %v", err)
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{"5s": 5 * time.Second, "2": 2 * time.Second, "0.5": 500 * time.Millisecond, "1m30s": 90 * time.Second} {
		var d duration
		if err := d.Set(text); err != nil || time.Duration(d) != want {
			t.Errorf("%s: got %v, %v; want %v", text, time.Duration(d), err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "-5s", "soon", "5 s", "NaN", "1e300"} {
		var d duration
		if err := d.Set(text); err == nil {
			t.Errorf("%q was taken as %v", text, time.Duration(d))
		}
	}
}
