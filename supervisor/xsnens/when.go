package xsnens

import (
	"slices"

	"snens/internal/strictjson"
)

// condition is a "when": one test of one field.
type condition struct {
	field *property
	test  string   // "is" (in is the same with more values), "present", "absent"
	keys  []string // of the values for "is"
}

// holds tests the values of a call. A field that is absent, or null, is equal
// to nothing.
func (c *condition) holds(values map[string]*strictjson.Value) bool {
	v := values[c.field.name]
	absent := v == nil || v.Kind == strictjson.Null
	switch {
	case c.test == "absent":
		return absent
	case absent:
		return false
	case c.test == "present":
		return true
	}
	return slices.Contains(c.keys, v.Key(maxDigits))
}

// condition reads {"field": "f", "is": V} and its kin.
func (l *loader) condition(v *strictjson.Value, path string) *condition {
	r := l.object(v, path)
	if r == nil {
		return nil
	}
	r.only("field", "is", "in", "present", "absent")
	p := r.field("field")
	var tests []string
	for _, t := range []string{"is", "in", "present", "absent"} {
		if r.has(t) {
			tests = append(tests, t)
		}
	}
	if len(tests) != 1 {
		l.f.add(path, "must have exactly one of \"is\", \"in\", \"present\", \"absent\"")
		return nil
	}
	if p == nil {
		return nil
	}
	c := &condition{field: p, test: tests[0]}
	switch c.test {
	case "present", "absent":
		r.yes(c.test)
		return c
	case "is":
		c.keys = []string{r.comparable(p, r.v.Get("is"), r.at("is"))}
	case "in":
		in := r.v.Get("in")
		if in.Kind != strictjson.Array || len(in.Items) == 0 {
			r.fault("in", "must be a list of at least one value")
		}
		for i := range in.Items {
			c.keys = append(c.keys, r.comparable(p, &in.Items[i], strictjson.Index(r.at("in"), i)))
		}
	}
	c.test = "is"
	r.noSecret("field", p)
	return c
}

// comparable is the key of a value the field must be able to have.
func (r *reader) comparable(p *property, v *strictjson.Value, at string) string {
	switch {
	case v.Kind == strictjson.Null:
		r.l.f.add(at, "null means that the field is absent; write \"absent\": true")
	case !p.schema.fits(v):
		r.l.f.add(at, "%s can never be %s", quote(p.name), describe(v, false))
	}
	return v.Key(maxDigits)
}
