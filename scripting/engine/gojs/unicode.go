package gojs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// span is a range of code points, both ends in it.
type span struct{ lo, hi rune }

// expand replaces \p{...} and \P{...} of a pattern with the u flag by classes of
// the same code points.
func expand(pattern string) (string, error) {
	var b strings.Builder
	inClass := false
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case c == '\\' && i+1 < len(pattern):
			next := pattern[i+1]
			if (next == 'p' || next == 'P') && strings.HasPrefix(pattern[i+2:], "{") {
				name, _, closed := strings.Cut(pattern[i+3:], "}")
				spans, err := property(name)
				if !closed || err != nil {
					return "", cmp.Or(err, fmt.Errorf("invalid property name in regular expression"))
				}
				if next == 'P' {
					spans = complement(spans)
				}
				writeClass(&b, spans, inClass)
				i += 3 + len(name)
				continue
			}
			b.WriteString(pattern[i : i+2]) // the second byte may begin a longer character
			i++
			continue
		case c == '[':
			inClass = true
		case c == ']':
			inClass = false
		}
		b.WriteByte(c)
	}
	return b.String(), nil
}

func writeClass(b *strings.Builder, spans []span, inClass bool) {
	if !inClass {
		b.WriteByte('[')
		defer b.WriteByte(']')
	}
	for _, s := range spans {
		fmt.Fprintf(b, `\u{%x}`, s.lo)
		if s.hi > s.lo {
			fmt.Fprintf(b, `-\u{%x}`, s.hi)
		}
	}
}

// property gives the code points that \p{name} means.
func property(name string) ([]span, error) {
	key, value, pair := strings.Cut(name, "=")
	tables, ok := lone(name)
	if pair {
		switch key {
		case "General_Category", "gc":
			tables, ok = category(value)
		case "Script", "sc":
			table := unicode.Scripts[value]
			tables, ok = []*unicode.RangeTable{table}, table != nil
		default:
			ok = false
		}
	}
	if !ok {
		return nil, fmt.Errorf(`\p{%s} is not known to this engine; engine: quickjs knows every property`, name)
	}
	if name == "Any" {
		return []span{{0, unicode.MaxRune}}, nil
	}
	return spansOf(tables), nil
}

func lone(name string) ([]*unicode.RangeTable, bool) {
	p := unicode.Properties
	switch name {
	case "Any":
		return nil, true
	case "ASCII":
		return []*unicode.RangeTable{{R16: []unicode.Range16{{Lo: 0, Hi: 0x7f, Stride: 1}}}}, true
	case "Alphabetic", "Alpha":
		return []*unicode.RangeTable{unicode.L, unicode.Nl, p["Other_Alphabetic"]}, true
	case "Uppercase", "Upper":
		return []*unicode.RangeTable{unicode.Lu, p["Other_Uppercase"]}, true
	case "Lowercase", "Lower":
		return []*unicode.RangeTable{unicode.Ll, p["Other_Lowercase"]}, true
	case "space":
		return []*unicode.RangeTable{unicode.White_Space}, true
	}
	if table := p[name]; table != nil && !strings.HasPrefix(name, "Other_") {
		return []*unicode.RangeTable{table}, true
	}
	return category(name)
}

func category(name string) ([]*unicode.RangeTable, bool) {
	if short, ok := unicode.CategoryAliases[name]; ok {
		name = short
	}
	table := unicode.Categories[name]
	return []*unicode.RangeTable{table}, table != nil
}

// spansOf joins tables into sorted ranges that do not touch.
func spansOf(tables []*unicode.RangeTable) []span {
	var all []span
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			all = append(all, span{lo, hi})
			return
		}
		for r := lo; r <= hi; r += stride {
			all = append(all, span{r, r})
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	var out []span
	for _, s := range all {
		if n := len(out); n > 0 && s.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, s.hi)
		} else {
			out = append(out, s)
		}
	}
	return out
}

func complement(spans []span) []span {
	var out []span
	next := rune(0)
	for _, s := range spans {
		if s.lo > next {
			out = append(out, span{next, s.lo - 1})
		}
		next = s.hi + 1
	}
	if next <= unicode.MaxRune {
		out = append(out, span{next, unicode.MaxRune})
	}
	return out
}
