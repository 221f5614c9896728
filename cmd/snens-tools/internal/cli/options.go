package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"snens/internal/spelling"
)

// ErrHelp is returned by Parse when --help was given before "--".
var ErrHelp = errors.New("help was asked for")

type option struct {
	name  string
	value bool // takes a value
	set   func(string) error
	given bool
}

// Set is the options of one tool.
type Set struct {
	usage   string
	options []*option
}

// NewSet starts a set for the tool with this help text; refusals show its usage line.
func NewSet(help string) *Set { return &Set{usage: UsageLine(help)} }

// Bool declares --name, which takes no value.
func (s *Set) Bool(name string, p *bool) {
	s.options = append(s.options, &option{name: name, set: func(string) error {
		*p = true
		return nil
	}})
}

// Int declares --name N with N from least to most, in decimal digits.
func (s *Set) Int(name string, p *int, least, most int) {
	s.Func(name, func(v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < least || n > most {
			return fmt.Errorf("must be a whole number from %d to %d, not %q", least, most, v)
		}
		*p = n
		return nil
	})
}

// String declares --name VALUE; an empty value is refused.
func (s *Set) String(name string, p *string) {
	s.Func(name, func(v string) error {
		if v == "" {
			return errors.New("must not be empty")
		}
		*p = v
		return nil
	})
}

// Func declares --name VALUE; set checks and keeps the value. Its error
// continues the sentence "--name ...".
func (s *Set) Func(name string, set func(string) error) {
	s.options = append(s.options, &option{name: name, value: true, set: set})
}

// Parse takes the arguments after argv[0] and returns the positionals. "--"
// ends the options. The error is ErrHelp or a usage error.
func (s *Set) Parse(args []string) ([]string, error) {
	var positionals []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return append(positionals, args[i+1:]...), nil
		}
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			positionals = append(positionals, arg)
			continue
		}
		if arg == "--help" {
			return nil, ErrHelp
		}
		name, value, joined := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		o := s.find(name)
		if o == nil || !strings.HasPrefix(arg, "--") {
			return nil, s.unknown(arg, name)
		}
		if o.value && !joined {
			if i++; i == len(args) {
				return nil, Usage(s.hint(), "--%s needs a value", name)
			}
			value = args[i]
		}
		if err := s.apply(o, value, joined); err != nil {
			return nil, err
		}
	}
	return positionals, nil
}

func (s *Set) find(name string) *option {
	i := slices.IndexFunc(s.options, func(o *option) bool { return o.name == name })
	if i < 0 {
		return nil
	}
	return s.options[i]
}

func (s *Set) apply(o *option, value string, joined bool) error {
	if !o.value && joined {
		return Usage(s.hint(), "--%s takes no value", o.name)
	}
	if o.given {
		return Usage(s.hint(), "--%s is given twice", o.name)
	}
	o.given = true
	if err := o.set(value); err != nil {
		return Usage(s.hint(), "--%s %v", o.name, err)
	}
	return nil
}

func (s *Set) hint() string { return "usage: " + s.usage }

func (s *Set) unknown(arg, name string) error {
	hint := s.hint()
	best, least := "", 3
	for _, o := range s.options {
		if d := spelling.Distance(name, o.name); d < least {
			best, least = o.name, d
		}
	}
	if best != "" {
		hint = "did you mean --" + best + "? " + hint
	} else if !strings.HasPrefix(arg, "--") {
		hint = "a word that begins with '-' goes after --; " + hint
	}
	return Usage(hint, "unknown option %s", arg)
}

// One returns the only positional. what names it for the refusal, as in "a path".
func (s *Set) One(positionals []string, what string) (string, error) {
	switch {
	case len(positionals) == 0:
		return "", Usage(s.hint(), "needs %s", what)
	case len(positionals) > 1:
		return "", Usage(s.hint(), "takes one argument, not %d: %q is too many", len(positionals), positionals[1])
	case positionals[0] == "":
		return "", Usage(s.hint(), "needs %s, not an empty word", what)
	}
	return positionals[0], nil
}

// Refuse is a usage error that shows the usage line as its hint.
func (s *Set) Refuse(format string, a ...any) error { return Usage(s.hint(), format, a...) }
