package tomlread

import (
	"slices"
	"strings"
	"time"
)

// maxDuration bounds every time in a file: a week.
const maxDuration = 168 * time.Hour

// String takes a string.
func (r *Reader) String(path []string, v any, into *string) bool {
	s, ok := v.(string)
	if !ok {
		r.WrongType(path, "a string", v)
		return false
	}
	*into = s
	return true
}

// Bool takes true or false.
func (r *Reader) Bool(path []string, v any, into *bool) bool {
	b, ok := v.(bool)
	if !ok {
		r.WrongType(path, "true or false", v)
		return false
	}
	*into = b
	return true
}

// Strings takes a list of strings; each is given to item, which may change it
// or drop it by returning false. into is never nil afterwards.
func (r *Reader) Strings(path []string, v any, into *[]string, item func(path []string, s string) (string, bool)) {
	list, ok := v.([]any)
	if !ok {
		r.WrongType(path, "a list of strings", v)
		return
	}
	out := []string{}
	for i, v := range list {
		at := Item(path, i)
		var s string
		if !r.String(at, v, &s) {
			continue
		}
		if s, keep := item(at, s); keep {
			out = append(out, s)
		}
	}
	*into = out
}

// Duration takes "90s" or a number of seconds, from least to a week.
func (r *Reader) Duration(path []string, v any, least time.Duration, into *time.Duration) {
	var t time.Duration
	switch v := v.(type) {
	case int64:
		t = maxDuration + 1
		if v <= int64(maxDuration/time.Second) {
			t = time.Duration(v) * time.Second
		}
	case string:
		var err error
		if t, err = parseDuration(v); err != nil {
			r.Fail(path, "%s", err)
			return
		}
	default:
		r.WrongType(path, `a time such as "90s"`, v)
		return
	}
	if t < least || t > maxDuration {
		r.Fail(path, "must be from %s to 168h", least)
		return
	}
	*into = t
}

// Size takes "64KiB" or a number of bytes, from least to most.
func (r *Reader) Size(path []string, v any, least, most int64, into *int64) {
	var n int64
	switch v := v.(type) {
	case int64:
		n = v
	case string:
		var err error
		if n, err = parseSize(v); err != nil {
			r.Fail(path, "%s", err)
			return
		}
	default:
		r.WrongType(path, `a size such as "64KiB"`, v)
		return
	}
	if n < least || n > most {
		r.Fail(path, "must be from %s to %s", SizeText(least), SizeText(most))
		return
	}
	*into = n
}

// Integer takes a whole number from least to most.
func (r *Reader) Integer(path []string, v any, least, most int, into *int) bool {
	n, ok := v.(int64)
	if !ok {
		r.WrongType(path, "an integer", v)
		return false
	}
	if n < int64(least) || n > int64(most) {
		r.Fail(path, "must be from %d to %d", least, most)
		return false
	}
	*into = int(n)
	return true
}

// Word takes one of a closed set of words.
func (r *Reader) Word(path []string, v any, words []string, into *string) bool {
	var s string
	if !r.String(path, v, &s) {
		return false
	}
	if !slices.Contains(words, s) {
		r.Fail(path, "%s is not known; write one of %s", Quote(s), strings.Join(words, ", "))
		return false
	}
	*into = s
	return true
}
