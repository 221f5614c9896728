package xsnens

import (
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"

	"snens/internal/strictjson"
)

// libCheck is a keyword, with those it works together with, that the library
// checks. The schema given to the library holds nothing else, so that a
// failure can be put in words without reading the library's.
type libCheck struct {
	keyword  string
	shown    string // the keyword's value, shortened
	resolved *jsonschema.Resolved
}

// groups are the keywords that are checked together, under the first name.
var groups = [...][]string{
	{"anyOf"},
	{"oneOf"},
	{"not"},
	{"if", "then", "else"},
	{"contains", "minContains", "maxContains"},
	{"prefixItems", "items"},
	{"items", "additionalItems"}, // draft-07, items as a list
	{"patternProperties", "properties", "additionalProperties"},
	{"propertyNames"},
	{"dependentRequired"},
	{"dependentSchemas"},
	{"dependencies"},
	{"unevaluatedItems"},
	{"unevaluatedProperties"},
}

// library compiles the keywords of v that the plain check leaves out.
func (c *compiler) library(s *schema, v *strictjson.Value, path string, depth int) {
	for _, group := range groups {
		name := group[0]
		value := v.Get(name)
		if value == nil || name == "items" && (plainItems(v) || v.Get("prefixItems") != nil) {
			continue
		}
		at := strictjson.Field(path, name)
		if name == "items" && !c.draft7 {
			c.f.add(at, "must be one schema; a list of schemas is called prefixItems since draft 2020-12")
			continue
		}
		if name == "patternProperties" && depth == 0 {
			c.f.add(at, "cannot be used for the whole schema; name every field in properties")
			continue
		}
		whole := name == "unevaluatedItems" || name == "unevaluatedProperties" // all keywords count
		part := strictjson.Value{Kind: strictjson.Object}
		for _, m := range v.Members {
			if slices.Contains(group, m.Name) || whole && keyword(m.Name) != annotation {
				part.Members = append(part.Members, m)
			}
		}
		if resolved := c.resolve(part, path, at); resolved != nil {
			s.rest = append(s.rest, libCheck{name, short(value), resolved})
		}
	}
}

// resolve hands a schema to the library. Nothing can be loaded: references are
// inlined by now, and $id is cut. path is where the schema is, at the keyword.
func (c *compiler) resolve(part strictjson.Value, path, at string) *jsonschema.Resolved {
	before := len(c.f.list)
	part = c.libCopy(part, path)
	if len(c.f.list) > before {
		return nil
	}
	if c.draft7 {
		part.Members = append(part.Members, strictjson.Member{
			Name:  "$schema",
			Value: strictjson.StringValue("http://json-schema.org/draft-07/schema#"),
		})
	}
	var js jsonschema.Schema
	if err := json.Unmarshal(part.JSON(), &js); err != nil {
		c.f.add(at, "cannot be read: %v", err)
		return nil
	}
	resolved, err := js.Resolve(nil)
	if err != nil {
		c.f.add(at, "cannot be used: %v", err)
		return nil
	}
	return resolved
}

// libCopy is v without what says nothing to a check. The library reads keywords
// in any case and bounds through float64, so only exact names and numbers that
// a float64 holds may reach it.
func (c *compiler) libCopy(v strictjson.Value, at string) strictjson.Value {
	v = eachSchema(v, at, c.libCopy)
	if v.Kind != strictjson.Object {
		if v.Kind != strictjson.Bool {
			c.f.add(at, "must be a schema (an object, true or false), not %s", describe(&v, false))
		}
		return v
	}
	out := strictjson.Value{Kind: strictjson.Object}
	for _, m := range v.Members {
		field := strictjson.Field(at, m.Name)
		switch keyword(m.Name) {
		case unknown, annotation, definition:
			if m.Name == "secret" {
				c.f.add(field, "may stand only on a property of the whole schema; mark the property that holds this value")
			}
			continue
		case refused:
			c.f.add(field, "is not supported; write the schema out, with $ref to #/$defs where parts repeat")
			continue
		}
		if m.Name == "multipleOf" && (rat(&m.Value) == nil || rat(&m.Value).Sign() <= 0) {
			c.f.add(field, "must be a number greater than 0")
		}
		if exactKeyword(m.Name) {
			c.checkExact(&m.Value, field, m.Name == "multipleOf")
		}
		out.Members = append(out.Members, m)
	}
	return out
}

// checkExact refuses whole numbers that float64 would round, and all numbers
// too large for it. fractions: those too that it would round; by the library's
// division 0.3 is no multiple of 0.1.
func (c *compiler) checkExact(v *strictjson.Value, at string, fractions bool) {
	switch v.Kind {
	case strictjson.Number:
		plain, whole, err := strictjson.PlainNumber(v.Text, maxDigits)
		f, ferr := strconv.ParseFloat(v.Text, 64)
		rounded := whole && strconv.FormatFloat(f, 'f', 0, 64) != plain
		if err == nil && ferr == nil && fractions {
			rounded = new(big.Rat).SetFloat64(f).Cmp(rat(v)) != 0
		}
		if err != nil || ferr != nil || rounded {
			c.f.add(at, "%s cannot be compared exactly here; use it only directly on a property or its items", describe(v, false))
		}
	case strictjson.Array:
		for i := range v.Items {
			c.checkExact(&v.Items[i], strictjson.Index(at, i), fractions)
		}
	case strictjson.Object:
		for i := range v.Members {
			c.checkExact(&v.Members[i].Value, strictjson.Field(at, v.Members[i].Name), fractions)
		}
	}
}

// libValueOf is v as the library takes it: exact integers where they fit in 64
// bits, and otherwise a float64 of the same kind (whole or not).
func libValueOf(v *strictjson.Value) any {
	switch v.Kind {
	case strictjson.Bool:
		return v.Bool
	case strictjson.String:
		return v.Text
	case strictjson.Number:
		return libNumber(v.Text)
	case strictjson.Array:
		out := make([]any, len(v.Items))
		for i := range v.Items {
			out[i] = libValueOf(&v.Items[i])
		}
		return out
	case strictjson.Object:
		out := make(map[string]any, len(v.Members))
		for i := range v.Members {
			out[v.Members[i].Name] = libValueOf(&v.Members[i].Value)
		}
		return out
	}
	return nil
}

func libNumber(text string) any {
	plain, whole, err := strictjson.PlainNumber(text, maxDigits)
	if err != nil {
		return text // refused before any check
	}
	if whole {
		if n, err := strconv.ParseInt(plain, 10, 64); err == nil {
			return n
		}
		if n, err := strconv.ParseUint(plain, 10, 64); err == nil {
			return n
		}
	}
	f, _ := strconv.ParseFloat(plain, 64) // out of range gives an infinity
	f = max(-math.MaxFloat64, min(math.MaxFloat64, f))
	if !whole && f == math.Trunc(f) {
		// 1.00000000000000000001 must not pass for an integer. Beyond 2^52
		// no float64 has a fraction: then it stays a whole one.
		return math.Nextafter(f, math.Inf(1))
	}
	return f
}
