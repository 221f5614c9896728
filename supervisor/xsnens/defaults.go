package xsnens

import (
	"strings"

	"snens/internal/strictjson"
)

// maxRoom is the most room that arguments can have: see Room.
const maxRoom = 6 << 20

// defaults reports every default that can never become what the file says: each
// call that leaves the field out would be refused, with words that the caller
// can do nothing about.
func (l *loader) defaults() {
	for _, p := range l.out.props {
		if p.def == nil {
			continue
		}
		e := &emitter{values: map[string]*strictjson.Value{p.name: p.def}}
		l.out.always(l.out.argv, p, e)
		inv := &Invocation{Args: e.args}
		l.out.feedOne(inv, p, e)
		failed := e.p.list
		if err := inv.fit(maxRoom); err != nil && len(failed) == 0 {
			failed = err.(*ArgsError).Fields
		}
		at := strictjson.Field(strictjson.Field("properties", p.name), "default")
		for _, f := range failed {
			l.f.add(at+strings.TrimPrefix(f.Field, p.at()), "%s: every call without the field would be refused; change or remove it", f.Rule)
		}
	}
}

// always emits what p becomes in every call that leaves it out. What depends on
// other fields is passed over, and an end_of_options counts wherever it may be.
func (i *Interface) always(items []item, p *property, e *emitter) {
	for _, it := range items {
		if end, ok := it.act.(endOfOptions); ok {
			end.emit(e)
			continue
		}
		if !it.when.certain(p, e) {
			continue
		}
		switch a := it.act.(type) {
		case group:
			i.always(a.items, p, e)
		case valueItem:
			if a.field == p {
				a.emit(e)
			}
		case counted:
			if a.field == p {
				a.emit(e)
			}
		}
	}
}

// certain says that the condition holds in every call that leaves p out.
func (c *condition) certain(p *property, e *emitter) bool {
	switch {
	case c == nil:
		return true
	case c.field == p:
		return c.holds(e.values)
	}
	return c.test == "present" && c.field.def != nil
}

// feedOne makes the standard input and the variables of p alone.
func (i *Interface) feedOne(inv *Invocation, p *property, e *emitter) {
	if i.stdin.mode == stdinField && i.stdin.fields[0] == p {
		i.feed(inv, nil, e)
	}
	i.variables(inv, e)
}
