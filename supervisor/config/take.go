package config

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

func (d *decoder) string(path []string, v any, into *string) bool {
	s, ok := v.(string)
	if !ok {
		d.wrongType(path, "a string", v)
		return false
	}
	*into = s
	return true
}

// strings takes a list of strings; each is given to item, which may change it
// or drop it by returning false.
func (d *decoder) strings(path []string, v any, into *[]string, item func(path []string, s string) (string, bool)) {
	list, ok := v.([]any)
	if !ok {
		d.wrongType(path, "a list of strings", v)
		return
	}
	out := []string{}
	for i, v := range list {
		at := child(path, fmt.Sprintf("[%d]", i))
		var s string
		if !d.string(at, v, &s) {
			continue
		}
		if s, keep := item(at, s); keep {
			out = append(out, s)
		}
	}
	*into = out
}

// duration takes "90s" or a number of seconds, from least to a week.
func (d *decoder) duration(path []string, v any, least time.Duration, into *time.Duration) {
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
			d.fail(path, "%s", err)
			return
		}
	default:
		d.wrongType(path, `a time such as "90s"`, v)
		return
	}
	if t < least || t > maxDuration {
		d.fail(path, "must be from %s to 168h", least)
		return
	}
	*into = t
}

// size takes "64KiB" or a number of bytes, from least to most.
func (d *decoder) size(path []string, v any, least, most int64, into *int64) {
	var n int64
	switch v := v.(type) {
	case int64:
		n = v
	case string:
		var err error
		if n, err = parseSize(v); err != nil {
			d.fail(path, "%s", err)
			return
		}
	default:
		d.wrongType(path, `a size such as "64KiB"`, v)
		return
	}
	if n < least || n > most {
		d.fail(path, "must be from %s to %s", sizeText(least), sizeText(most))
		return
	}
	*into = n
}

func (d *decoder) integer(path []string, v any, least, most int, into *int) {
	n, ok := v.(int64)
	if !ok {
		d.wrongType(path, "an integer", v)
		return
	}
	if n < int64(least) || n > int64(most) {
		d.fail(path, "must be from %d to %d", least, most)
		return
	}
	*into = int(n)
}

// word takes one of a closed set of words.
func (d *decoder) word(path []string, v any, words []string, into *string) bool {
	var s string
	if !d.string(path, v, &s) {
		return false
	}
	if !slices.Contains(words, s) {
		d.fail(path, "%s is not known; write one of %s", quote(s), strings.Join(words, ", "))
		return false
	}
	*into = s
	return true
}
