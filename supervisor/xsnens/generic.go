package xsnens

import (
	"encoding/json"
	"strings"

	"snens/internal/strictjson"
)

// Generic turns the JSON arguments of a call of a tool without a typed
// interface into an Invocation: {"args": [...] | "one string", "stdin": "..."}.
// A string is split on white space and nothing more; items of a list are
// arguments as they are. stdinRequired is what the tool's description says.
// A failure is an *ArgsError.
func Generic(args []byte, stdinRequired bool) (*Invocation, error) {
	return GenericWithin(args, stdinRequired, DefaultRoom)
}

// GenericWithin is Generic where arguments may take room bytes.
func GenericWithin(args []byte, stdinRequired bool, room int) (*Invocation, error) {
	in, err := strictjson.Parse(args, strictjson.Options{MaxBytes: maxArgsBytes, MaxDepth: maxArgsDepth, MaxTokens: maxArgsTokens})
	if err != nil {
		return nil, syntaxError(err, false)
	}
	if in.Kind != strictjson.Object {
		return nil, &ArgsError{[]FieldError{{"", "must be an object, not " + describe(&in, false), `send {"args": [...]}`}}}
	}
	var p problems
	inv := &Invocation{}
	names := []string{"args", "stdin"}
	for i := range in.Members {
		if p.full() {
			break
		}
		switch m := &in.Members[i]; m.Name {
		case "args":
			inv.Args = genericArgs(&p, &m.Value)
		case "stdin":
			switch m.Value.Kind {
			case strictjson.String:
				inv.Stdin, inv.HasStdin = []byte(m.Value.Text), true
			case strictjson.Null:
			default:
				p.add("stdin", "must be a string, not "+describe(&m.Value, false), "put it in double quotes")
			}
		default:
			p.add(strictjson.Field("", m.Name), "is not a field of this tool", didYouMean(m.Name, names)+accepted(names))
		}
	}
	if stdinRequired && !inv.HasStdin && len(p.list) == 0 {
		p.add("stdin", "is required", "add it (a string)")
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	if err := inv.fit(room); err != nil {
		return nil, err
	}
	return inv, nil
}

func genericArgs(p *problems, v *strictjson.Value) []Arg {
	var out []Arg
	add := func(text, at string) {
		if strings.ContainsRune(text, 0) {
			p.add(at, "holds a NUL character, which no argument can hold", "send it without NUL")
			return
		}
		out = append(out, Arg{Text: text, Field: at})
	}
	switch v.Kind {
	case strictjson.Null:
	case strictjson.String:
		for _, word := range strings.FieldsFunc(v.Text, isSpace) {
			add(word, "args")
		}
	case strictjson.Array:
		for i := range v.Items {
			at := strictjson.Index("args", i)
			if v.Items[i].Kind != strictjson.String {
				p.add(at, "must be a string, not "+describe(&v.Items[i], false), "put it in double quotes")
				continue
			}
			add(v.Items[i].Text, at)
		}
	default:
		p.add("args", "must be a list of strings or one string, not "+describe(v, false), `send ["first", "second"]`)
	}
	return out
}

// isSpace is the white space of ASCII, the same in every locale.
func isSpace(r rune) bool { return r == ' ' || r >= '\t' && r <= '\r' }

// GenericParameters is the JSON Schema that a model sees of a generic tool.
func GenericParameters(stdinRequired bool) json.RawMessage {
	const head = `{"type":"object","properties":{` +
		`"args":{"description":"Arguments of the program: a list with one string each, or one string that is split on white space only (no quotes, no shell).",` +
		`"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"string"}]},` +
		`"stdin":{"type":"string","description":"Text the program reads from standard input."}},`
	if stdinRequired {
		return json.RawMessage(head + `"required":["stdin"],"additionalProperties":false}`)
	}
	return json.RawMessage(head + `"additionalProperties":false}`)
}
