package xsnens

import "slices"

// checkUse reports combinations that cannot work: a value that would not be one
// text, a boolean as a value, keys that exclude each other.
func (r *reader) checkUse(it *valueItem) {
	keys := 0
	for _, key := range []string{"each", "spread", "separator", "map"} {
		if r.has(key) {
			keys++
		}
	}
	if keys > 1 {
		r.l.f.add(r.path, "each, spread, separator and map exclude each other")
		return
	}
	if it.as != "" && (r.has("separator") || r.has("map")) {
		r.fault("as", "cannot stand with separator or map")
		return
	}
	if it.as != "file" {
		r.noSecret("field", it.field)
	}
	types := it.field.schema.usedTypes()
	if it.mapping != nil {
		for _, t := range types {
			if t != "string" && t != "integer" && t != "boolean" {
				r.fault("map", "works for string, integer and boolean, but %s can be %s", quote(it.field.name), typeWords([]string{t}))
			}
		}
		return
	}
	if slices.Contains(types, "boolean") {
		r.fault("field", "%s is a boolean, which never becomes a value; use \"when_field\", \"when\" or \"map\"", quote(it.field.name))
	}
	if it.repeat || it.separator != "" {
		r.checkList(it, types)
		return
	}
	if it.as != "" {
		return
	}
	if slices.Contains(types, "array") {
		r.fault("field", "%s is an array; say how it becomes arguments: %s, \"separator\" or \"as\"", quote(it.field.name), r.repeatKey())
	}
	if slices.Contains(types, "object") {
		r.fault("field", "%s is an object; say \"as\": \"json\" or \"as\": \"file\"", quote(it.field.name))
	}
}

// repeatKey is the key that repeats this item, in double quotes.
func (r *reader) repeatKey() string {
	if r.has("flag") {
		return `"each"`
	}
	return `"spread"`
}

func (r *reader) checkList(it *valueItem, types []string) {
	if len(types) > 0 && !slices.Contains(types, "array") {
		r.fault("field", "%s is %s, not an array; each, spread and separator are for arrays", quote(it.field.name), typeWords(types))
	}
	items := it.field.schema.items
	if items == nil {
		return
	}
	for _, t := range items.types {
		switch {
		case t == "boolean":
			r.fault("field", "items of %s are booleans, which never become values", quote(it.field.name))
		case it.as == "" && (t == "array" || t == "object"):
			r.fault("field", "items of %s are %ss; say \"as\": \"json\" or \"as\": \"file\"", quote(it.field.name), t)
		case it.as == "" && t == "null":
			r.fault("field", "items of %s can be null, which is no argument", quote(it.field.name))
		}
	}
}
