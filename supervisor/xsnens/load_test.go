package xsnens_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"snens/supervisor/xsnens"
)

// load reads a schema that must be good.
func load(t testing.TB, schema string) *xsnens.Interface {
	t.Helper()
	i, err := xsnens.Load([]byte(schema))
	if err != nil {
		t.Fatalf("Load: %v\n%s", err, schema)
	}
	return i
}

// typed is a schema with these members beside type.
func typed(members string) string { return `{"type":"object",` + members + `}` }

// faulty checks that a schema is refused with a line that holds want.
func faulty(t *testing.T, schema, want string) {
	t.Helper()
	_, err := xsnens.Load([]byte(schema))
	var e *xsnens.LoadError
	if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
		t.Errorf("%s\n got %v\nwant %s", short(schema), err, want)
	}
}

func short(s string) string { return s[:min(len(s), 300)] }

func TestReferencesAreBounded(t *testing.T) {
	chain := func(n int) string {
		var defs []string
		for k := range n {
			defs = append(defs, fmt.Sprintf(`"d%d":{"items":{"$ref":"#/$defs/d%d"}}`, k, k+1))
		}
		defs = append(defs, fmt.Sprintf(`"d%d":{"type":"string"}`, n))
		return typed(`"properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{` + strings.Join(defs, ",") + `},"x-snens":{}`)
	}
	load(t, chain(15)) // 16 references
	faulty(t, chain(16), "more than 16 references lead one to the next")

	var laughs []string
	for k := range 10 {
		ref := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, k+1)
		laughs = append(laughs, fmt.Sprintf(`"d%d":{"anyOf":[%s]}`, k, strings.Join(slices.Repeat([]string{ref}, 20), ",")))
	}
	laughs = append(laughs, `"d10":{}`)
	faulty(t, typed(`"properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{`+strings.Join(laughs, ",")+`},"x-snens":{}`),
		"with its references the schema is larger than 262144 bytes")

	faulty(t, typed(`"properties":{"a":{"$ref":"#"}},"x-snens":{}`), `"#" leads back to itself`)
	faulty(t, typed(`"properties":{"a":{"$ref":"#anchor"}},"x-snens":{}`), "is not a schema of this file")
	faulty(t, typed(`"properties":{"a":{"$ref":7}},"x-snens":{}`), "properties.a.$ref: must be a string")
	faulty(t, typed(`"properties":{"a":{"$ref":"#/type"}},"x-snens":{}`), "is not a schema of this file")
}

func TestReferencesFollowPointers(t *testing.T) {
	i := load(t, typed(`"properties":{
		"a":{"$ref":"#/$defs/x~1y~0z%20/anyOf/1"},"b":{"$ref":"#/properties/c"},"c":{"type":"integer"},
		"d":{"items":{"$ref":"#/$defs/yes"}}},
		"$defs":{"x/y~z ":{"anyOf":[{},{"type":"boolean"}]},"yes":true},
		"x-snens":{"stdin":{"mode":"json","fields":["a","b","c","d"]}}`))
	want := `{"type":"object","properties":{"a":{"type":"boolean"},"b":{"type":"integer"},"c":{"type":"integer"},"d":{"items":true}}}`
	if got := string(i.Parameters()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Definitions that nothing refers to are the author's business and stay.
func TestDefinitionsWithoutReferencesStay(t *testing.T) {
	schema := `{"type":"object","properties":{},"$defs":{"a":{"type":"string"}}}`
	if got := string(load(t, schema).Parameters()); got != schema {
		t.Errorf("got %s", got)
	}
}

func TestFilesThatAreTooLarge(t *testing.T) {
	faulty(t, typed(`"properties":{},"title":"`+strings.Repeat("x", 256<<10)+`"`), "at most 262144 are read")
	faulty(t, strings.Repeat("[", 100)+strings.Repeat("]", 100), "nested deeper than 64 levels")
	faulty(t, "\xef\xbb\xbf{}", "byte order mark")
	faulty(t, "", "it is not valid JSON")
}

func TestFields(t *testing.T) {
	i := load(t, typed(`"properties":{
		"z":{"type":"string","description":"Z","enum":["a","b"],"default":"a"},
		"b":{"type":"boolean"},
		"n":{"type":["integer","null"],"default":1.0},
		"l":{"type":"array","items":{"type":"string","enum":["x","y"]},"default":["x"]},
		"s":{"type":"string","secret":true}},
		"required":["s"],
		"x-snens":{"stdin":{"mode":"json","fields":["z","b","n","l","s"]}}`))
	want := []xsnens.Field{
		{Name: "z", Types: []string{"string"}, Description: "Z", Values: []string{"a", "b"}, Default: "a"},
		{Name: "b", Types: []string{"boolean"}, Values: []string{"true", "false"}},
		{Name: "n", Types: []string{"integer", "null"}, Default: "1"},
		{Name: "l", Types: []string{"array"}, ItemTypes: []string{"string"}, Values: []string{"x", "y"}, Default: `["x"]`},
		{Name: "s", Types: []string{"string"}, Required: true, Secret: true},
	}
	got := i.Fields()
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if !i.HasSecrets() || !i.ReadsStdin() || i.Open() || !i.HasField("z") || i.HasField("cwd") {
		t.Error("HasSecrets, ReadsStdin, Open or HasField is wrong")
	}
	if !strings.Contains(string(i.Parameters()), `"default":1.0`) {
		t.Errorf("the default was rewritten: %s", i.Parameters())
	}
}

func TestFaults(t *testing.T) {
	props := `"properties":{"s":{"type":"string"},"n":{"type":"integer"},"l":{"type":"array"}},`
	for _, c := range []struct{ members, want string }{
		{props + `"x-snens":[]`, "x-snens: must be an object, not an array"},
		{props + `"x-snens":{"argv":{}}`, "x-snens.argv: must be a list of items, not an object"},
		{props + `"x-snens":{"argv":["a\u0000"]}`, "x-snens.argv[0]: holds a NUL character"},
		{props + `"x-snens":{"argv":["` + strings.Repeat("x", 131072) + `"]}`, "is 131072 bytes long; an argument has at most 131071"},
		{props + `"x-snens":{"argv":[{"literal":1}]}`, "x-snens.argv[0].literal: must be a string, not 1"},
		{props + `"x-snens":{"argv":[{"group":"x"}]}`, "x-snens.argv[0].group: must be a list of items"},
		{props + `"x-snens":{"argv":[{"group":[{"field":"q"}]}]}`, `x-snens.argv[0].group[0].field: "q" is not in properties`},
		{props + `"x-snens":{"argv":[{"end_of_options":""}]}`, "x-snens.argv[0].end_of_options: must not be empty"},
		{props + `"x-snens":{"argv":[{"field":"s","allow_dash":"yes"}]}`, "allow_dash: must be true, or be left out"},
		{props + `"x-snens":{"argv":[{"field":"s","as":"xml"}]}`, `as: must be one of "json", "file"`},
		{props + `"x-snens":{"argv":[{"field":"l","as":"json","separator":","}]}`, "as: cannot stand with separator or map"},
		{props + `"x-snens":{"argv":[{"field":"s","map":{}}]}`, "map: must say what at least one value becomes"},
		{props + `"x-snens":{"argv":[{"field":"s","map":{"a":[1]}}]}`, "map.a: must be a string, not 1"},
		{props + `"x-snens":{"argv":[{"field":"s","when":[]}]}`, "when: must be an object"},
		{props + `"x-snens":{"argv":[{"field":"s","when":{"field":"s","is":"a","present":true}}]}`, "must have exactly one of"},
		{props + `"x-snens":{"argv":[{"field":"s","when":{"field":"s","in":[]}}]}`, "when.in: must be a list of at least one value"},
		{props + `"x-snens":{"argv":[{"flag":"-n","count":"n","max":1001}]}`, "max: must be from 1 to 1000"},
		{props + `"x-snens":{"argv":[{"flag":"-n","count":"n","max":"3"}]}`, "max: must be a whole number"},
		{props + `"x-snens":{"stdin":{}}`, "x-snens.stdin: needs a mode"},
		{props + `"x-snens":{"stdin":{"mode":"none","field":"s"}}`, "x-snens.stdin.field: is not known here"},
		{props + `"x-snens":{"stdin":{"mode":"json"}}`, "x-snens.stdin.fields: must be a list of names"},
		{props + `"x-snens":{"stdin":{"mode":"field"}}`, "x-snens.stdin.field: must be the name of a property"},
		{props + `"x-snens":{"env":{"q":"A"}}`, `x-snens.env.q: "q" is not in properties`},
		{props + `"x-snens":{"env":{"s":"A","n":"A"}}`, "is set by another field already"},
		{props + `"x-snens":{"exit":{"01":"ok"}}`, `x-snens.exit.01: is no exit code`},
		{props + `"x-snens":{"limits":{"timeout":"169h"}}`, "at most 168h"},
		{props + `"x-snens":{"limits":{"timeout":0}}`, "above zero"},
		{props + `"x-snens":{"limits":{"memory":"9999999999GiB"}}`, "x-snens.limits.memory: must be a size"},
		{props + `"x-snens":{"limits":{"cpu":1}}`, "x-snens.limits.cpu: is not known here"},
		{props + `"x-snens":{"hints":{"network":1}}`, "x-snens.hints.network: must be true or false"},
		{props + `"x-snens":{"examples":{}}`, "x-snens.examples: must be a list"},
		{props + `"x-snens":{"examples":[{"in":[],"argv":[]}]}`, "x-snens.examples[0].in: must be an object"},
		{props + `"x-snens":{"examples":[{"in":{}}]}`, "x-snens.examples[0].argv: must list the arguments"},
		{props + `"x-snens":{"examples":[{"in":{},"argv":[1]}]}`, "x-snens.examples[0].argv[0]: must be a string"},
		{`"properties":{"":{}},"x-snens":{}`, "a field needs a name"},
		{`"properties":{"a":false},"x-snens":{}`, "properties.a: is false"},
		{`"properties":{"a":1},"x-snens":{}`, "properties.a: must be a schema"},
		{`"properties":{"a":{"type":[]}},"x-snens":{}`, "must name at least one type"},
		{`"properties":{"a":{"type":["string","string"]}},"x-snens":{}`, `names "string" twice`},
		{`"properties":{"a":{"minimum":"1"}},"x-snens":{}`, "properties.a.minimum: must be a number"},
		{`"properties":{"a":{"minimum":1e9999}},"x-snens":{}`, "needs more than 1000 digits"},
		{`"properties":{"a":{"multipleOf":0}},"x-snens":{}`, "must be greater than 0"},
		{`"properties":{"a":{"anyOf":[{"multipleOf":0}]}},"x-snens":{}`, "must be a number greater than 0"},
		{`"properties":{"a":{"anyOf":[{"minimum":1e999}]}},"x-snens":{}`, "cannot be compared exactly here"},
		{`"properties":{"a":{"not":{"enum":[{"k":[9007199254740993]}]}}},"x-snens":{}`, "properties.a.not.enum[0].k[0]: 9007199254740993 cannot be compared exactly here"},
		{`"properties":{"a":{"pattern":1}},"x-snens":{}`, "properties.a.pattern: must be a string"},
		{`"properties":{"a":{"anyOf":[{"secret":true}]}},"x-snens":{}`, "may stand only on a property of the whole schema"},
		{`"properties":{"a":{"not":{"$dynamicRef":"#a"}}},"x-snens":{}`, "is not supported"},
		{`"properties":{"a":{"anyOf":[1]}},"x-snens":{}`, "properties.a.anyOf[0]: must be a schema"},
		{`"properties":{"a":{"oneOf":{}}},"x-snens":{}`, "properties.a.oneOf: cannot be read"},
		{`"properties":{"a":{"not":{"pattern":"("}}},"x-snens":{}`, "properties.a.not: cannot be used"},
		{`"properties":{"a":{"uniqueItems":1}},"x-snens":{}`, "properties.a.uniqueItems: must be true or false"},
		{`"properties":{"a":{"required":"x"}},"x-snens":{}`, "properties.a.required: must be a list of names"},
		{`"properties":{"a":{"items":[{}]}},"x-snens":{}`, "is called prefixItems since draft 2020-12"},
		{`"properties":{"a":{"allOf":[]}},"x-snens":{}`, "properties.a.allOf: must be a list of at least one schema"},
		{`"properties":{"a":{"secret":"yes"}},"x-snens":{}`, "properties.a.secret: must be true or false"},
		{`"secret":true,"properties":{},"x-snens":{}`, "secret: may stand only on a property"},
		{`"properties":{"a":{"properties":[]}},"x-snens":{}`, "must be an object of schemas"},
	} {
		faulty(t, typed(c.members), c.want)
	}
}

// The library reads keywords in any case; a schema means the same here.
func TestKeywordsAreExact(t *testing.T) {
	i := load(t, typed(`"properties":{"a":{"anyOf":[{"MinLength":9,"ENUM":["q"]}],"Type":"integer"}},"x-snens":{"argv":[{"field":"a"}]}`))
	if _, err := i.Build([]byte(`{"a":"x"}`)); err != nil {
		t.Errorf("keywords in other case have an effect: %v", err)
	}
}

func TestDraft7(t *testing.T) {
	i := load(t, typed(`"$schema":"http://json-schema.org/draft-07/schema#",
		"properties":{"a":{"type":"array","items":[{"type":"string"},{"type":"integer"}],"additionalItems":false}},
		"dependencies":{"a":["b"]},
		"x-snens":{"stdin":{"mode":"json","fields":["a"]}}`))
	for in, want := range map[string]string{
		`{"a":["x",1]}`:   "arguments: must fit what its fields ask for",
		`{"a":[1]}`:       "a: must have items, in this order",
		`{"a":["x",1,2]}`: "a: must have items, in this order",
	} {
		if _, err := i.Build([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// An Interface can be asked for its examples as they were written.
func TestExamples(t *testing.T) {
	i := load(t, typed(`"properties":{"k":{"type":"string","secret":true},"a":{"type":"string"}},
		"x-snens":{"argv":[{"field":"a"}],"env":{"k":"K"},"examples":[
			{"in":{"k":"stand-in","a":"x"},"argv":["x"],"env":{"K":"stand-in"}},
			{"in":{"k":"stand-in","a":"stand-in"},"argv":["stand-in"]},
			{"in":{"k":"q"},"argv":[],"env":{}},
			{"in":{"z":1,"y":2},"argv":[]}]}`))
	if ex := i.Examples(); len(ex) != 4 || string(ex[0].In) != `{"k":"stand-in","a":"x"}` || ex[0].Stdin != nil {
		t.Errorf("%+v", ex)
	}
	var got []string
	for _, err := range i.CheckExamples() {
		got = append(got, err.Error())
	}
	want := []string{
		`x-snens.examples[1]: argv holds the value of a secret field; write another stand-in into "in"`,
		`x-snens.examples[2]: env is {"K":"q"}, not {}`,
		`x-snens.examples[3]: in is refused: y: is not a field of this tool; accepted: "k", "a" | z: is not a field of this tool; did you mean "k"? accepted: "k", "a"`,
	}
	want[2] = strings.ReplaceAll(want[2], `did you mean "k"? `, "")
	for n := range got { // one letter is near any other letter; that hint is not the point here
		got[n] = strings.NewReplacer(`did you mean "k"? `, "", `did you mean "a"? `, "").Replace(got[n])
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// Only a default that no call can be made with is a fault.
func TestDefaultsThatCanServe(t *testing.T) {
	const props = `"properties":{"a":{"type":"string","default":"-x"},"b":{"type":"string"},"c":{"type":"string","default":"y"}},`
	for _, argv := range []string{
		`{"flag":"--a","field":"a"}`,
		`{"field":"a","allow_dash":true}`,
		`{"end_of_options":"--"},{"field":"a"}`,
		`{"end_of_options":"--","when":{"field":"b","present":true}},{"field":"a"}`,
		`{"field":"a","when":{"field":"b","present":true}}`,
		`{"field":"a","when":{"field":"c","is":"z"}}`,
		`{"field":"a","when":{"field":"a","is":"z"}}`,
		`{"group":[{"field":"a"}],"when":{"field":"a","absent":true}}`,
		`{"field":"a","as":"file"}`,
	} {
		load(t, typed(props+`"x-snens":{"argv":[`+argv+`]}`))
	}
	for _, argv := range []string{
		`{"field":"a"},{"end_of_options":"--"}`,
		`{"field":"a","when":{"field":"a","is":"-x"}}`,
		`{"group":[{"field":"a","when":{"field":"a","present":true}}],"when":{"field":"c","present":true}}`,
	} {
		faulty(t, typed(props+`"x-snens":{"argv":[`+argv+`]}`), "properties.a.default: must not begin with")
	}
	faulty(t, typed(`"properties":{"f.g":{"type":"string","default":"`+strings.Repeat("x", 131072)+`"}},"x-snens":{"argv":[{"field":"f.g"}]}`),
		`properties["f.g"].default: makes an argument of 131072 bytes`)
}
