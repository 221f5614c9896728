package xsnens

import (
	"math/big"
	"regexp"
	"slices"
	"strconv"

	"snens/internal/strictjson"
)

// schema is one JSON Schema made ready for checking. Keywords that the plain
// check does not know are in rest, each with the library's reading of it.
type schema struct {
	never bool // the schema false: nothing fits

	types    []string
	enum     []strictjson.Value // nil = none
	enumKeys []string
	constant *strictjson.Value
	bounds   []bound
	sizes    []size
	pattern  *regexp.Regexp
	unique   bool
	required []string

	properties []named
	additional *schema // nil = anything
	items      *schema // nil = anything
	allOf      []*schema
	rest       []libCheck

	description string
	defaultTo   *strictjson.Value
	secret      bool
}

type named struct {
	name   string
	schema *schema
}

// bound is minimum, maximum, exclusiveMinimum, exclusiveMaximum or multipleOf.
type bound struct {
	keyword string
	value   *big.Rat
	text    string
}

// size is minLength, maxLength, minItems, ... : n as int.
type size struct {
	keyword string
	n       int
}

func (s *schema) property(name string) *schema {
	for i := range s.properties {
		if s.properties[i].name == name {
			return s.properties[i].schema
		}
	}
	return nil
}

func (s *schema) hasType(t string) bool { return slices.Contains(s.types, t) }

// usedTypes are the declared types without null: null means absent.
func (s *schema) usedTypes() []string {
	var out []string
	for _, t := range s.types {
		if t != "null" {
			out = append(out, t)
		}
	}
	return out
}

// compiler turns JSON into schemas and notes what is wrong or of no effect.
type compiler struct {
	f        *faults
	warnings []string
	draft7   bool
}

// schema compiles v. depth 0 is the root, 1 a property of the root.
func (c *compiler) schema(v *strictjson.Value, path string, depth int) *schema {
	s := &schema{}
	switch v.Kind {
	case strictjson.Bool:
		s.never = !v.Bool
		return s
	case strictjson.Object:
	default:
		c.f.add(path, "must be a schema (an object, true or false), not %s", describe(v, false))
		return s
	}
	for i := range v.Members {
		m := &v.Members[i]
		c.keyword(s, m, strictjson.Field(path, m.Name), depth)
	}
	c.nested(s, v, path, depth)
	return s
}

// keyword reads one keyword that holds no schemas.
func (c *compiler) keyword(s *schema, m *strictjson.Member, at string, depth int) {
	switch v := &m.Value; m.Name {
	case "type":
		s.types = c.types(v, at)
	case "enum":
		c.enum(s, v, at)
	case "const":
		s.constant = v
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		c.bound(s, m, at)
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		if n, ok := c.count(v, at); ok {
			s.sizes = append(s.sizes, size{m.Name, n})
		}
	case "pattern":
		s.pattern = c.pattern(v, at)
	case "uniqueItems":
		s.unique = v.Kind == strictjson.Bool && v.Bool
		if v.Kind != strictjson.Bool {
			c.f.add(at, "must be true or false, not %s", describe(v, false))
		}
	case "required":
		s.required = c.names(v, at)
	case "description":
		s.description = v.Text
	case "default":
		s.defaultTo = v
	case "secret":
		c.secret(s, v, at, depth)
	default:
		switch keyword(m.Name) {
		case refused:
			c.f.add(at, "is not supported; write the schema out, with $ref to #/$defs where parts repeat")
		case unknown:
			if depth > 0 || m.Name != keyXSnens {
				c.warnings = append(c.warnings, at+": is no keyword of JSON Schema and has no effect")
			}
		}
	}
}

func (c *compiler) secret(s *schema, v *strictjson.Value, at string, depth int) {
	switch {
	case v.Kind != strictjson.Bool:
		c.f.add(at, "must be true or false, not %s", describe(v, false))
	case depth != 1:
		c.f.add(at, "may stand only on a property of the whole schema; mark the property that holds this value")
	default:
		s.secret = v.Bool
	}
}

func (c *compiler) types(v *strictjson.Value, at string) []string {
	known := []string{"string", "integer", "number", "boolean", "array", "object", "null"}
	items := v.Items
	if v.Kind != strictjson.Array {
		items = []strictjson.Value{*v}
	}
	var out []string
	for i := range items {
		switch t := &items[i]; {
		case t.Kind != strictjson.String || !slices.Contains(known, t.Text):
			c.f.add(at, "%s is not a type; the types are %s", describe(t, false), list(known))
		case slices.Contains(out, t.Text):
			c.f.add(at, "names %s twice", quote(t.Text))
		default:
			out = append(out, t.Text)
		}
	}
	if len(items) == 0 {
		c.f.add(at, "must name at least one type of %s", list(known))
	}
	return out
}

func (c *compiler) enum(s *schema, v *strictjson.Value, at string) {
	if v.Kind != strictjson.Array || len(v.Items) == 0 {
		c.f.add(at, "must be a list of at least one value")
		return
	}
	s.enum = v.Items
	for i := range v.Items {
		s.enumKeys = append(s.enumKeys, v.Items[i].Key(maxDigits))
	}
}

func (c *compiler) bound(s *schema, m *strictjson.Member, at string) {
	v := &m.Value
	value := rat(v)
	switch {
	case v.Kind != strictjson.Number:
		c.f.add(at, "must be a number, not %s", describe(v, false))
	case value == nil:
		c.f.add(at, "needs more than %d digits", maxDigits)
	case m.Name == "multipleOf" && value.Sign() <= 0:
		c.f.add(at, "must be greater than 0, not %s", v.Text)
	default:
		plain, _ := plainText(v)
		s.bounds = append(s.bounds, bound{m.Name, value, plain})
	}
}

// rat is the exact value of a number of bounded size, else nil.
func rat(v *strictjson.Value) *big.Rat {
	if v.Kind != strictjson.Number {
		return nil
	}
	plain, ok := plainText(v)
	if !ok {
		return nil
	}
	r, ok := new(big.Rat).SetString(plain)
	if !ok {
		return nil
	}
	return r
}

// count reads a whole number from 0 to 2^31-1.
func (c *compiler) count(v *strictjson.Value, at string) (int, bool) {
	if v.Kind == strictjson.Number {
		if plain, whole, err := strictjson.PlainNumber(v.Text, 10); err == nil && whole {
			if n, err := strconv.ParseInt(plain, 10, 32); err == nil && n >= 0 {
				return int(n), true
			}
		}
	}
	c.f.add(at, "must be a whole number from 0 to 2147483647, not %s", describe(v, false))
	return 0, false
}

func (c *compiler) pattern(v *strictjson.Value, at string) *regexp.Regexp {
	if v.Kind != strictjson.String {
		c.f.add(at, "must be a string, not %s", describe(v, false))
		return nil
	}
	re, err := regexp.Compile(v.Text)
	if err != nil {
		c.f.add(at, "cannot be used: %v; patterns are read by Go's regexp, which has no look-around and no backreferences", err)
		return nil
	}
	return re
}

func (c *compiler) names(v *strictjson.Value, at string) []string {
	var out []string
	for i := range v.Items {
		item := &v.Items[i]
		if item.Kind != strictjson.String || slices.Contains(out, item.Text) {
			c.f.add(strictjson.Index(at, i), "must be a name that is not in the list yet, not %s", describe(item, false))
			continue
		}
		out = append(out, item.Text)
	}
	if v.Kind != strictjson.Array {
		c.f.add(at, "must be a list of names, not %s", describe(v, false))
	}
	return out
}

// nested compiles the keywords that hold schemas: the plain ones here, the
// others by the library.
func (c *compiler) nested(s *schema, v *strictjson.Value, path string, depth int) {
	if props := v.Get("properties"); props != nil {
		at := strictjson.Field(path, "properties")
		if props.Kind != strictjson.Object {
			c.f.add(at, "must be an object of schemas, not %s", describe(props, false))
		}
		for i := range props.Members {
			m := &props.Members[i]
			s.properties = append(s.properties, named{m.Name, c.schema(&m.Value, strictjson.Field(at, m.Name), depth+1)})
		}
	}
	if all := v.Get("allOf"); all != nil {
		at := strictjson.Field(path, "allOf")
		if all.Kind != strictjson.Array || len(all.Items) == 0 {
			c.f.add(at, "must be a list of at least one schema")
		}
		for i := range all.Items {
			// An alternative's own properties are not fields: never depth 1.
			s.allOf = append(s.allOf, c.schema(&all.Items[i], strictjson.Index(at, i), depth+2))
		}
	}
	if items := v.Get("items"); items != nil && plainItems(v) {
		s.items = c.schema(items, strictjson.Field(path, "items"), depth+2)
	}
	if add := v.Get("additionalProperties"); add != nil && plainAdditional(v) {
		s.additional = c.schema(add, strictjson.Field(path, "additionalProperties"), depth+2)
	}
	c.library(s, v, path, depth)
}

// plainItems says that "items" of v is for all items, so that the plain check
// can do it. plainAdditional says the same of "additionalProperties".
func plainItems(v *strictjson.Value) bool {
	return v.Get("prefixItems") == nil && v.Get("items").Kind != strictjson.Array
}

func plainAdditional(v *strictjson.Value) bool { return v.Get("patternProperties") == nil }
