package strictjson

import (
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string in quotes. The bytes are known to be UTF-8.
func (p *parser) str() (string, *Error) {
	open := p.pos
	p.pos++
	start := p.pos
	var buf []byte // nil as long as there is no escape
	for p.pos < len(p.data) {
		switch c := p.data[p.pos]; {
		case c == '"':
			s := p.data[start:p.pos]
			p.pos++
			if buf == nil {
				return string(s), nil
			}
			return string(append(buf, s...)), nil
		case c < 0x20:
			return "", p.fail(p.pos, `control character 0x%02x in a string; write it as \u%04x`, c, c)
		case c == '\\':
			buf = append(buf, p.data[start:p.pos]...)
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			buf = utf8.AppendRune(buf, r)
			start = p.pos
		default:
			p.pos++
		}
	}
	return "", p.fail(open, "the string that begins here has no closing quote")
}

// escape reads one escape, both halves of a surrogate pair included.
func (p *parser) escape() (rune, *Error) {
	at := p.pos
	p.pos++
	if p.pos == len(p.data) {
		return 0, p.fail(at, "ends within an escape")
	}
	c := p.data[p.pos]
	p.pos++
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		r, ok := p.hex4()
		if !ok {
			return 0, p.fail(at, `\u needs four hexadecimal digits`)
		}
		if !utf16.IsSurrogate(r) {
			return r, nil
		}
		if p.pos+1 < len(p.data) && p.data[p.pos] == '\\' && p.data[p.pos+1] == 'u' {
			p.pos += 2
			low, ok := p.hex4()
			if full := utf16.DecodeRune(r, low); ok && full != utf8.RuneError {
				return full, nil
			}
		}
		return 0, p.fail(at, `\u%04x is half of a surrogate pair`, r)
	}
	p.pos--
	return 0, p.fail(at, `\%s is not a JSON escape`, p.char())
}

func (p *parser) hex4() (rune, bool) {
	if len(p.data)-p.pos < 4 {
		return 0, false
	}
	var r rune
	for _, c := range p.data[p.pos : p.pos+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	p.pos += 4
	return r, true
}
