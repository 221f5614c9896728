package xsnens

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"snens/internal/strictjson"
)

// Bounds of the JSON of a call.
const (
	maxArgsBytes  = 32 << 20
	maxArgsDepth  = 64
	maxArgsTokens = 100_000
)

// Build turns the JSON arguments of a call into an Invocation. A failure is an
// *ArgsError. It is BuildWithin with DefaultRoom.
func (i *Interface) Build(args []byte) (*Invocation, error) { return i.BuildWithin(args, DefaultRoom) }

// BuildWithin is Build where arguments and variables may take room bytes, as
// computed by Room.
func (i *Interface) BuildWithin(args []byte, room int) (*Invocation, error) {
	in, err := strictjson.Parse(args, strictjson.Options{MaxBytes: maxArgsBytes, MaxDepth: maxArgsDepth, MaxTokens: maxArgsTokens})
	if err != nil {
		return nil, syntaxError(err, i.HasSecrets())
	}
	if in.Kind != strictjson.Object {
		return nil, &ArgsError{[]FieldError{{"", "must be an object, not " + describe(&in, i.HasSecrets()), "send {...} with the tool's fields"}}}
	}
	e := &emitter{values: make(map[string]*strictjson.Value)}
	extra := i.values(&in, e)
	if err := e.p.err(); err != nil {
		return nil, err
	}
	i.check(extra, e)
	if err := e.p.err(); err != nil {
		return nil, err
	}
	e.items(i.argv)
	inv := &Invocation{Args: e.args, Secrets: i.secrets(e)}
	i.feed(inv, extra, e)
	i.variables(inv, e)
	if err := e.p.err(); err != nil {
		return nil, err
	}
	if err := inv.fit(room); err != nil {
		return nil, err
	}
	return inv, nil
}

// values takes the fields out of the object: unknown ones are refused or
// returned, null means absent, defaults are filled in, strings are coerced.
func (i *Interface) values(in *strictjson.Value, e *emitter) []strictjson.Member {
	var extra []strictjson.Member
	names := i.fieldNames()
	for n := range in.Members {
		if e.p.full() {
			break
		}
		m := &in.Members[n]
		p := i.property(m.Name)
		at := strictjson.Field("", m.Name)
		if p == nil && !i.open {
			e.p.add(at, "is not a field of this tool", didYouMean(m.Name, names)+accepted(names))
			continue
		}
		plainNumbers(&e.p, &m.Value, at)
		if p == nil {
			coerce(i.root.additional, &m.Value)
			extra = append(extra, *m)
			continue
		}
		if m.Value.Kind == strictjson.Null && !p.required {
			continue
		}
		coerce(p.schema, &m.Value)
		e.values[m.Name] = &m.Value
	}
	for _, p := range i.props {
		if e.values[p.name] == nil && p.def != nil {
			e.values[p.name] = p.def
		}
	}
	return extra
}

func accepted(names []string) string {
	if len(names) == 0 {
		return "it takes no fields"
	}
	return "accepted: " + list(names)
}

// check validates every field by itself and then what concerns several.
func (i *Interface) check(extra []strictjson.Member, e *emitter) {
	whole := strictjson.Value{Kind: strictjson.Object}
	for _, p := range i.props {
		v := e.values[p.name]
		at := p.at()
		if v == nil {
			if p.required {
				e.p.add(at, "is required", "add it"+kindNote(p.schema))
			}
			continue
		}
		(&checker{&e.p, p.schema.secret}).check(p.schema, v, at)
		whole.Members = append(whole.Members, strictjson.Member{Name: p.name, Value: *v})
	}
	whole.Members = append(whole.Members, extra...)
	if len(e.p.list) > 0 {
		return // what concerns several fields would repeat it
	}
	root := *i.root
	root.properties, root.required, root.types = nil, nil, nil
	root.additional = nil
	c := &checker{&e.p, i.HasSecrets()}
	c.check(&root, &whole, "")
	for n := range extra {
		c.check(i.root.additional, &extra[n].Value, strictjson.Field("", extra[n].Name))
	}
}

// feed makes the standard input.
func (i *Interface) feed(inv *Invocation, extra []strictjson.Member, e *emitter) {
	switch i.stdin.mode {
	case stdinField:
		p := i.stdin.fields[0]
		v := e.value(p)
		if v == nil {
			return
		}
		text, ok := plainText(v)
		if !ok {
			e.p.add(p.at(), describe(v, p.schema.secret)+" cannot become standard input", "send a string or a number")
			return
		}
		inv.Stdin, inv.HasStdin = []byte(text), true
	case stdinJSON:
		out := strictjson.Value{Kind: strictjson.Object}
		for _, p := range i.stdin.fields {
			if v := e.values[p.name]; v != nil {
				out.Members = append(out.Members, strictjson.Member{Name: p.name, Value: *v})
			}
		}
		out.Members = append(out.Members, extra...)
		inv.Stdin, inv.HasStdin = out.JSON(), true
	}
}

// variables makes the environment.
func (i *Interface) variables(inv *Invocation, e *emitter) {
	for _, plan := range i.env {
		v := e.value(plan.field)
		if v == nil {
			continue
		}
		hide := plan.field.schema.secret
		text, ok := plainText(v)
		switch {
		case !ok:
			e.p.add(plan.field.at(), describe(v, hide)+" cannot become a variable", "send a string or a number")
		case strings.ContainsRune(text, 0):
			e.p.add(plan.field.at(), "holds a NUL character, which no variable can hold", "send it without NUL")
		case len(plan.variable)+1+len(text) > MaxArg:
			e.p.add(plan.field.at(), fmt.Sprintf("is %d bytes long; with its name a variable has at most %d", len(text), MaxArg), "shorten it")
		default:
			inv.Env = append(inv.Env, EnvVar{plan.variable, text, plan.field.at()})
		}
	}
}

// secrets are the strings to be redacted, longest first so that none hides
// part of another.
func (i *Interface) secrets(e *emitter) [][]byte {
	var out []string
	var walk func(*strictjson.Value)
	walk = func(v *strictjson.Value) {
		if text, ok := plainText(v); ok && text != "" {
			out = append(out, text)
		}
		for n := range v.Items {
			walk(&v.Items[n])
		}
		for n := range v.Members {
			walk(&v.Members[n].Value)
		}
	}
	for _, p := range i.props {
		if v := e.value(p); v != nil && p.schema.secret {
			walk(v)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	var bytes [][]byte
	for _, s := range slices.Compact(out) {
		bytes = append(bytes, []byte(s))
	}
	return bytes
}

func ratOf(n int) *big.Rat { return new(big.Rat).SetInt64(int64(n)) }
