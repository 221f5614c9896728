package strictjson

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Options bound what Parse accepts. Zero means the default.
type Options struct {
	MaxBytes  int // default 16 MiB
	MaxDepth  int // nested arrays and objects; default 64, never more than 1000
	MaxTokens int // values and keys; default 100,000
}

// The defaults of Options, and the depth no option can pass: encoding/json
// stops at 10,000, and printing is recursive.
const (
	DefaultMaxBytes  = 16 << 20
	DefaultMaxDepth  = 64
	DefaultMaxTokens = 100_000
	depthCeiling     = 1000
)

func (o Options) withDefaults() Options {
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.MaxDepth <= 0 {
		o.MaxDepth = DefaultMaxDepth
	}
	o.MaxDepth = min(o.MaxDepth, depthCeiling)
	if o.MaxTokens <= 0 {
		o.MaxTokens = DefaultMaxTokens
	}
	return o
}

// Parse reads exactly one JSON value. A failure is an *Error.
func Parse(data []byte, opt Options) (Value, error) {
	p := &parser{data: data, opt: opt.withDefaults()}
	v, err := p.document()
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

// step is one level of the path to the value being read.
type step struct {
	name  string
	index int // -1 for a member
}

type parser struct {
	data   []byte
	pos    int
	depth  int
	tokens int
	path   []step
	opt    Options
}

// fail makes the error for byte offset at.
func (p *parser) fail(at int, format string, args ...any) *Error {
	at = min(at, len(p.data))
	before := p.data[:at]
	start := bytes.LastIndexByte(before, '\n') + 1
	e := &Error{
		Line:   bytes.Count(before, []byte{'\n'}) + 1,
		Column: utf8.RuneCount(before[start:]) + 1,
		Msg:    fmt.Sprintf(format, args...),
	}
	for _, s := range p.path {
		if s.index >= 0 {
			e.Path = Index(e.Path, s.index)
		} else {
			e.Path = Field(e.Path, s.name)
		}
	}
	return e
}

// document reads the one value and the white space around it. It returns a
// plain error so that a nil *Error never hides in one.
func (p *parser) document() (Value, error) {
	if len(p.data) > p.opt.MaxBytes {
		return Value{}, p.fail(0, "is %d bytes long; at most %d are read", len(p.data), p.opt.MaxBytes)
	}
	if bytes.HasPrefix(p.data, []byte("\xef\xbb\xbf")) {
		return Value{}, p.fail(0, "begins with a byte order mark; save it as UTF-8 without one")
	}
	if at := firstInvalid(p.data); at >= 0 {
		return Value{}, p.fail(at, "byte 0x%02x is not UTF-8", p.data[at])
	}
	v, err := p.value()
	if err != nil {
		return Value{}, err
	}
	p.space()
	if p.pos < len(p.data) {
		return Value{}, p.fail(p.pos, "something follows the value; exactly one JSON value is read")
	}
	return v, nil
}

func firstInvalid(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

func (p *parser) space() {
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// peek is the next byte after white space, 0 at the end.
func (p *parser) peek() byte {
	p.space()
	if p.pos == len(p.data) {
		return 0
	}
	return p.data[p.pos]
}

func (p *parser) token() *Error {
	p.tokens++
	if p.tokens > p.opt.MaxTokens {
		return p.fail(p.pos, "more than %d values and keys", p.opt.MaxTokens)
	}
	return nil
}

func (p *parser) value() (Value, *Error) {
	c := p.peek()
	if err := p.token(); err != nil {
		return Value{}, err
	}
	switch {
	case c == '{':
		return p.nested(p.object)
	case c == '[':
		return p.nested(p.array)
	case c == '"':
		s, err := p.str()
		return Value{Kind: String, Text: s}, err
	case c == '-', c >= '0' && c <= '9':
		return p.number()
	}
	for _, w := range literals {
		if bytes.HasPrefix(p.data[p.pos:], []byte(w.word)) {
			p.pos += len(w.word)
			return w.value, nil
		}
	}
	if p.pos == len(p.data) {
		return Value{}, p.fail(p.pos, "ends where a value should begin")
	}
	return Value{}, p.fail(p.pos, "%s where a value should begin", p.char())
}

var literals = [...]struct {
	word  string
	value Value
}{
	{"true", Value{Kind: Bool, Bool: true}},
	{"false", Value{Kind: Bool}},
	{"null", Value{}},
}

// char names the character at the position for an error.
func (p *parser) char() string {
	r, _ := utf8.DecodeRune(p.data[p.pos:])
	return fmt.Sprintf("%q", r)
}

func (p *parser) nested(read func() (Value, *Error)) (Value, *Error) {
	if p.depth == p.opt.MaxDepth {
		return Value{}, p.fail(p.pos, "nested deeper than %d levels", p.opt.MaxDepth)
	}
	p.depth++
	v, err := read()
	p.depth--
	return v, err
}

func (p *parser) array() (Value, *Error) {
	v := Value{Kind: Array}
	p.pos++ // the bracket
	if p.peek() == ']' {
		p.pos++
		return v, nil
	}
	for {
		p.path = append(p.path, step{index: len(v.Items)})
		item, err := p.value()
		if err != nil {
			return v, err
		}
		p.path = p.path[:len(p.path)-1]
		v.Items = append(v.Items, item)
		more, err := p.more(']')
		if err != nil || !more {
			return v, err
		}
	}
}

// more reads the comma (true) or the closing bracket (false) after an item.
func (p *parser) more(closing byte) (bool, *Error) {
	switch c := p.peek(); {
	case c == ',':
		p.pos++
		return true, nil
	case c == closing:
		p.pos++
		return false, nil
	case p.pos == len(p.data):
		return false, p.fail(p.pos, "ends before its closing %q", rune(closing))
	}
	return false, p.fail(p.pos, "%s where ',' or %q should be", p.char(), rune(closing))
}

// manyMembers is where looking through the names becomes dearer than a map.
const manyMembers = 16

func (p *parser) object() (Value, *Error) {
	v := Value{Kind: Object}
	var seen map[string]bool
	p.pos++ // the brace
	if p.peek() == '}' {
		p.pos++
		return v, nil
	}
	for {
		at := p.pos
		name, err := p.name()
		if err != nil {
			return v, err
		}
		if len(v.Members) == manyMembers {
			seen = make(map[string]bool, 2*manyMembers)
			for _, m := range v.Members {
				seen[m.Name] = true
			}
		}
		if seen[name] || seen == nil && v.Get(name) != nil {
			return v, p.fail(at, "the key %q is given twice; give it once", name)
		}
		if seen != nil {
			seen[name] = true
		}
		p.path = append(p.path, step{name: name, index: -1})
		member, err := p.value()
		if err != nil {
			return v, err
		}
		p.path = p.path[:len(p.path)-1]
		v.Members = append(v.Members, Member{name, member})
		more, err := p.more('}')
		if err != nil || !more {
			return v, err
		}
		p.space()
	}
}

// name reads a key and its colon.
func (p *parser) name() (string, *Error) {
	if p.peek() != '"' {
		if p.pos == len(p.data) {
			return "", p.fail(p.pos, "ends before its closing '}'")
		}
		return "", p.fail(p.pos, "%s where a key in double quotes should be", p.char())
	}
	if err := p.token(); err != nil {
		return "", err
	}
	s, err := p.str()
	if err != nil {
		return "", err
	}
	if p.peek() != ':' {
		return "", p.fail(p.pos, "no ':' after the key %q", s)
	}
	p.pos++
	return s, nil
}

func (p *parser) number() (Value, *Error) {
	start := p.pos
	for p.pos < len(p.data) && strings.IndexByte("+-.0123456789eE", p.data[p.pos]) >= 0 {
		p.pos++
	}
	text := string(p.data[start:p.pos])
	if !IsNumber(text) {
		return Value{}, p.fail(start, "%s is not a JSON number", clip(text))
	}
	return Value{Kind: Number, Text: text}, nil
}

func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}
