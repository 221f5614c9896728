package xsnens

import (
	"slices"
	"strings"

	"snens/internal/strictjson"
)

// item is one entry of argv: under a condition, an action.
type item struct {
	when *condition // nil = always
	act  action
}

// action emits arguments. The kinds are literal, bareFlag, valueItem, counted,
// endOfOptions and group.
type action interface{ emit(e *emitter) }

type (
	literal  struct{ text string }
	bareFlag struct {
		flag  string
		field *property
	} // field nil: always
	counted struct {
		flag  string
		field *property
		most  int
	}
	endOfOptions struct{ token string }
	group        struct{ items []item }
)

// valueItem is a field's value: a positional, or the value of a flag.
type valueItem struct {
	field      *property
	flag       string // "" = positional
	join       string // between flag and value: "separate", "=" or ""
	repeat     bool   // each or spread: once per item
	separator  string // "" = not joined
	as         string // "", "json" or "file"
	mapping    map[string][]string
	allowEmpty bool
	allowDash  bool
}

// defaultCountMax bounds a repeated flag whose author gave no max.
const defaultCountMax = 100

// items reads a list of argv items.
func (l *loader) items(v *strictjson.Value, path string) []item {
	if v.Kind != strictjson.Array {
		l.f.add(path, "must be a list of items, not %s", describe(v, false))
		return nil
	}
	var out []item
	for i := range v.Items {
		if it, ok := l.item(&v.Items[i], strictjson.Index(path, i)); ok {
			out = append(out, it)
		}
	}
	return out
}

// itemKinds are the keys that say what an item is, in the order they decide.
var itemKinds = [...]string{"literal", "group", "end_of_options", "count", "field", "flag"}

func (l *loader) item(v *strictjson.Value, path string) (item, bool) {
	if v.Kind == strictjson.String {
		text, ok := l.argument(v, path)
		return item{act: literal{text}}, ok
	}
	if v.Kind != strictjson.Object {
		l.f.add(path, "must be a string or an object, not %s", describe(v, false))
		return item{}, false
	}
	r := l.object(v, path)
	var out item
	if r.has("when") {
		out.when = l.condition(r.v.Get("when"), r.at("when"))
	}
	for _, kind := range itemKinds {
		if r.has(kind) {
			out.act = r.action(kind)
			return out, out.act != nil
		}
	}
	meant := ""
	for _, m := range v.Members {
		meant += didYouMean(m.Name, itemKinds[:])
	}
	l.f.add(path, "is no known item; %san item has one of the keys %s", meant, list(itemKinds[:]))
	return item{}, false
}

// action reads the item r by its kind; nil when it is not usable.
func (r *reader) action(kind string) action {
	switch kind {
	case "literal":
		r.only("literal", "when")
		text, ok := r.text("literal")
		return orNil(literal{text}, ok)
	case "group":
		r.only("group", "when")
		return group{r.l.items(r.v.Get("group"), r.at("group"))}
	case "end_of_options":
		r.only("end_of_options", "when")
		token, ok := r.text("end_of_options")
		if ok && token == "" {
			r.fault("end_of_options", "must not be empty; write \"--\"")
		}
		return orNil(endOfOptions{token}, ok)
	case "count":
		return r.counted()
	case "field":
		return r.value()
	}
	return r.bareFlag()
}

// orNil keeps an unusable action from hiding in an interface value.
func orNil(a action, ok bool) action {
	if !ok {
		return nil
	}
	return a
}

// flag reads the flag of an item.
func (r *reader) flag() (string, bool) {
	flag, ok := r.text("flag")
	if ok && flag == "" {
		r.fault("flag", "must not be empty")
		return "", false
	}
	return flag, ok
}

func (r *reader) bareFlag() action {
	r.only("flag", "when_field", "when")
	flag, ok := r.flag()
	if !r.has("when_field") {
		if ok && !r.has("when") {
			r.l.f.add(r.path, "the flag would always be there; add field, when_field, count or when, or write the string %s", quote(flag))
		}
		return orNil(bareFlag{flag: flag}, ok)
	}
	p := r.field("when_field")
	if p == nil {
		return nil
	}
	if types := p.schema.usedTypes(); len(types) != 1 || types[0] != "boolean" {
		r.fault("when_field", "%s must be declared as boolean; use \"when\" for other types", quote(p.name))
	}
	r.noSecret("when_field", p)
	return orNil(bareFlag{flag, p}, ok)
}

func (r *reader) counted() action {
	r.only("flag", "count", "max", "when")
	if !r.has("flag") {
		r.l.f.add(r.path, "count needs the flag to repeat")
	}
	flag, ok := r.flag()
	p := r.field("count")
	most := defaultCountMax
	if v := r.v.Get("max"); v != nil {
		c := &compiler{f: &r.l.f}
		if n, valid := c.count(v, r.at("max")); valid {
			most = n
		}
		if most < 1 || most > 1000 {
			r.fault("max", "must be from 1 to 1000")
		}
	}
	if p == nil {
		return nil
	}
	if types := p.schema.usedTypes(); len(types) != 1 || types[0] != "integer" {
		r.fault("count", "%s must be declared as integer", quote(p.name))
	}
	r.noSecret("count", p)
	return orNil(counted{flag, p, most}, ok)
}

// noSecret reports a secret field where its value would show in argv.
func (r *reader) noSecret(key string, p *property) {
	if p.schema.secret {
		r.fault(key, "%s is secret and never shows in arguments; pass it by stdin, env or \"as\": \"file\"", quote(p.name))
	}
}

// value reads {"field": ...} with or without a flag.
func (r *reader) value() action {
	if r.has("flag") {
		r.only("flag", "field", "join", "each", "separator", "as", "when")
	} else {
		r.only("field", "spread", "separator", "as", "map", "allow_empty", "allow_dash", "when")
	}
	p := r.field("field")
	if p == nil {
		return nil
	}
	it := valueItem{field: p, allowEmpty: r.yes("allow_empty"), allowDash: r.yes("allow_dash")}
	it.repeat = r.yes("each") || r.yes("spread")
	it.as, _ = r.word("as", "json", "file")
	if r.has("separator") {
		if it.separator, _ = r.text("separator"); it.separator == "" {
			r.fault("separator", "must be a string of at least one character")
			return nil
		}
	}
	if r.has("flag") {
		it.flag, _ = r.flag()
		it.join = r.join(it.flag)
	}
	if r.has("map") {
		it.mapping = r.mapping(p)
	}
	r.checkUse(&it)
	return it
}

func (r *reader) join(flag string) string {
	join := "separate"
	if strings.HasPrefix(flag, "--") {
		join = "="
	}
	if r.has("join") {
		if word, ok := r.word("join", "separate", "=", ""); ok {
			join = word
		}
	}
	if join == "=" && strings.HasSuffix(flag, "=") {
		r.fault("flag", "ends with = already; write \"join\": \"\"")
	}
	return join
}

// mapping reads {"value": "argument" | ["arguments"], ...}.
func (r *reader) mapping(p *property) map[string][]string {
	m := r.l.object(r.v.Get("map"), r.at("map"))
	if m == nil {
		return nil
	}
	out := make(map[string][]string)
	for i := range m.v.Members {
		member := &m.v.Members[i]
		at := m.at(member.Name)
		items := []strictjson.Value{member.Value}
		if member.Value.Kind == strictjson.Array {
			items = member.Value.Items
		}
		args := []string{}
		for k := range items {
			if text, ok := r.l.argument(&items[k], at); ok {
				args = append(args, text)
			}
		}
		out[member.Name] = args
	}
	if len(out) == 0 {
		r.fault("map", "must say what at least one value becomes")
	}
	r.checkMapped(p, out)
	return out
}

// checkMapped compares the keys of a map with the values the field can have.
func (r *reader) checkMapped(p *property, m map[string][]string) {
	var can []string
	for i := range p.schema.enum {
		if v := &p.schema.enum[i]; v.Kind != strictjson.Null {
			can = append(can, typed(v))
		}
	}
	if types := p.schema.usedTypes(); can == nil && len(types) == 1 && types[0] == "boolean" {
		can = []string{"true", "false"}
	}
	if can == nil {
		return
	}
	for _, v := range can {
		if _, ok := m[v]; !ok {
			r.fault("map", "does not say what %s becomes; write [] for nothing", quote(v))
		}
	}
	for _, member := range r.v.Get("map").Members {
		if !slices.Contains(can, member.Name) {
			r.l.f.add(strictjson.Field(r.at("map"), member.Name), "is not a value of %s; %sits values: %s",
				quote(p.name), didYouMean(member.Name, can), list(can))
		}
	}
}
