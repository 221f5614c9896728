package xsnens

import "snens/internal/strictjson"

// holds says what the value of a schema keyword is made of.
type holds int

const (
	unknown    holds = iota
	annotation       // says something to readers, checks nothing
	refused          // a keyword with which a schema could not be read on its own
	definition       // a map of schemas that are only referred to
	plainValue       // a value that this package checks itself
	libValue         // a value that the library checks
	oneSchema        // a schema (items: in draft 7 also a list)
	schemaList
	schemaMap
)

// keyword sorts the keywords of JSON Schema draft-07 and 2020-12. A function,
// not a map: nothing is to be built at start.
func keyword(name string) holds {
	switch name {
	case "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "secret",
		"$comment", "$schema", "$id", "$anchor", "format",
		"contentEncoding", "contentMediaType", "contentSchema":
		return annotation
	case "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary":
		return refused
	case "$defs", "definitions":
		return definition
	case "type", "enum", "const", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
		"minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems",
		"minProperties", "maxProperties", "required":
		return plainValue
	case "minContains", "maxContains", "dependentRequired":
		return libValue
	case "items", "additionalItems", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else",
		"unevaluatedItems", "unevaluatedProperties":
		return oneSchema
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return schemaList
	case "properties", "patternProperties", "dependentSchemas", "dependencies":
		return schemaMap
	}
	return unknown
}

// exactKeyword says that a keyword compares numbers, which a float may not hold.
func exactKeyword(name string) bool {
	switch name {
	case "enum", "const", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return true
	}
	return false
}

// eachSchema replaces every direct subschema of v by what f makes of it. f gets
// its path. Names of properties are not taken for keywords.
func eachSchema(v strictjson.Value, path string, f func(strictjson.Value, string) strictjson.Value) strictjson.Value {
	if v.Kind != strictjson.Object {
		return v
	}
	out := strictjson.Value{Kind: strictjson.Object, Members: make([]strictjson.Member, len(v.Members))}
	for i, m := range v.Members {
		at := strictjson.Field(path, m.Name)
		value := m.Value
		kind := keyword(m.Name)
		switch {
		case kind == oneSchema && value.Kind == strictjson.Array, kind == schemaList && value.Kind == strictjson.Array:
			items := make([]strictjson.Value, len(value.Items))
			for j, item := range value.Items {
				items[j] = f(item, strictjson.Index(at, j))
			}
			value.Items = items
		case kind == oneSchema:
			value = f(value, at)
		case kind == schemaMap && value.Kind == strictjson.Object:
			members := make([]strictjson.Member, len(value.Members))
			for j, sub := range value.Members {
				members[j] = sub
				if sub.Value.Kind != strictjson.Array { // an array: names in dependencies
					members[j].Value = f(sub.Value, strictjson.Field(at, sub.Name))
				}
			}
			value.Members = members
		}
		out.Members[i] = strictjson.Member{Name: m.Name, Value: value}
	}
	return out
}
