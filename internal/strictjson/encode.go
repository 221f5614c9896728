package strictjson

import (
	"sort"
)

// AppendJSON appends v as compact JSON: no white space, members in their
// order, numbers as written, in strings only what JSON demands is escaped.
func (v *Value) AppendJSON(dst []byte) []byte {
	switch v.Kind {
	case Bool:
		if v.Bool {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case Number:
		return append(dst, v.Text...)
	case String:
		return AppendString(dst, v.Text)
	case Array:
		dst = append(dst, '[')
		for i := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = v.Items[i].AppendJSON(dst)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for i := range v.Members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendString(dst, v.Members[i].Name)
			dst = append(dst, ':')
			dst = v.Members[i].Value.AppendJSON(dst)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

// JSON is AppendJSON to a new slice.
func (v *Value) JSON() []byte { return v.AppendJSON(nil) }

// AppendString appends s as a JSON string. s must be UTF-8.
func AppendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, `\b`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(dst, s[start:]...), '"')
}

// Key is a text that two values share exactly when JSON Schema calls them
// equal: members in any order, numbers by value (1.0 equals 1). A number of
// more than maxDigits digits keeps its own text.
func (v *Value) Key(maxDigits int) string {
	sorted := v.sorted(maxDigits)
	return string(sorted.AppendJSON(nil))
}

func (v *Value) sorted(maxDigits int) Value {
	out := *v
	switch v.Kind {
	case Number:
		if plain, _, err := PlainNumber(v.Text, maxDigits); err == nil {
			out.Text = plain
		}
	case Array:
		out.Items = make([]Value, len(v.Items))
		for i := range v.Items {
			out.Items[i] = v.Items[i].sorted(maxDigits)
		}
	case Object:
		out.Members = make([]Member, len(v.Members))
		for i := range v.Members {
			out.Members[i] = Member{v.Members[i].Name, v.Members[i].Value.sorted(maxDigits)}
		}
		sort.Slice(out.Members, func(i, j int) bool { return out.Members[i].Name < out.Members[j].Name })
	}
	return out
}
