package xsnens

import (
	"encoding/json"

	"snens/internal/strictjson"
	"snens/supervisor/call"
)

// Interface is a loaded schema.json. Make one by Load.
type Interface struct {
	published json.RawMessage
	root      *schema
	props     []*property
	open      bool // extra fields are accepted
	warnings  []string

	argv     []item
	stdin    stdinPlan
	env      []envPlan
	output   Output
	exit     map[int]call.Class
	limits   Limits
	hints    Hints
	examples []Example
}

// property is one field of the tool.
type property struct {
	name     string
	schema   *schema
	required bool
	def      *strictjson.Value // nil = none
	used     bool              // by argv, stdin or env
}

// at is the field's name as errors write it.
func (p *property) at() string { return strictjson.Field("", p.name) }

// Field is what a caller may know of a field: for completion, for words of a
// command line, for help.
type Field struct {
	Name        string   `json:"name"`
	Types       []string `json:"types,omitempty"`      // as declared; none = any
	ItemTypes   []string `json:"item_types,omitempty"` // of an array's items
	Required    bool     `json:"required,omitempty"`
	Description string   `json:"description,omitempty"`
	Secret      bool     `json:"secret,omitempty"`
	// Values are the values of an enum or of a boolean, as one would type them.
	Values  []string `json:"values,omitempty"`
	Default string   `json:"default,omitempty"` // as one would type it
}

// Parameters is the schema a model sees: compact, keys in their order, without
// x-snens and without "secret"; $ref is replaced by what it refers to.
func (i *Interface) Parameters() json.RawMessage { return i.published }

// Fields lists the tool's fields in the order of the file.
func (i *Interface) Fields() []Field {
	out := make([]Field, len(i.props))
	for n, p := range i.props {
		f := Field{
			Name: p.name, Types: p.schema.types, Required: p.required,
			Description: p.schema.description, Secret: p.schema.secret,
		}
		values := p.schema
		if p.schema.items != nil {
			f.ItemTypes = p.schema.items.types
			values = p.schema.items
		}
		for k := range values.enum {
			f.Values = append(f.Values, typed(&values.enum[k]))
		}
		if f.Values == nil && len(values.usedTypes()) == 1 && values.hasType("boolean") {
			f.Values = []string{"true", "false"}
		}
		if p.def != nil {
			f.Default = typed(p.def)
		}
		out[n] = f
	}
	return out
}

// typed is a value as one would type it: text without quotes, else JSON.
func typed(v *strictjson.Value) string {
	if s, ok := plainText(v); ok {
		return s
	}
	return string(v.JSON())
}

// HasField says whether the schema itself defines the field name.
func (i *Interface) HasField(name string) bool { return i.property(name) != nil }

// Open says whether fields that the schema does not name are accepted.
func (i *Interface) Open() bool { return i.open }

// HasSecrets says whether a field is secret.
func (i *Interface) HasSecrets() bool {
	for _, p := range i.props {
		if p.schema.secret {
			return true
		}
	}
	return false
}

// ReadsStdin says whether a field can become the tool's standard input.
func (i *Interface) ReadsStdin() bool { return i.stdin.mode != stdinNone }

// Warnings are oddities that break nothing, one line each.
func (i *Interface) Warnings() []string { return i.warnings }

// Version is the version of the x-snens vocabulary the file is written in.
func (i *Interface) Version() int { return version }

// Output says what the tool's standard output is.
func (i *Interface) Output() Output { return i.output }

// Limits are the limits the tool's author asks for.
func (i *Interface) Limits() Limits { return i.limits }

// Hints are what the tool's author says about its effects.
func (i *Interface) Hints() Hints { return i.hints }

// Exit is the class of an exit code: by the file, else 0 is ok and any other
// code is an error.
func (i *Interface) Exit(code int) call.Class {
	if class, ok := i.exit[code]; ok {
		return class
	}
	if code == 0 {
		return call.ClassOK
	}
	return call.ClassError
}

func (i *Interface) property(name string) *property {
	for _, p := range i.props {
		if p.name == name {
			return p
		}
	}
	return nil
}

func (i *Interface) fieldNames() []string {
	out := make([]string, len(i.props))
	for n, p := range i.props {
		out[n] = p.name
	}
	return out
}
