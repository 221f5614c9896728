package xsnens

import (
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"

	"snens/internal/strictjson"
)

// checker checks a value against a schema, exactly, and says in which field
// what is wrong.
type checker struct {
	p    *problems
	hide bool // the value is secret: no error repeats it
}

// fits says whether v satisfies s.
func (s *schema) fits(v *strictjson.Value) bool {
	p := &problems{}
	(&checker{p: p}).check(s, v, "")
	return len(p.list) == 0
}

// check is the whole check of v. A value of the wrong type is not looked at
// further: everything else would be wrong as well.
func (c *checker) check(s *schema, v *strictjson.Value, path string) {
	if c.p.full() {
		return
	}
	if s.never {
		c.p.add(path, "is not allowed", "leave it out")
		return
	}
	if len(s.types) > 0 && !isOneOf(v, s.types) {
		rule := fmt.Sprintf("must be %s, not %s", typeWords(s.types), describe(v, c.hide))
		c.p.add(path, rule, typeFix(s, v))
		return
	}
	before := len(c.p.list)
	c.values(s, v, path)
	switch v.Kind {
	case strictjson.Number:
		c.number(s, v, path)
	case strictjson.String:
		c.text(s, v, path)
	case strictjson.Array:
		c.array(s, v, path)
	case strictjson.Object:
		c.object(s, v, path)
	}
	for _, sub := range s.allOf {
		c.check(sub, v, path)
	}
	if len(s.rest) > 0 && len(c.p.list) == before {
		c.library(s, v, path)
	}
}

func isOneOf(v *strictjson.Value, types []string) bool {
	for _, t := range types {
		if v.Kind.String() == t {
			return true
		}
		if t == "integer" && v.Kind == strictjson.Number {
			if _, whole, _ := strictjson.PlainNumber(v.Text, maxDigits); whole {
				return true
			}
		}
	}
	return false
}

func typeFix(s *schema, v *strictjson.Value) string {
	switch {
	case v.Kind == strictjson.Number && s.hasType("integer"):
		return "send a whole number"
	case s.hasType("string") && (v.Kind == strictjson.Number || v.Kind == strictjson.Bool):
		return "put it in double quotes"
	case s.hasType("array"):
		return "send a list, [...]"
	case s.hasType("object"):
		return "send an object, {...}"
	}
	return ""
}

// values is enum and const.
func (c *checker) values(s *schema, v *strictjson.Value, path string) {
	if s.enum == nil && s.constant == nil {
		return
	}
	key := v.Key(maxDigits)
	if s.constant != nil && s.constant.Key(maxDigits) != key {
		c.p.add(path, fmt.Sprintf("must be %s, not %s", short(s.constant), describe(v, c.hide)), "")
	}
	if s.enum == nil {
		return
	}
	for _, k := range s.enumKeys {
		if k == key {
			return
		}
	}
	const most = 30
	var allowed, words []string
	for i := range s.enum {
		if s.enum[i].Kind == strictjson.String {
			words = append(words, s.enum[i].Text)
		}
		if i < most {
			allowed = append(allowed, short(&s.enum[i]))
		}
	}
	if len(s.enum) > most {
		allowed = append(allowed, fmt.Sprintf("... (%d in all)", len(s.enum)))
	}
	fix := ""
	if v.Kind == strictjson.String {
		fix = strings.TrimSpace(didYouMean(v.Text, words))
	}
	c.p.add(path, fmt.Sprintf("must be one of %s, not %s", strings.Join(allowed, ", "), describe(v, c.hide)), fix)
}

func (c *checker) number(s *schema, v *strictjson.Value, path string) {
	if len(s.bounds) == 0 {
		return
	}
	n := rat(v)
	if n == nil {
		return // refused before any check
	}
	for _, b := range s.bounds {
		cmp := n.Cmp(b.value)
		rule := ""
		switch {
		case b.keyword == "minimum" && cmp < 0:
			rule = "must be at least "
		case b.keyword == "maximum" && cmp > 0:
			rule = "must be at most "
		case b.keyword == "exclusiveMinimum" && cmp <= 0:
			rule = "must be greater than "
		case b.keyword == "exclusiveMaximum" && cmp >= 0:
			rule = "must be less than "
		case b.keyword == "multipleOf" && !new(big.Rat).Quo(n, b.value).IsInt():
			rule = "must be a multiple of "
		}
		if rule != "" {
			c.p.add(path, rule+b.text+", not "+describe(v, c.hide), "")
		}
	}
}

func (c *checker) text(s *schema, v *strictjson.Value, path string) {
	for _, z := range s.sizes {
		if z.keyword == "minLength" || z.keyword == "maxLength" {
			c.size(z, utf8.RuneCountInString(v.Text), "character", path)
		}
	}
	if s.pattern != nil && !s.pattern.MatchString(v.Text) {
		c.p.add(path, fmt.Sprintf("must match the pattern %s, unlike %s", quote(s.pattern.String()), describe(v, c.hide)), "")
	}
}

// size checks one lower or upper bound of a length.
func (c *checker) size(z size, got int, unit, path string) {
	word := ""
	switch {
	case strings.HasPrefix(z.keyword, "min") && got < z.n:
		word = "at least"
	case strings.HasPrefix(z.keyword, "max") && got > z.n:
		word = "at most"
	default:
		return
	}
	if z.n != 1 {
		unit = plural(unit)
	}
	c.p.add(path, fmt.Sprintf("must have %s %d %s, not %d", word, z.n, unit, got), "")
}

func plural(unit string) string {
	if strings.HasSuffix(unit, "y") {
		return strings.TrimSuffix(unit, "y") + "ies"
	}
	return unit + "s"
}

func (c *checker) array(s *schema, v *strictjson.Value, path string) {
	for _, z := range s.sizes {
		if z.keyword == "minItems" || z.keyword == "maxItems" {
			c.size(z, len(v.Items), "item", path)
		}
	}
	if s.unique {
		seen := make(map[string]int, len(v.Items))
		for i := range v.Items {
			key := v.Items[i].Key(maxDigits)
			if first, ok := seen[key]; ok {
				c.p.add(strictjson.Index(path, i), fmt.Sprintf("must differ from item %d", first), "leave one of them out")
				continue
			}
			seen[key] = i
		}
	}
	if s.items != nil {
		for i := range v.Items {
			c.check(s.items, &v.Items[i], strictjson.Index(path, i))
		}
	}
}

func (c *checker) object(s *schema, v *strictjson.Value, path string) {
	for _, z := range s.sizes {
		if z.keyword == "minProperties" || z.keyword == "maxProperties" {
			c.size(z, len(v.Members), "field", path)
		}
	}
	for _, name := range s.required {
		if v.Get(name) == nil {
			c.p.add(strictjson.Field(path, name), "is required", "add it"+kindNote(s.property(name)))
		}
	}
	for i := range v.Members {
		if c.p.full() {
			return
		}
		m := &v.Members[i]
		at := strictjson.Field(path, m.Name)
		switch sub := s.property(m.Name); {
		case sub != nil:
			c.check(sub, &m.Value, at)
		case s.additional != nil && s.additional.never:
			c.p.add(at, "is not a field here", didYouMean(m.Name, s.names())+"accepted: "+list(s.names()))
		case s.additional != nil:
			c.check(s.additional, &m.Value, at)
		}
	}
}

func (s *schema) names() []string {
	out := make([]string, len(s.properties))
	for i, p := range s.properties {
		out[i] = p.name
	}
	return out
}

// kindNote is " (a string)" for the fix of a missing field.
func kindNote(s *schema) string {
	if s == nil || len(s.types) == 0 {
		return ""
	}
	return " (" + typeWords(s.types) + ")"
}

// library checks the keywords that are the library's.
func (c *checker) library(s *schema, v *strictjson.Value, path string) {
	value := libValueOf(v)
	for _, l := range s.rest {
		if l.resolved.Validate(value) == nil {
			continue
		}
		c.p.add(path, l.rule(), "")
	}
}

// rule puts the failure of a library check in words.
func (l libCheck) rule() string {
	words := map[string]string{
		"anyOf":                 "must fit at least one of ",
		"oneOf":                 "must fit exactly one of ",
		"not":                   "must not fit ",
		"if":                    "must fit then or else where this is so: ",
		"contains":              "must contain the right number of items that fit ",
		"prefixItems":           "must have items, in this order, that fit ",
		"items":                 "must have items, in this order, that fit ",
		"patternProperties":     "must have fields that fit ",
		"propertyNames":         "must have field names that fit ",
		"dependentRequired":     "must have the fields that others need: ",
		"dependentSchemas":      "must fit what its fields ask for: ",
		"dependencies":          "must fit what its fields ask for: ",
		"unevaluatedItems":      "has items the schema does not know; the rest must fit ",
		"unevaluatedProperties": "has fields the schema does not know; the rest must fit ",
	}
	return words[l.keyword] + l.shown + " (" + l.keyword + ")"
}
