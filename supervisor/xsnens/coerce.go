package xsnens

import "snens/internal/strictjson"

// coerce changes v in place toward the types that s declares, and writes every
// number without an exponent. A string becomes a number or a boolean only when
// no string is declared and its text is exactly that; nothing else is changed.
// It goes into items and properties, not into allOf and the like.
func coerce(s *schema, v *strictjson.Value) {
	switch v.Kind {
	case strictjson.String:
		coerceString(s, v)
	case strictjson.Array:
		if s.items == nil {
			return
		}
		for i := range v.Items {
			coerce(s.items, &v.Items[i])
		}
	case strictjson.Object:
		for i := range v.Members {
			m := &v.Members[i]
			if sub := s.property(m.Name); sub != nil {
				coerce(sub, &m.Value)
			} else if s.additional != nil {
				coerce(s.additional, &m.Value)
			}
		}
	}
}

func coerceString(s *schema, v *strictjson.Value) {
	if len(s.types) == 0 || s.hasType("string") {
		return
	}
	if s.hasType("boolean") && (v.Text == "true" || v.Text == "false") {
		*v = strictjson.Value{Kind: strictjson.Bool, Bool: v.Text == "true"}
		return
	}
	number := s.hasType("number")
	if !number && !s.hasType("integer") {
		return
	}
	plain, whole, err := strictjson.PlainNumber(v.Text, maxDigits)
	if err == nil && (whole || number) {
		*v = strictjson.Value{Kind: strictjson.Number, Text: plain}
	}
}

// plainNumbers writes every number in v without an exponent, and reports those
// that are too large for that.
func plainNumbers(p *problems, v *strictjson.Value, path string) {
	if p.full() {
		return
	}
	switch v.Kind {
	case strictjson.Number:
		plain, _, err := strictjson.PlainNumber(v.Text, maxDigits)
		if err != nil {
			p.add(path, "must be a number of at most 1000 digits when written without an exponent", "send a smaller number")
			return
		}
		v.Text = plain
	case strictjson.Array:
		for i := range v.Items {
			plainNumbers(p, &v.Items[i], strictjson.Index(path, i))
		}
	case strictjson.Object:
		for i := range v.Members {
			plainNumbers(p, &v.Members[i].Value, strictjson.Field(path, v.Members[i].Name))
		}
	}
}
