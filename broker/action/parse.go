package action

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"snens/internal/escape"
)

// Parse turns a review text back into the request. It accepts exactly what
// Seal renders: the error names the first line that is different.
func Parse(text string) (*Sealed, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("cannot read the review text: %d bytes: %w", len(text), ErrTooLong)
	}
	p := &parser{rest: text}
	r := p.request()
	if p.err == nil && p.rest != "" {
		p.fail("the text goes on after its last line")
	}
	if p.err != nil {
		return nil, fmt.Errorf("cannot read the review text: %w", p.err)
	}
	s, err := Seal(r)
	if err != nil {
		return nil, err
	}
	// Whatever the steps above took too generously is caught here.
	if s.text != text {
		return nil, errors.New("cannot read the review text: it is not spelled as it would be rendered")
	}
	return s, nil
}

type parser struct {
	rest string
	at   int // the number of the line read last, from 1
	err  error
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("line %d: %s", p.at, fmt.Sprintf(format, args...))
	}
}

func (p *parser) line() string {
	if p.err != nil {
		return ""
	}
	p.at++
	line, rest, ok := strings.Cut(p.rest, "\n")
	if !ok {
		p.fail("the text ends too early")
		return ""
	}
	p.rest = rest
	return line
}

// value reads the next line, which must have this name.
func (p *parser) value(name string) string {
	line := p.line()
	value, ok := strings.CutPrefix(line, name+": ")
	if p.err == nil && !ok {
		p.fail("must be %q, not %q", name+": ...", line)
	}
	return value
}

func (p *parser) number(name string, limit uint64) uint64 {
	s := p.value(name)
	n, err := strconv.ParseUint(s, 10, 64)
	if p.err == nil && (err != nil || n > limit) {
		p.fail("%s: %q is no number up to %d", name, s, limit)
	}
	return n
}

func (p *parser) quoted(name string) string { return p.unquote(p.value(name)) }

func (p *parser) unquote(s string) string {
	if p.err != nil {
		return ""
	}
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		p.fail("the value must stand in double quotes")
		return ""
	}
	out, err := escape.Unescape(s[1 : len(s)-1])
	if err != nil {
		p.fail("%v", err)
	}
	return out
}

// word reads a value by a parser of its type.
func word[T any](p *parser, name string, parse func(string) (T, error)) T {
	s := p.value(name)
	if p.err != nil {
		var zero T
		return zero
	}
	v, err := parse(s)
	if err != nil {
		p.fail("%s: %v", name, err)
	}
	return v
}

// items reads a list of at most limit.
func itemsOf[T any](p *parser, name string, limit int, one func(name string) T) []T {
	n := p.number(name, uint64(limit))
	var out []T
	for i := 0; p.err == nil && i < int(n); i++ {
		out = append(out, one(fmt.Sprintf("%s[%d]", name, i)))
	}
	return out
}

func (p *parser) request() (r Request) {
	if first := p.line(); p.err == nil && first != textVersion {
		p.fail("must be %q, not %q", textVersion, first)
	}
	r.Argv = itemsOf(p, "argv", MaxItems, p.quoted)
	r.Executable = p.file("executable")
	r.Interpreters = itemsOf(p, "interpreters", maxFiles, p.file)
	r.Opened = itemsOf(p, "opened", maxFiles, p.opened)
	r.Cwd = p.quoted("cwd")
	r.Env = itemsOf(p, "environment", MaxItems, p.variable)
	r.RunAs = p.runAs()
	r.Umask = word(p, "umask", parseUmask)
	r.Timeout = word(p, "timeout", ParseDuration)
	for _, v := range itemsOf(p, "limits", len(limitNames), p.value) {
		name, text, _ := strings.Cut(v, " ")
		if err := r.Limits.parse(name, text); err != nil {
			p.fail("limits: %v", err)
		}
	}
	for _, name := range itemsOf(p, "modes", len(modeNames), p.value) {
		if err := r.Modes.parse(name); err != nil {
			p.fail("modes: %v", err)
		}
	}
	r.Stdin = p.stdin()
	r.Requester.UID = word(p, "requester user", ParseUID)
	r.Requester.GID = word(p, "requester group", ParseGID)
	r.Requester.Groups = itemsOf(p, "requester groups", MaxItems, p.gid)
	r.Rule = word(p, "rule", ParseRuleID)
	r.RuleDigest = word(p, "rule digest", ParseDigest)
	r.Expires = word(p, "expires", parseTime)
	r.Nonce = word(p, "nonce", ParseNonce)
	r.Install = word(p, "install", ParseInstallID)
	return r
}

func (p *parser) gid(name string) GID { return word(p, name, ParseGID) }

func (p *parser) file(name string) (f File) {
	f.Path = p.quoted(name)
	f.Device = p.number(name+" device", 1<<64-1)
	f.Inode = p.number(name+" inode", 1<<64-1)
	f.SHA256 = word(p, name+" sha256", ParseDigest)
	return f
}

func (p *parser) opened(name string) (f OpenedFile) {
	f.Path = p.quoted(name)
	f.Descriptor = uint8(p.number(name+" descriptor", 255))
	f.Device = p.number(name+" device", 1<<64-1)
	f.Inode = p.number(name+" inode", 1<<64-1)
	return f
}

func (p *parser) variable(name string) (v Var) {
	v.Name, v.Value, _ = strings.Cut(p.quoted(name), "=")
	return v
}

func (p *parser) runAs() (as RunAs) {
	id, name, _ := strings.Cut(p.value("run as user"), " ")
	as.User = p.unquote(name)
	as.UID = parsed(p, id, ParseUID)
	id, name, _ = strings.Cut(p.value("run as group"), " ")
	as.Group = p.unquote(name)
	as.GID = parsed(p, id, ParseGID)
	as.Groups = itemsOf(p, "run as groups", MaxItems, p.gid)
	return as
}

func parsed[T any](p *parser, s string, parse func(string) (T, error)) T {
	v, err := parse(s)
	if err != nil {
		p.fail("%v", err)
	}
	return v
}

func (p *parser) stdin() (in Stdin) {
	switch mode := p.value("stdin"); {
	case p.err != nil:
		return in
	case mode == "none":
		return Stdin{Mode: StdinNone}
	case mode == passWords:
		return Stdin{Mode: StdinPass}
	case mode != "sealed":
		p.fail("stdin: %q is not known; it is none, sealed or %q", mode, passWords)
		return in
	}
	// Size and digest are compared when the text is rendered again.
	p.number("stdin bytes", MaxText)
	p.value("stdin sha256")
	content := strings.Join(itemsOf(p, "stdin lines", MaxText, p.quoted), "\n")
	if p.value("stdin end") == "newline" {
		content += "\n"
	}
	return Stdin{Mode: StdinSealed, Content: content}
}

func parseUmask(s string) (uint16, error) {
	n, err := strconv.ParseUint(s, 8, 16)
	if err != nil || n > 0o777 || umaskText(uint16(n)) != s {
		return 0, fmt.Errorf("%q is no umask; write four octal digits up to 0777", s)
	}
	return uint16(n), nil
}

func parseTime(s string) (time.Time, error) {
	t, err := time.Parse(timeForm, s)
	if err != nil || t.Format(timeForm) != s {
		return time.Time{}, fmt.Errorf("%q is no time; write it like 2030-01-31T23:59:59Z", s)
	}
	return t, nil
}

func (l *Limits) parse(name, text string) (err error) {
	switch p := l.at(name).(type) {
	case *uint64:
		if *p, err = strconv.ParseUint(text, 10, 64); err != nil || *p == 0 {
			err = fmt.Errorf("%s: %q is no number above zero", name, text)
		}
	case *time.Duration:
		*p, err = ParseDuration(text)
	default:
		err = fmt.Errorf("%q is not known; known are %s", name, strings.Join(limitNames, ", "))
	}
	return err
}

func (m *Modes) parse(name string) error {
	on := m.at(name)
	if on == nil {
		return fmt.Errorf("%q is not known; known are %s", name, strings.Join(modeNames, ", "))
	}
	*on = true
	return nil
}
