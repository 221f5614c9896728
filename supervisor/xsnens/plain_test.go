package xsnens_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// The plain keywords are checked by this package and the others by the library.
// Both must agree wherever the library is exact: random schemas of plain
// keywords, random values, and the library's verdict on the same field.
func TestPlainCheckAgreesWithTheLibrary(t *testing.T) {
	const rounds = 3000
	r := rand.New(rand.NewPCG(1, 2))
	accepted := 0
	for range rounds {
		field := randomSchema(r, 2)
		value := randomValue(r, 2)
		ours := load(t, typed(`"properties":{"f":`+field+`},"required":["f"],"x-snens":{"stdin":{"mode":"json","fields":["f"]}}`))
		_, err := ours.Build([]byte(`{"f":` + value + `}`))

		var js jsonschema.Schema
		if err := json.Unmarshal([]byte(field), &js); err != nil {
			t.Fatal(err)
		}
		resolved, err2 := js.Resolve(nil)
		if err2 != nil {
			t.Fatal(err2)
		}
		var v any
		if err := json.Unmarshal([]byte(value), &v); err != nil {
			t.Fatal(err)
		}
		theirs := resolved.Validate(v)
		if (err == nil) != (theirs == nil) {
			t.Fatalf("schema %s\nvalue  %s\nours   %v\ntheirs %v", field, value, err, theirs)
		}
		if err == nil {
			accepted++
		}
	}
	if accepted < rounds/10 || accepted > rounds*9/10 {
		t.Errorf("%d of %d were accepted: the test says little", accepted, rounds)
	}
}

// randomSchema has no strings among the types together with numbers and
// booleans left out, and values hold no string that looks like one of them, so
// that coercion does not come in between.
func randomSchema(r *rand.Rand, depth int) string {
	var m []string
	add := func(chance float64, key, value string) {
		if r.Float64() < chance {
			m = append(m, `"`+key+`":`+value)
		}
	}
	n := func(most int) string { return fmt.Sprint(r.IntN(most)) }
	types := []string{"string", "integer", "number", "boolean", "array", "object", "null"}
	kind := types[r.IntN(len(types))]
	add(0.4, "type", `"`+kind+`"`)
	add(0.15, "minimum", n(5))
	add(0.15, "maximum", n(9))
	add(0.1, "exclusiveMinimum", n(5))
	add(0.1, "exclusiveMaximum", n(9))
	add(0.1, "multipleOf", fmt.Sprint(1+r.IntN(3)))
	add(0.15, "minLength", n(3))
	add(0.15, "maxLength", n(4))
	add(0.1, "pattern", `"^[ab]"`)
	add(0.1, "minItems", n(3))
	add(0.1, "maxItems", n(4))
	add(0.2, "uniqueItems", "true")
	add(0.1, "minProperties", n(2))
	add(0.1, "maxProperties", n(3))
	add(0.15, "required", `["a"]`)
	add(0.1, "enum", "["+randomValue(r, 1)+","+randomValue(r, 1)+"]")
	add(0.03, "const", randomValue(r, 1))
	if depth > 0 {
		add(0.3, "items", randomSchema(r, depth-1))
		add(0.3, "properties", `{"a":`+randomSchema(r, depth-1)+`,"b":true}`)
		add(0.1, "additionalProperties", "false")
		add(0.1, "additionalProperties", randomSchema(r, depth-1))
		add(0.2, "allOf", "["+randomSchema(r, depth-1)+"]")
	}
	return "{" + strings.Join(unique(m), ",") + "}"
}

// unique keeps the first of members with the same key.
func unique(members []string) []string {
	seen := make(map[string]bool)
	var out []string
	for _, m := range members {
		key, _, _ := strings.Cut(m, ":")
		if !seen[key] {
			seen[key] = true
			out = append(out, m)
		}
	}
	return out
}

func randomValue(r *rand.Rand, depth int) string {
	scalars := []string{`"a"`, `"bcd"`, `""`, `"é"`, "0", "1", "4", "6", "2.5", "-3", "true", "false", "null", "1.0", "3e0"}
	if depth == 0 || r.IntN(3) == 0 {
		return scalars[r.IntN(len(scalars))]
	}
	if r.IntN(2) == 0 {
		items := make([]string, r.IntN(4))
		for i := range items {
			items[i] = randomValue(r, depth-1)
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	var members []string
	for _, name := range []string{"a", "b", "c"} {
		if r.IntN(2) == 0 {
			members = append(members, `"`+name+`":`+randomValue(r, depth-1))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// Every keyword that is the library's has an effect and a readable line.
func TestLibraryKeywords(t *testing.T) {
	for _, c := range []struct{ field, good, bad, want string }{
		{`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `1`, `"x"`, "f: must fit at least one of "},
		{`{"oneOf":[{"minimum":1},{"minimum":5}]}`, `3`, `7`, "f: must fit exactly one of "},
		{`{"not":{"type":"string"}}`, `1`, `"x"`, `f: must not fit {"type":"string"} (not)`},
		{`{"if":{"type":"string"},"then":{"minLength":2},"else":{"minimum":2}}`, `"xx"`, `1`, "f: must fit then or else where this is so: "},
		{`{"contains":{"const":1},"minContains":2}`, `[1,1]`, `[1]`, "f: must contain the right number of items that fit "},
		{`{"contains":{"const":1},"maxContains":1}`, `[1,2]`, `[1,1]`, "f: must contain the right number of items that fit "},
		{`{"prefixItems":[{"type":"string"}],"items":{"type":"integer"}}`, `["x",1]`, `["x","y"]`, "f: must have items, in this order, that fit "},
		{`{"patternProperties":{"^x":{"type":"integer"}},"additionalProperties":false,"properties":{"a":{}}}`, `{"x1":1,"a":2}`, `{"b":1}`, "f: must have fields that fit "},
		{`{"propertyNames":{"maxLength":1}}`, `{"a":1}`, `{"ab":1}`, "f: must have field names that fit "},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1,"b":1}`, `{"a":1}`, "f: must have the fields that others need: "},
		{`{"dependentSchemas":{"a":{"required":["b"]}}}`, `{"b":1}`, `{"a":1}`, "f: must fit what its fields ask for: "},
		{`{"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false}`, `{"a":1}`, `{"b":1}`, "f: has fields the schema does not know"},
		{`{"prefixItems":[{}],"unevaluatedItems":false}`, `[1]`, `[1,2]`, "f: has items the schema does not know"},
		{`{"items":{"anyOf":[{"type":"integer"}]}}`, `[1]`, `[1,"x"]`, "f[1]: must fit at least one of "},
		{`{"properties":{"a":{"properties":{"b":{"not":{}}}}}}`, `{"a":{}}`, `{"a":{"b":1}}`, "f.a.b: must not fit "},
	} {
		i := load(t, typed(`"properties":{"f":`+c.field+`},"x-snens":{"stdin":{"mode":"json","fields":["f"]}}`))
		if _, err := i.Build([]byte(`{"f":` + c.good + `}`)); err != nil {
			t.Errorf("%s refuses %s: %v", c.field, c.good, err)
		}
		_, err := i.Build([]byte(`{"f":` + c.bad + `}`))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s, %s: got %v, want %s", c.field, c.bad, err, c.want)
		}
	}
}
