package xsnens

import (
	"slices"
	"strings"

	"snens/internal/strictjson"
)

// reader reads the members of one object of x-snens and reports those it was
// not asked for.
type reader struct {
	l    *loader
	v    *strictjson.Value
	path string
}

// object makes a reader; nil with a fault when v is no object.
func (l *loader) object(v *strictjson.Value, path string) *reader {
	if v.Kind != strictjson.Object {
		l.f.add(path, "must be an object, not %s", describe(v, false))
		return nil
	}
	return &reader{l, v, path}
}

func (r *reader) has(key string) bool  { return r.v.Get(key) != nil }
func (r *reader) at(key string) string { return strictjson.Field(r.path, key) }
func (r *reader) fault(key, format string, args ...any) {
	r.l.f.add(r.at(key), format, args...)
}

// only reports every key that is not one of these.
func (r *reader) only(keys ...string) {
	for _, m := range r.v.Members {
		if !slices.Contains(keys, m.Name) {
			r.fault(m.Name, "is not known here; %saccepted: %s", didYouMean(m.Name, keys), list(keys))
		}
	}
}

// text reads a string without NUL. ok is false when it is absent or wrong.
func (r *reader) text(key string) (string, bool) {
	v := r.v.Get(key)
	if v == nil {
		return "", false
	}
	return r.l.argument(v, r.at(key))
}

// argument reads a string that can be an argument.
func (l *loader) argument(v *strictjson.Value, at string) (string, bool) {
	switch {
	case v.Kind != strictjson.String:
		l.f.add(at, "must be a string, not %s", describe(v, false))
	case strings.ContainsRune(v.Text, 0):
		l.f.add(at, "holds a NUL character, which no argument can hold")
	case len(v.Text) > MaxArg:
		l.f.add(at, "is %d bytes long; an argument has at most %d", len(v.Text), MaxArg)
	default:
		return v.Text, true
	}
	return "", false
}

// word reads a string that must be one of words.
func (r *reader) word(key string, words ...string) (string, bool) {
	v := r.v.Get(key)
	if v == nil {
		return "", false
	}
	if v.Kind != strictjson.String || !slices.Contains(words, v.Text) {
		r.fault(key, "must be one of %s, not %s", list(words), describe(v, false))
		return "", false
	}
	return v.Text, true
}

// yes reads a key that, where it stands, must be true.
func (r *reader) yes(key string) bool {
	v := r.v.Get(key)
	if v == nil {
		return false
	}
	if v.Kind != strictjson.Bool || !v.Bool {
		r.fault(key, "must be true, or be left out, not %s", describe(v, false))
		return false
	}
	return true
}

// field reads the name of a property; nil with a fault when there is none.
func (r *reader) field(key string) *property {
	return r.l.field(r.v.Get(key), r.at(key))
}

func (l *loader) field(v *strictjson.Value, at string) *property {
	if v == nil || v.Kind != strictjson.String {
		l.f.add(at, "must be the name of a property")
		return nil
	}
	p := l.out.property(v.Text)
	if p == nil {
		names := l.out.fieldNames()
		l.f.add(at, "%s is not in properties; %saccepted: %s", quote(v.Text), didYouMean(v.Text, names), list(names))
		return nil
	}
	p.used = true
	return p
}
