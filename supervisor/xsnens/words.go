package xsnens

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"snens/internal/strictjson"
)

// FromWords makes the JSON arguments of a call from words of a command line:
//
//	f=text    the text, as it is; a number or a boolean where f is declared so
//	f:=JSON   a JSON value
//	f@=FILE   the content of a file as text ("-" is what readFile makes of it)
//
// A repeated f= or f@= fills an array. readFile opens what f@= names. Fields
// come in the order of their first word. A failure is an *ArgsError.
func FromWords(fields []Field, words []string, readFile func(path string) ([]byte, error)) ([]byte, error) {
	return fromWords(fields, false, words, readFile)
}

// FromWords is the function of that name for this interface; when it is open,
// fields it does not know are taken as well.
func (i *Interface) FromWords(words []string, readFile func(path string) ([]byte, error)) ([]byte, error) {
	return fromWords(i.Fields(), i.open, words, readFile)
}

// word is one word taken apart.
type word struct {
	field Field
	op    byte // '=', ':' or '@'
	value strictjson.Value
}

func fromWords(fields []Field, open bool, words []string, readFile func(string) ([]byte, error)) ([]byte, error) {
	var p problems
	out := strictjson.Value{Kind: strictjson.Object}
	stdin := false
	whole := make(map[string]bool) // fields given by :=
	for _, w := range words {
		got, ok := splitWord(&p, fields, open, w)
		if !ok {
			continue
		}
		at := strictjson.Field("", got.field.Name)
		if got.op == '@' {
			if got.value.Text == "-" && stdin {
				p.add(at, "standard input was read for another field already", "name a file")
				continue
			}
			stdin = stdin || got.value.Text == "-"
		}
		if got.convert(&p, at, readFile) {
			got.put(&p, at, &out, whole[got.field.Name])
			whole[got.field.Name] = whole[got.field.Name] || got.op == ':'
		}
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return out.JSON(), nil
}

// splitWord finds field, operator and text.
func splitWord(p *problems, fields []Field, open bool, w string) (word, bool) {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	if !utf8.ValidString(w) {
		p.add("", "the word "+quote(w)+" is not UTF-8", "put such content into a file that the tool can read")
		return word{}, false
	}
	name, text, ok := strings.Cut(w, "=")
	if !ok || name == "" {
		p.add("", "the word "+quote(w)+" names no field", "write FIELD=TEXT, FIELD:=JSON or FIELD@=FILE; "+accepted(names))
		return word{}, false
	}
	op := byte('=')
	if last := name[len(name)-1]; len(name) > 1 && (last == ':' || last == '@') {
		op = last
		name = name[:len(name)-1]
	}
	i := slices.Index(names, name)
	if i < 0 && !open {
		p.add(strictjson.Field("", name), "is not a field of this tool", didYouMean(name, names)+accepted(names))
		return word{}, false
	}
	field := Field{Name: name}
	if i >= 0 {
		field = fields[i]
	}
	return word{field, op, strictjson.StringValue(text)}, true
}

// convert turns the text of the word into its value.
func (w *word) convert(p *problems, at string, readFile func(string) ([]byte, error)) bool {
	switch w.op {
	case ':':
		v, err := strictjson.Parse([]byte(w.value.Text), strictjson.Options{MaxDepth: maxArgsDepth - 1})
		if err != nil {
			rule := "is not JSON after :="
			if !w.field.Secret {
				rule += ": " + err.Error()
			}
			p.add(at, rule, "write text as "+w.field.Name+"=TEXT")
			return false
		}
		w.value = v
	case '@':
		data, err := readFile(w.value.Text)
		if err != nil {
			p.add(at, "cannot read the file: "+err.Error(), "")
			return false
		}
		if !utf8.Valid(data) {
			p.add(at, fmt.Sprintf("the content of %s is not UTF-8 text", quote(w.value.Text)), "let the tool read the file itself")
			return false
		}
		w.value = strictjson.StringValue(string(data))
	default:
		types := w.field.Types
		if w.fillsArray() {
			types = w.field.ItemTypes
		}
		coerceString(&schema{types: types}, &w.value)
	}
	return true
}

// fillsArray says that a text is an item: the field is an array and no string.
func (w *word) fillsArray() bool {
	return slices.Contains(w.field.Types, "array") && !slices.Contains(w.field.Types, "string")
}

// put adds the value to the object. whole says that := gave the field before.
func (w *word) put(p *problems, at string, out *strictjson.Value, whole bool) {
	old := out.Get(w.field.Name)
	list := w.op != ':' && w.fillsArray()
	switch {
	case old == nil && list:
		out.Members = append(out.Members, strictjson.Member{
			Name:  w.field.Name,
			Value: strictjson.Value{Kind: strictjson.Array, Items: []strictjson.Value{w.value}},
		})
	case old == nil:
		out.Members = append(out.Members, strictjson.Member{Name: w.field.Name, Value: w.value})
	case list && !whole:
		old.Items = append(old.Items, w.value)
	default:
		p.add(at, "is given twice", "only an array takes several FIELD=TEXT; give the whole value once")
	}
}
