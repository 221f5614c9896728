package tomlread_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"snens/internal/tomlread"
)

// A taker leaves alone what it cannot fill, and says where and why.
func TestTakers(t *testing.T) {
	const text = "ok = true\nname = 'x'\nlist = ['a', 2, 'c']\nn = 7\nd = '90s'\nsize = '2KiB'\nword = 'b'\n"
	r, values, err := tomlread.Open("f", text)
	if err != nil {
		t.Fatal(err)
	}
	at := func(key string) []string { return []string{key} }
	var (
		ok   bool
		name string
		list []string
		n    int
		d    time.Duration
		size int64
		word string
	)
	r.Bool(at("ok"), values["ok"], &ok)
	r.String(at("name"), values["name"], &name)
	r.Integer(at("n"), values["n"], 0, 9, &n)
	r.Duration(at("d"), values["d"], time.Second, &d)
	r.Size(at("size"), values["size"], 0, 1<<20, &size)
	r.Word(at("word"), values["word"], []string{"a", "b"}, &word)
	if !ok || name != "x" || n != 7 || d != 90*time.Second || size != 2048 || word != "b" || r.Count() != 0 {
		t.Errorf("took %v %q %d %v %d %q, %d faults", ok, name, n, d, size, word, r.Count())
	}
	r.Strings(at("list"), values["list"], &list, func(_ []string, s string) (string, bool) { return s + s, s != "c" })
	if !slices.Equal(list, []string{"aa"}) || r.Count() != 1 {
		t.Errorf("took %q, %d faults", list, r.Count())
	}
	r.Word(at("word"), values["word"], []string{"a"}, &word)
	r.Integer(at("n"), values["n"], 0, 6, &n)
	r.Bool(at("name"), values["name"], &ok)
	r.Unknown(at("nam"), []string{"name", "list"})
	if !ok || n != 7 || word != "b" {
		t.Errorf("a taker that failed took %v %d %q", ok, n, word)
	}
	want := []string{
		"f:1:1: unknown key nam (did you mean name?); known here: name, list", // nowhere: the beginning
		"f:2:8: name: must be true or false, not a string",
		"f:3:14: list[1]: must be a string, not an integer",
		"f:4:5: n: must be from 0 to 6",
		`f:7:8: word: "b" is not known; write one of a`,
	}
	if got := tomlread.Join(r.Faults(), 9).Error(); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s", got)
	}
	if got := tomlread.Join(r.Faults(), 2).Error(); got != strings.Join(want[:2], "\n")+"\nand 3 more" {
		t.Errorf("got\n%s", got)
	}
	if err := tomlread.Join(nil, 2); err != nil {
		t.Errorf("no faults: %v", err)
	}
}

func TestOpen(t *testing.T) {
	var f *tomlread.Fault
	if _, _, err := tomlread.Open("f", "a = 1\nb = !"); !errors.As(err, &f) || f.Line != 2 || f.Column != 5 || f.File != "f" {
		t.Errorf("got %v", err)
	}
	r, _, err := tomlread.Open("f", "\ufeffé.a = [1,\n 2]")
	if err == nil {
		t.Errorf("a bare key of other letters is taken: %v", r)
	}
	r, _, err = tomlread.Open("f", "\ufeffb.a = [1,\n 2]")
	if err != nil || r.Origin(tomlread.Item([]string{"b", "a"}, 1)) != "f:2:2" || r.Origin([]string{"b", "a", "more"}) != "f:1:3" {
		t.Errorf("got %v", err)
	}
	whole := &tomlread.Fault{File: "f", Text: "is a FIFO"}
	if whole.Error() != "f: is a FIFO" {
		t.Errorf("got %v", whole)
	}
}
