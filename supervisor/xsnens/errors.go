package xsnens

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"snens/internal/strictjson"
)

// NotTypedError says why a schema.json describes no typed interface though it
// is not broken: the tool is meant to be generic.
type NotTypedError struct{ Reason string }

// Error is the reason, fit for one line on stderr.
func (e *NotTypedError) Error() string { return e.Reason }

// Fault is one thing wrong in a schema.json.
type Fault struct {
	Path string // "x-snens.argv[2].flag"; "" for the whole file
	Msg  string // what is wrong and how to mend it
}

// LoadError lists every fault that was found in a schema.json.
type LoadError struct{ Faults []Fault }

// Error has one line per fault.
func (e *LoadError) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.Msg
		if f.Path != "" {
			lines[i] = f.Path + ": " + f.Msg
		}
	}
	return strings.Join(lines, "\n")
}

// faults collects what is wrong while a file is read to its end.
type faults struct{ list []Fault }

func (f *faults) add(path, format string, args ...any) {
	f.list = append(f.list, Fault{path, fmt.Sprintf(format, args...)})
}

func (f *faults) err() error {
	if len(f.list) == 0 {
		return nil
	}
	return &LoadError{f.list}
}

// FieldError is one thing wrong in the arguments of a call.
type FieldError struct {
	Field string // "path", "edits[0].old"; "" for the arguments as a whole
	Rule  string // the rule that was broken: "must be an integer, not 5.5"
	Fix   string // what to do; may be empty
}

// String is the line for this field: "field: rule; fix".
func (e FieldError) String() string {
	s := e.Field
	if s == "" {
		s = "arguments"
	}
	s += ": " + e.Rule
	if e.Fix != "" {
		s += "; " + e.Fix
	}
	return s
}

// ArgsError lists what is wrong in the arguments of a call, sorted by field.
// Nothing was started. It never holds the value of a secret field.
type ArgsError struct{ Fields []FieldError }

// shownErrors is how many lines ArgsError.Error prints, keptErrors how many
// are collected: the arguments may be wrong in a hundred thousand places.
const (
	shownErrors = 20
	keptErrors  = 100
)

// Error has one line per field, at most 20 and a count of the rest.
func (e *ArgsError) Error() string {
	var lines []string
	for i, f := range e.Fields {
		if i == shownErrors {
			lines = append(lines, fmt.Sprintf("and %d more", len(e.Fields)-shownErrors))
			break
		}
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "\n")
}

// problems collects FieldErrors.
type problems struct{ list []FieldError }

func (p *problems) add(field, rule, fix string) {
	if !p.full() {
		p.list = append(p.list, FieldError{field, rule, fix})
	}
}

// full says that more problems would not be kept: a caller need not put them
// in words, which costs time when they come by the hundred thousand.
func (p *problems) full() bool { return len(p.list) >= keptErrors }

func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	slices.SortStableFunc(p.list, func(a, b FieldError) int { return strings.Compare(a.Field, b.Field) })
	return &ArgsError{slices.Compact(p.list)}
}

// syntaxError makes an ArgsError of a failure of strictjson. hide leaves out
// what was read: it could be a part of a secret.
func syntaxError(err error, hide bool) error {
	fe := FieldError{Rule: err.Error(), Fix: "send one JSON object"}
	var e *strictjson.Error
	if errors.As(err, &e) {
		fe.Field = e.Path
		if hide {
			e.Msg = "this is not accepted as JSON"
		}
		fe.Rule = fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg)
	}
	return &ArgsError{[]FieldError{fe}}
}
