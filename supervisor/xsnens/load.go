package xsnens

import (
	"snens/internal/strictjson"
)

// keyXSnens is the key of the schema that is ours.
const keyXSnens = "x-snens"

// version is the vocabulary this package reads.
const version = 1

// Load reads a schema.json. It gives a *NotTypedError when the schema describes
// no typed interface and a *LoadError with every fault when it is broken; in
// both cases the tool is generic.
func Load(data []byte) (*Interface, error) {
	file, err := strictjson.Parse(data, strictjson.Options{MaxBytes: maxSchemaBytes})
	if err != nil {
		return nil, &LoadError{[]Fault{{"", "it is not valid JSON: " + err.Error()}}}
	}
	if file.Kind != strictjson.Object {
		return nil, &NotTypedError{"schema.json holds " + describe(&file, false) + ", not an object"}
	}
	l := &loader{out: &Interface{output: OutputText}}
	in := &inliner{root: file, f: &l.f, bytes: len(data)}
	root := in.schema(file, "", nil)
	if err := l.f.err(); err != nil {
		return nil, err
	}
	if reason := notTyped(&root); reason != "" {
		return nil, &NotTypedError{reason}
	}
	l.compile(&root)
	if x := root.Get(keyXSnens); x != nil {
		l.xsnens(x)
	}
	if len(l.f.list) == 0 {
		l.defaults()
	}
	if err := l.f.err(); err != nil {
		return nil, err
	}
	l.out.published = published(&root, in.used)
	l.warn()
	return l.out, nil
}

// notTyped is the reason why a schema is none of a typed tool, or "".
func notTyped(root *strictjson.Value) string {
	if t := root.Get("type"); t == nil || t.Kind != strictjson.String || t.Text != "object" {
		return `schema.json has no "type": "object"`
	}
	props := root.Get("properties")
	if props == nil || props.Kind != strictjson.Object {
		return `schema.json has no "properties"`
	}
	if root.Get(keyXSnens) == nil && len(props.Members) > 0 {
		return `schema.json has no "x-snens", which says how fields become arguments`
	}
	return ""
}

// loader builds an Interface and collects faults on the way.
type loader struct {
	f        faults
	warnings []string
	out      *Interface
}

// compile reads the JSON Schema part.
func (l *loader) compile(root *strictjson.Value) {
	c := &compiler{f: &l.f, draft7: l.draft7(root)}
	s := c.schema(root, "", 0)
	l.warnings = append(l.warnings, c.warnings...)
	l.out.root = s
	l.out.open = s.additional != nil && !s.additional.never
	for _, n := range s.properties {
		l.out.props = append(l.out.props, &property{name: n.name, schema: n.schema})
	}
	for _, name := range s.required {
		if p := l.out.property(name); p != nil {
			p.required = true
		} else {
			l.f.add("required", "%s is not in properties; %saccepted: %s", quote(name),
				didYouMean(name, l.out.fieldNames()), list(l.out.fieldNames()))
		}
	}
	for _, p := range l.out.props {
		l.property(p)
	}
}

// property checks what a field says about itself.
func (l *loader) property(p *property) {
	at := strictjson.Field("properties", p.name)
	s := p.schema
	if p.name == "" {
		l.f.add("properties", "a field needs a name")
	}
	if s.never {
		l.f.add(at, "is false: nothing could ever be sent; leave the field out")
	}
	if s.secret && (s.defaultTo != nil || s.enum != nil || s.constant != nil) {
		l.f.add(at, "is secret, so default, enum and const, which models see, cannot stand here")
	}
	if s.defaultTo == nil || s.defaultTo.Kind == strictjson.Null {
		return
	}
	def := s.defaultTo.Clone()
	p.def = &def
	problem := &problems{}
	plainNumbers(problem, p.def, at)
	(&checker{p: problem}).check(s, p.def, strictjson.Field(at, "default"))
	for _, e := range problem.list {
		l.f.add(e.Field, "%s", e.Rule)
	}
}

// draft7 reads "$schema". Drafts other than 7 are read as 2020-12.
func (l *loader) draft7(root *strictjson.Value) bool {
	v := root.Get("$schema")
	if v == nil {
		return false
	}
	switch v.Text {
	case "http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-07/schema",
		"https://json-schema.org/draft-07/schema#", "https://json-schema.org/draft-07/schema":
		return true
	case "https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2020-12/schema#":
	default:
		l.warnings = append(l.warnings, "$schema: "+describe(v, false)+" is read as draft 2020-12")
	}
	return false
}

// published is what a model sees.
func published(root *strictjson.Value, inlined bool) []byte {
	out := strictjson.Value{Kind: strictjson.Object}
	for _, m := range root.Members {
		switch {
		case m.Name == keyXSnens:
			continue
		case inlined && keyword(m.Name) == definition:
			continue // nothing refers to them any more
		case m.Name == "properties":
			m.Value = withoutSecret(m.Value)
		}
		out.Members = append(out.Members, m)
	}
	return out.JSON()
}

// withoutSecret cuts the keyword from the fields, not a field of that name.
func withoutSecret(properties strictjson.Value) strictjson.Value {
	out := strictjson.Value{Kind: strictjson.Object}
	for _, p := range properties.Members {
		field := p.Value
		if field.Kind == strictjson.Object {
			field = strictjson.Value{Kind: strictjson.Object}
			for _, m := range p.Value.Members {
				if m.Name != "secret" {
					field.Members = append(field.Members, m)
				}
			}
		}
		out.Members = append(out.Members, strictjson.Member{Name: p.Name, Value: field})
	}
	return out
}

// warn adds what can only be said at the end.
func (l *loader) warn() {
	for _, p := range l.out.props {
		at := strictjson.Field("properties", p.name)
		if !p.used {
			l.warnings = append(l.warnings, at+": is used by neither argv nor stdin nor env; what is sent in it is lost")
		}
		if p.schema.description == "" {
			l.warnings = append(l.warnings, at+": has no description; a model has only the name to go by")
		}
	}
	if l.out.open && l.out.stdin.mode != stdinJSON {
		l.warnings = append(l.warnings, `additionalProperties: extra fields reach only stdin of mode "json", so here they are lost`)
	}
	l.out.warnings = l.warnings
}
