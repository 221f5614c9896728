package discovery

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// HelpCap is how many bytes of help are looked at; the rest is for people.
const HelpCap = 4000

// lineCap bounds essence and usage: a description is read by a model in every turn.
const lineCap = 1000

// line is one non-empty line of help text, cleaned for reading.
type line struct {
	text   string // trimmed, every run of blanks is one space
	indent int    // columns before the text
	para   int    // grows with each empty line: equal numbers are one paragraph
	row    bool   // two columns: a short first one, then at least two blanks
}

// cleanLines turns what a program printed into lines: at most HelpCap bytes,
// valid UTF-8, no terminal control, every line end understood.
func cleanLines(text string) []line {
	s := cutRunes(text, HelpCap)
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.TrimPrefix(s, "\uFEFF")
	s = stripEscapes(s)
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.Map(func(r rune) rune {
		switch r {
		case '\r', '\v', '\f', 0x85, 0x2028, 0x2029:
			return '\n'
		}
		return r
	}, s)
	var out []line
	para := 0
	for raw := range strings.SplitSeq(s, "\n") {
		raw = stripControls(unstrike(raw))
		text := strings.Join(strings.Fields(raw), " ")
		if text == "" {
			para++
			continue
		}
		out = append(out, line{text: cutLine(text), indent: indentOf(raw), para: para, row: isRow(raw)})
	}
	return out
}

// cutRunes returns at most limit bytes of s, never half a rune.
func cutRunes(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := limit
	for back := 0; back < utf8.UTFMax && cut > 0 && !utf8.RuneStart(s[cut]); back++ {
		cut--
	}
	return s[:cut]
}

func cutLine(s string) string {
	if len(s) <= lineCap {
		return s
	}
	return strings.TrimRight(cutRunes(s, lineCap-len("…")), " ") + "…"
}

// oneLine makes a single line of any text, for causes and notes.
func oneLine(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, s)
	return cutLine(strings.Join(strings.Fields(s), " "))
}

func indentOf(raw string) int {
	n := 0
	for _, r := range raw {
		switch r {
		case ' ':
			n++
		case '\t':
			n += 8 - n%8
		default:
			return n
		}
	}
	return n
}

// isRow tells a row of a table ("add   Add files", "-a\tall") from prose, in
// which two blanks stand only after the end of a sentence.
func isRow(raw string) bool {
	s := strings.Trim(raw, " \t")
	gap := strings.Index(s, "  ")
	if tab := strings.IndexByte(s, '\t'); tab >= 0 && (gap < 0 || tab < gap) {
		gap = tab
	}
	if gap < 0 {
		return false
	}
	first := strings.TrimRight(s[:gap], " \t")
	return !strings.HasSuffix(first, ".") && !strings.HasSuffix(first, "!") &&
		!strings.HasSuffix(first, "?") && len(strings.Fields(first)) <= 5
}

// unstrike undoes the overprinting of man and nroff: "N\bNA\bA" is "NA",
// "_\bx" is "x".
func unstrike(s string) string {
	if !strings.ContainsRune(s, '\b') {
		return s
	}
	out := make([]rune, 0, len(s))
	for _, r := range s {
		if r != '\b' {
			out = append(out, r)
		} else if len(out) > 0 {
			out = out[:len(out)-1]
		}
	}
	return string(out)
}

func stripControls(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

// stripEscapes removes terminal sequences: CSI (colours, cursor), the string
// sequences OSC, DCS, SOS, PM and APC, and the short ones. What is not
// finished ends at the line end, so a stray ESC cannot swallow the text.
func stripEscapes(s string) string {
	if !strings.ContainsAny(s, "\x1b\u009b\u009d") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch r {
		case 0x9b:
			i += size + csiLen(s[i+size:])
		case 0x9d:
			i += size + stringLen(s[i+size:])
		case 0x1b:
			i += size + escLen(s[i+size:])
		default:
			b.WriteString(s[i : i+size])
			i += size
		}
	}
	return b.String()
}

// escLen is the length of the sequence after an ESC.
func escLen(s string) int {
	if s == "" {
		return 0
	}
	switch c := s[0]; {
	case c == '[':
		return 1 + csiLen(s[1:])
	case strings.IndexByte("]PX^_", c) >= 0:
		return 1 + stringLen(s[1:])
	case c >= 0x20 && c <= 0x2f: // intermediates, then one final byte: ESC ( B
		n := 1
		for n < len(s) && s[n] >= 0x20 && s[n] <= 0x2f {
			n++
		}
		if n < len(s) && s[n] >= 0x30 && s[n] <= 0x7e {
			n++
		}
		return n
	case c >= 0x30 && c <= 0x7e:
		return 1
	}
	return 0
}

func csiLen(s string) int {
	n := 0
	for n < len(s) && s[n] >= 0x20 && s[n] <= 0x3f {
		n++
	}
	if n < len(s) && s[n] >= 0x40 && s[n] <= 0x7e {
		n++
	}
	return n
}

func stringLen(s string) int {
	for i := range len(s) {
		switch {
		case s[i] == '\a':
			return i + 1
		case s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\':
			return i + 2
		case s[i] == '\n':
			return i
		}
	}
	return len(s)
}
