package action

import (
	"strings"

	"snens/internal/fields"
)

func readVar(f fields.Field) (v Var) {
	var ok bool
	if v.Name, v.Value, ok = strings.Cut(f.Text(), "="); !ok {
		f.Failf("must be NAME=VALUE")
	}
	return v
}

func readLimits(o *fields.Reader) (l Limits) {
	for _, name := range limitNames {
		f, ok := o.Optional(name)
		if !ok {
			continue
		}
		if err := l.parse(name, f.String()); err != nil {
			f.Failf("%v", err)
		}
	}
	// "007" would be read as 7.
	for _, v := range l.set() {
		if f, ok := o.Optional(v.name); ok && f.String() != v.text {
			f.Failf("must be written %q", v.text)
		}
	}
	return l
}

func readModes(f fields.Field) (m Modes) {
	for _, item := range f.Items(len(modeNames)) {
		name := item.String()
		if on := m.at(name); on != nil && *on {
			item.Failf("%q is there twice", name)
		}
		if err := m.parse(name); err != nil {
			item.Failf("%v", err)
		}
	}
	return m
}

func readStdin(o *fields.Reader) (in Stdin) {
	in.Mode = fields.Word(o.Field("mode"), ParseStdinMode)
	if in.Mode != StdinSealed {
		return in
	}
	in.Content = o.Field("content").Text()
	if want := fields.Word(o.Field("sha256"), ParseDigest); want != DigestOf(in.Content) {
		o.Failf("sha256 is not that of the content")
	}
	return in
}
