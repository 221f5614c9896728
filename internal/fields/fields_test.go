package fields_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"snens/internal/fields"
	"snens/internal/strictjson"
)

type shape struct {
	name  string
	raw   string
	list  []string
	count uint64
	delta int64
	on    bool
	inner string
	word  int
}

func read(data string) (shape, error) {
	var s shape
	r := fields.Parse([]byte(data), "thing", strictjson.Options{})
	s.name = r.Field("name").String()
	s.raw = r.Field("raw").Text()
	s.list = r.Field("list").Texts(2)
	s.count = r.Field("count").Uint(9)
	s.delta = r.Field("delta").Int()
	s.on = r.Field("on").Bool()
	in := r.Field("in").Object()
	s.inner = in.Field("x").String()
	if f, ok := r.Optional("word"); ok {
		s.word = fields.Word(f, func(w string) (int, error) {
			if w == "one" {
				return 1, nil
			}
			return 0, errors.New("no such word; allowed: one")
		})
	}
	return s, r.Close()
}

const good = `{"name":"n","raw":{"base64":"gA=="},"list":["a","b"],"count":9,"delta":-3,"on":true,"in":{"x":"y"},"word":"one"}`

func TestReads(t *testing.T) {
	got, err := read(good)
	if err != nil {
		t.Fatal(err)
	}
	if got.name != "n" || got.raw != "\x80" || !slices.Equal(got.list, []string{"a", "b"}) || got.count != 9 ||
		got.delta != -3 || !got.on || got.inner != "y" || got.word != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{`"name":"n"`, `"name":null`, "thing.name: must be a string, not null"},
		{`"name":"n",`, ``, `thing: the field "name" is missing`},
		{`"name":"n"`, `"Name":"n"`, `thing: the field "name" is missing`},
		{`"name":"n"`, `"name":"n","name":"m"`, "name"},
		{`"name":"n"`, `"name":"n","more":1`, `the field "more" is not known here; known are: name, raw`},
		{`{"x":"y"}`, `{"x":"y","z":1}`, `thing.in: the field "z" is not known here; known are: x`},
		{`{"x":"y"}`, `[]`, "thing.in: must be an object, not an array"},
		{`"gA=="`, `"gA="`, "base64 text is malformed"},
		{`"gA=="`, `"gB=="`, "base64 text is malformed"},
		{`"gA=="`, `"gA=\n="`, "base64 text is malformed"},
		{`"gA=="`, `"YQ=="`, "must be a plain string"},
		{`{"base64":"gA=="}`, `{"base64":"gA==","x":1}`, `"x" is not known`},
		{`["a","b"]`, `["a","b","c"]`, "thing.list: has 3 items; at most 2"},
		{`["a","b"]`, `["a",1]`, "thing.list[1]: must be a string, not a number"},
		{`:9`, `:10`, "10 must be a whole number from 0 to 9"},
		{`:9`, `:1e0`, "in digits"},
		{`:9`, `:1.0`, "in digits"},
		{`:9`, `:-0`, "in digits"},
		{`:-3`, `:-0`, "in digits"},
		{`:-3`, `:9223372036854775808`, "at most 64 bits"},
		{`true`, `1`, "must be true or false, not a number"},
		{`"one"`, `"two"`, "thing.word: no such word; allowed: one"},
		{good, `[`, "thing: "},
		{good, `3`, "thing: must be an object, not a number"},
	} {
		text := strings.Replace(good, c.from, c.to, 1)
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", text, err, c.want)
		}
	}
}

func TestTheFirstErrorIsKept(t *testing.T) {
	_, err := read(strings.NewReplacer(`"n"`, `1`, `true`, `"x"`).Replace(good))
	if err == nil || !strings.Contains(err.Error(), "thing.name") {
		t.Errorf("got %v", err)
	}
}

func TestBuilds(t *testing.T) {
	v := fields.Object(
		fields.Member("name", fields.Text("n")),
		fields.Member("raw", fields.Text("\x80")),
		fields.Member("list", fields.List([]string{"a", "b"}, fields.Text)),
		fields.Member("count", fields.Uint(uint8(9))),
		fields.Member("delta", fields.Int(-3)),
		fields.Member("on", fields.Bool(true)),
		fields.Member("in", fields.Object(fields.Member("x", fields.Text("y")))),
		fields.Member("word", fields.Text("one")),
	)
	if got := string(v.JSON()); got != good {
		t.Errorf("got  %s\nwant %s", got, good)
	}
	big := fields.Uint(uint64(math.MaxUint64))
	if big.Text != "18446744073709551615" {
		t.Errorf("got %s", big.Text)
	}
	empty := fields.List[string](nil, fields.Text)
	if got := string(empty.JSON()); got != "[]" {
		t.Errorf("an empty list is %s", got)
	}
}
