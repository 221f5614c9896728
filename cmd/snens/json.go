package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// printJSON prints v for programs: indented, nothing escaped for HTML, and
// nothing in it that acts on a terminal where a person looks at it.
func (a *app) printJSON(v any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return failf(statusFailed, "cannot print the result: %w", err)
	}
	_, err := a.out.Write(tameJSON(text.Bytes()))
	return err
}

// tameJSON spells out, as \uXXXX, the control and format characters above
// ASCII (C1, directions, the invisible): encoding/json leaves them as they are.
// They can only be in strings, so the value stays the same. A byte that is no
// UTF-8 becomes U+FFFD, as every reader of JSON would have it.
func tameJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		plain := 0 // most of it, and copied in one piece
		for plain < len(text) && text[plain] < 0x7f {
			plain++
		}
		if plain > 0 {
			out, text = append(out, text[:plain]...), text[plain:]
			continue
		}
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			out = append(out, `\ufffd`...)
		case !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			out = append(out, text[:size]...)
		default:
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		}
		text = text[size:]
	}
	return out
}
