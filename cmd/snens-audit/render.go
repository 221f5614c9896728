package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"snens/broker/action"
	"snens/internal/escape"
	"snens/internal/strictjson"
)

// frame are the fields that each line shows in a place of their own, or not at
// all: the hashes are for snens-priv audit verify.
var frame = []string{"seq", "time", "kind", "id", "prev", "hash"}

// print prints a record.
func (a *app) print(r record) error {
	if a.options.json {
		_, err := a.out.WriteString(asciiJSON(string(r.object.JSON())) + "\n")
		return err
	}
	if _, err := a.out.WriteString(oneLine(r) + "\n"); err != nil {
		return err
	}
	// Asked about one request, its text is shown as people reviewed it.
	if a.options.id.IsZero() || r.Request == nil {
		return nil
	}
	for l := range strings.Lines(r.Request.Text()) {
		if _, err := a.out.WriteString("    " + escape.Line(l) + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// oneLine is a record for people. Nothing in it can end the line or look like
// another field: each value is escaped, and quoted where it could.
func oneLine(r record) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %6d %-15s", action.FormatInstant(r.Time), r.Seq, r.Kind)
	if !r.ID.IsZero() {
		b.WriteString(" " + r.ID.String())
	}
	for _, m := range r.object.Members {
		if slices.Contains(frame, m.Name) {
			continue
		}
		name := m.Name
		if name == "claims" {
			name = "requester_claims"
		}
		value := m.Value
		if name == "request" { // its text is long; show ID prints it
			value = orNull(m.Value.Get("argv"))
			name = "argv"
		}
		if name == "argv" {
			fmt.Fprintf(&b, " argv=[%s]", words(value.Items))
			continue
		}
		writeValue(&b, name, value)
	}
	return b.String()
}

func orNull(v *strictjson.Value) strictjson.Value {
	if v == nil {
		return strictjson.Value{}
	}
	return *v
}

// writeValue writes name=value, and objects as name.member=value.
func writeValue(b *strings.Builder, name string, v strictjson.Value) {
	switch v.Kind {
	case strictjson.Object:
		if raw := v.Get("base64"); raw != nil && len(v.Members) == 1 {
			fmt.Fprintf(b, " %s=base64:%s", name, word(raw.Text))
			return
		}
		for _, m := range v.Members {
			writeValue(b, name+"."+escape.Escape(m.Name), m.Value)
		}
	case strictjson.Array:
		for i, item := range v.Items {
			writeValue(b, fmt.Sprintf("%s.%d", name, i), item)
		}
	default:
		fmt.Fprintf(b, " %s=%s", name, scalar(v))
	}
}

func words(items []strictjson.Value) string {
	out := make([]string, len(items))
	for i, v := range items {
		if raw := v.Get("base64"); raw != nil {
			out[i] = "base64:" + word(raw.Text)
			continue
		}
		out[i] = scalar(v)
	}
	return strings.Join(out, " ")
}

func scalar(v strictjson.Value) string {
	if v.Kind == strictjson.String {
		return word(v.Text)
	}
	return string(v.JSON())
}

// word is a text as one word: in quotes when it is empty or has what separates.
func word(s string) string {
	s = escape.Escape(s)
	if s == "" || strings.ContainsAny(s, ` "'[]=`) {
		return `"` + strings.ReplaceAll(s, `"`, `\u{22}`) + `"`
	}
	return s
}

// asciiJSON spells what is not ASCII in JSON's own way: the values stay the
// same, and a terminal has nothing to obey.
func asciiJSON(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x7f:
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		}
	}
	return b.String()
}
