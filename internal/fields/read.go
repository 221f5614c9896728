package fields

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"snens/internal/strictjson"
)

// failure is shared by everything that is read from one value: the first
// error counts.
type failure struct{ err error }

func (f *failure) set(path, format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf("%s: %s", path, fmt.Sprintf(format, args...))
	}
}

// Reader reads one object.
type Reader struct {
	members []strictjson.Member
	path    string
	asked   []string
	inner   []*Reader // the readers of objects inside, for their unknown fields
	fail    *failure
}

// Of reads the object v; path names it in errors ("request").
func Of(v *strictjson.Value, path string) *Reader {
	return Field{v, path, &failure{}, nil}.Object()
}

// Parse reads bytes that hold exactly one object. The error of a text that is
// no JSON comes out of Close like every other.
func Parse(data []byte, path string, opt strictjson.Options) *Reader {
	v, err := strictjson.Parse(data, opt)
	if err != nil {
		return &Reader{path: path, fail: &failure{fmt.Errorf("%s: %w", path, err)}}
	}
	return Of(&v, path)
}

// Close gives the first thing that was wrong. A field that nobody asked for is
// wrong too, in objects inside as well.
func (r *Reader) Close() error {
	r.unknown()
	return r.fail.err
}

func (r *Reader) unknown() {
	for _, m := range r.members {
		if !slices.Contains(r.asked, m.Name) {
			r.fail.set(r.path, "the field %q is not known here; known are: %s", m.Name, strings.Join(r.asked, ", "))
		}
	}
	for _, in := range r.inner {
		in.unknown()
	}
}

// Failf notes that what was read is wrong for a reason of the caller's.
func (r *Reader) Failf(format string, args ...any) { r.fail.set(r.path, format, args...) }

// Field is the value of a field that must be there.
func (r *Reader) Field(name string) Field {
	f, ok := r.Optional(name)
	if !ok {
		r.fail.set(r.path, "the field %q is missing", name)
	}
	return f
}

// Optional is the value of a field that may be missing.
func (r *Reader) Optional(name string) (Field, bool) {
	if !slices.Contains(r.asked, name) {
		r.asked = append(r.asked, name)
	}
	for i := range r.members {
		if r.members[i].Name == name {
			return Field{&r.members[i].Value, strictjson.Field(r.path, name), r.fail, r}, true
		}
	}
	return Field{nil, strictjson.Field(r.path, name), r.fail, r}, false
}

// Field is one value on its way to a Go value.
type Field struct {
	v    *strictjson.Value
	path string
	fail *failure
	in   *Reader // the object it was read from; nil at the top
}

// Failf notes that the field is wrong for a reason of the caller's.
func (f Field) Failf(format string, args ...any) { f.fail.set(f.path, format, args...) }

// Value is the value itself, nil when the field is missing.
func (f Field) Value() *strictjson.Value { return f.v }

func (f Field) is(kind strictjson.Kind, what string) bool {
	if f.v == nil {
		return false // reported by Reader.Field
	}
	if f.v.Kind != kind {
		f.Failf("must be %s, not %s", what, article(f.v.Kind))
		return false
	}
	return true
}

func article(k strictjson.Kind) string {
	switch k {
	case strictjson.Array, strictjson.Object:
		return "an " + k.String()
	case strictjson.Null:
		return "null"
	}
	return "a " + k.String()
}

// Object reads the field as an object.
func (f Field) Object() *Reader {
	r := &Reader{path: f.path, fail: f.fail}
	if f.is(strictjson.Object, "an object") {
		r.members = f.v.Members
	}
	if f.in != nil {
		f.in.inner = append(f.in.inner, r)
	}
	return r
}

// Items are the items of an array of at most limit.
func (f Field) Items(limit int) []Field {
	if !f.is(strictjson.Array, "an array") {
		return nil
	}
	if len(f.v.Items) > limit {
		f.Failf("has %d items; at most %d are allowed", len(f.v.Items), limit)
		return nil
	}
	items := make([]Field, len(f.v.Items))
	for i := range items {
		items[i] = Field{&f.v.Items[i], strictjson.Index(f.path, i), f.fail, f.in}
	}
	return items
}

// String is a text in UTF-8.
func (f Field) String() string {
	if !f.is(strictjson.String, "a string") {
		return ""
	}
	return f.v.Text
}

// Text is a text of any bytes: a string, or {"base64": "..."} where it is not UTF-8.
func (f Field) Text() string {
	if f.v == nil || f.v.Kind != strictjson.Object {
		return f.String()
	}
	o := f.Object()
	coded := o.Field("base64").String()
	raw, err := base64.StdEncoding.Strict().DecodeString(coded)
	switch {
	case err != nil || base64.StdEncoding.EncodeToString(raw) != coded:
		f.Failf("the base64 text is malformed; use the standard alphabet with padding and without line breaks")
	case utf8.Valid(raw):
		f.Failf("base64 is for bytes that are not UTF-8; this text must be a plain string")
	}
	return string(raw)
}

// Texts are the items of an array of at most limit texts; nil when there are none.
func (f Field) Texts(limit int) []string {
	var out []string
	for _, item := range f.Items(limit) {
		out = append(out, item.Text())
	}
	return out
}

// Word reads a string by a parser that knows which words are allowed.
func Word[T any](f Field, parse func(string) (T, error)) T {
	var zero T
	if !f.is(strictjson.String, "a string") {
		return zero
	}
	v, err := parse(f.v.Text)
	if err != nil {
		f.Failf("%v", err)
		return zero
	}
	return v
}

// Words reads an array of at most limit strings by a parser; nil when empty.
func Words[T any](f Field, limit int, parse func(string) (T, error)) []T {
	var out []T
	for _, item := range f.Items(limit) {
		out = append(out, Word(item, parse))
	}
	return out
}

// Uint is a whole number from 0 to limit, written as plain digits.
func (f Field) Uint(limit uint64) uint64 {
	if !f.is(strictjson.Number, "a number") {
		return 0
	}
	n, err := strconv.ParseUint(f.v.Text, 10, 64)
	if err != nil || n > limit {
		f.Failf("%s must be a whole number from 0 to %d, in digits", f.v.Text, limit)
		return 0
	}
	return n
}

// Int is a whole number in plain digits.
func (f Field) Int() int64 {
	if !f.is(strictjson.Number, "a number") {
		return 0
	}
	n, err := strconv.ParseInt(f.v.Text, 10, 64)
	if err != nil || f.v.Text == "-0" {
		f.Failf("%s must be a whole number of at most 64 bits, in digits", f.v.Text)
		return 0
	}
	return n
}

// Bool is true or false.
func (f Field) Bool() bool {
	return f.is(strictjson.Bool, "true or false") && f.v.Bool
}
