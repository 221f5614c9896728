package engine

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// spelling is one way in which programs write a string into JSON.
type spelling struct {
	ascii   bool   // everything outside of ASCII is escaped, and DEL
	lines   bool   // U+2028 and U+2029 are escaped, as Go does
	more    string // ASCII characters escaped beside those that must be
	lone    bool   // a byte that is no UTF-8 is half a surrogate pair, as in Python
	numbers bool   // control characters have no short form: \u000a for \n
}

// usualSpellings are those of the encoders in wide use: jq and JavaScript, Go
// without and with its care for HTML, Python and PHP, .NET. Each is searched
// for with hex digits of both cases, and with / as it is and as \/.
var usualSpellings = []spelling{
	{},
	{lines: true},
	{lines: true, more: "<>&"},
	{ascii: true},
	{ascii: true, lone: true},
	{ascii: true, more: "<>&"},
	{ascii: true, more: "<>&'\"+`"},
	{numbers: true},
	{ascii: true, numbers: true},
}

// spellings returns secret as it is and as JSON strings hold it, each once.
func spellings(secret []byte) [][]byte {
	all := []string{string(secret)}
	for _, s := range usualSpellings {
		for _, hex := range []string{`\u%04x`, `\u%04X`} {
			text := s.write(string(secret), hex)
			all = append(all, text, strings.ReplaceAll(text, "/", `\/`))
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	out := make([][]byte, len(all))
	for i, text := range all {
		out[i] = []byte(text)
	}
	return out
}

// write is text inside a JSON string; hex is the format of an escape.
func (s spelling) write(text, hex string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		short := strings.IndexRune("\"\\\b\f\n\r\t", r)
		switch {
		case r == utf8.RuneError && n == 1 && s.lone:
			fmt.Fprintf(&b, hex, 0xdc00|rune(text[i]))
		case strings.ContainsRune(s.more, r), s.numbers && r < ' ':
			fmt.Fprintf(&b, hex, r)
		case short >= 0:
			b.WriteString(`\` + `"\bfnrt`[short:short+1])
		case r < ' ', s.lines && (r == 0x2028 || r == 0x2029 || r == utf8.RuneError && n == 1), s.ascii && r >= 0x7f && r <= 0xffff:
			fmt.Fprintf(&b, hex, r)
		case s.ascii && r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, hex+hex, high, low)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}
