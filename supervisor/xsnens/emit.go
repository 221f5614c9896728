package xsnens

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"snens/internal/strictjson"
)

// emitter turns the values of a call into arguments.
type emitter struct {
	values  map[string]*strictjson.Value
	args    []Arg
	pending []string // tokens of end_of_options, written before the next argument
	ended   bool     // an end_of_options stands before: a dash is harmless
	files   int
	p       problems
}

func (e *emitter) items(items []item) {
	for _, it := range items {
		if it.when == nil || it.when.holds(e.values) {
			it.act.emit(e)
		}
	}
}

// value is the value of a field; nil when it is absent or null.
func (e *emitter) value(p *property) *strictjson.Value {
	v := e.values[p.name]
	if v == nil || v.Kind == strictjson.Null {
		return nil
	}
	return v
}

func (e *emitter) add(a Arg) {
	for _, token := range e.pending {
		e.args = append(e.args, Arg{Text: token})
	}
	e.pending = nil
	if a.File != nil {
		e.files++
		if e.files == MaxFileArgs+1 {
			e.p.add(a.Field, fmt.Sprintf("makes more than %d files for one call", MaxFileArgs), "send fewer items")
		}
	}
	e.args = append(e.args, a)
}

func (a literal) emit(e *emitter) { e.add(Arg{Text: a.text}) }

func (a bareFlag) emit(e *emitter) {
	if a.field == nil {
		e.add(Arg{Text: a.flag})
		return
	}
	if v := e.value(a.field); v != nil && v.Bool {
		e.add(Arg{Text: a.flag, Field: a.field.at()})
	}
}

func (a counted) emit(e *emitter) {
	v := e.value(a.field)
	if v == nil {
		return
	}
	n := rat(v)
	if n == nil || n.Sign() < 0 || n.Cmp(ratOf(a.most)) > 0 {
		e.p.add(a.field.at(), fmt.Sprintf("must be from 0 to %d, not %s", a.most, describe(v, false)), "")
		return
	}
	for range n.Num().Int64() {
		e.add(Arg{Text: a.flag, Field: a.field.at()})
	}
}

func (a endOfOptions) emit(e *emitter) {
	e.pending = append(e.pending, a.token)
	e.ended = true
}

func (a group) emit(e *emitter) { e.items(a.items) }

func (a valueItem) emit(e *emitter) {
	v := e.value(a.field)
	if v == nil {
		return
	}
	switch {
	case a.mapping != nil:
		a.mapped(e, v)
	case a.separator != "":
		a.joined(e, v)
	case a.repeat:
		for i, item := range e.itemsOf(v, a.field, "each and spread") {
			if e.p.full() {
				return
			}
			a.one(e, item, strictjson.Index(a.field.at(), i))
		}
	default:
		a.one(e, v, a.field.at())
	}
}

// itemsOf are the items of an array.
func (e *emitter) itemsOf(v *strictjson.Value, p *property, what string) []*strictjson.Value {
	if v.Kind != strictjson.Array {
		e.p.add(p.at(), "must be an array for "+what+", not "+describe(v, p.schema.secret), "send a list, [...]")
		return nil
	}
	out := make([]*strictjson.Value, len(v.Items))
	for i := range v.Items {
		out[i] = &v.Items[i]
	}
	return out
}

func (a valueItem) mapped(e *emitter, v *strictjson.Value) {
	key, ok := plainText(v)
	if v.Kind == strictjson.Bool {
		key, ok = string(v.JSON()), true
	}
	args, known := a.mapping[key]
	if !ok || !known {
		keys := slices.Sorted(maps.Keys(a.mapping))
		e.p.add(a.field.at(), fmt.Sprintf("must be one of %s, not %s", list(keys), describe(v, false)), "")
		return
	}
	for _, text := range args {
		e.add(Arg{Text: text, Field: a.field.at()})
	}
}

func (a valueItem) joined(e *emitter, v *strictjson.Value) {
	var parts []string
	failed := false
	for i, item := range e.itemsOf(v, a.field, "separator") {
		at := strictjson.Index(a.field.at(), i)
		text, ok := e.text(item, at)
		if ok && strings.Contains(text, a.separator) {
			e.p.add(at, "must not contain "+quote(a.separator)+", which separates the items", "send it in another way")
			ok = false
		}
		failed = failed || !ok
		parts = append(parts, text)
	}
	if len(parts) == 0 || failed {
		return
	}
	text := strings.Join(parts, a.separator)
	// With "::" the items "a:" and "b" would be read as "a" and ":b".
	for i, got := range strings.Split(text, a.separator) {
		if i >= len(parts) || got != parts[i] {
			e.p.add(strictjson.Index(a.field.at(), i), "must not end like the beginning of "+quote(a.separator)+
				", which separates the items: they would be read in another way", "send it in another way")
			return
		}
	}
	a.write(e, text, a.field.at())
}

// one emits a single value.
func (a valueItem) one(e *emitter, v *strictjson.Value, at string) {
	switch a.as {
	case "json":
		if v.Kind == strictjson.Bool {
			e.noBool(at)
			return
		}
		a.write(e, string(v.JSON()), at)
	case "file":
		a.file(e, v, at)
	default:
		if text, ok := e.text(v, at); ok {
			a.write(e, text, at)
		}
	}
}

// text is a scalar as an argument; false with a problem when it is none.
func (e *emitter) text(v *strictjson.Value, at string) (string, bool) {
	if v.Kind == strictjson.Bool {
		e.noBool(at)
		return "", false
	}
	text, ok := plainText(v)
	if !ok {
		e.p.add(at, describe(v, false)+" cannot become an argument", "send a string or a number")
		return "", false
	}
	if strings.ContainsRune(text, 0) {
		e.p.add(at, "holds a NUL character, which no argument can hold", "send it without NUL")
		return "", false
	}
	return text, true
}

func (e *emitter) noBool(at string) {
	e.p.add(at, "a boolean cannot become an argument", "send a string or a number")
}

// write emits text as the value of the flag or as a positional.
func (a valueItem) write(e *emitter, text, at string) {
	name := a.field.at()
	switch {
	case a.flag == "":
		if a.positional(e, text, at) {
			e.add(Arg{Text: text, Field: name})
		}
	case a.join == "separate":
		e.add(Arg{Text: a.flag, Field: name})
		e.add(Arg{Text: text, Field: name})
	case a.join == "" && text == "":
		e.p.add(at, "must not be empty", "leave it out instead")
	default:
		e.add(Arg{Text: a.flag + a.join + text, Field: name})
	}
}

// positional checks what a tool could take for something else.
func (a valueItem) positional(e *emitter, text, at string) bool {
	switch {
	case text == "" && !a.allowEmpty:
		e.p.add(at, "must not be empty", "leave it out or send text")
	case strings.HasPrefix(text, "-") && !a.allowDash && !e.ended:
		fix := "send it in another form"
		if a.as == "" {
			fix = "for a file write \"./\" before it"
		}
		e.p.add(at, "must not begin with \"-\", which the tool would take for an option", fix)
	default:
		return true
	}
	return false
}

// file emits a value as the content of a file: text as it is, else JSON.
func (a valueItem) file(e *emitter, v *strictjson.Value, at string) {
	if v.Kind == strictjson.Bool {
		e.noBool(at)
		return
	}
	content, ok := plainText(v)
	if !ok {
		content = string(v.JSON())
	}
	arg := Arg{File: &FileArg{a.field.at(), []byte(content)}, Field: a.field.at()}
	switch {
	case a.flag == "":
	case a.join == "separate":
		e.add(Arg{Text: a.flag, Field: a.field.at()})
	default:
		arg.Text = a.flag + a.join
	}
	e.add(arg)
}
