package engine

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Driver is the script that both engines run first. Its value is
// function(host, names) -> {find(name, seen), call(fn, argsText), fail(exception), take()}; host
// is function(name, argsText) -> answerText.
//
//go:embed driver.js
var Driver string

// Prelude adds, where they are missing, functions that scripts expect.
//
//go:embed prelude.js
var Prelude string

var identifier = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]{0,63}$`)
})

// Lookup is a script whose value is the function of that name, or undefined;
// "" when the name is none.
func Lookup(name string) string {
	if !identifier().MatchString(name) || slices.Contains(reserved, name) {
		return ""
	}
	return "typeof " + name + ` === "function" ? ` + name + " : undefined"
}

var reserved = strings.Fields(`await break case catch class const continue debugger default delete do else enum export extends
	false finally for function if implements import in instanceof interface let new null package private protected public
	return static super switch this throw true try typeof var void while with yield`)

// Names are the helpers' names in order; an error when one cannot be a global.
func (s Setup) Names() ([]string, error) {
	names := slices.Sorted(maps.Keys(s.Helpers))
	for _, name := range names {
		if Lookup(name) == "" || s.Helpers[name] == nil {
			return nil, Fail(Internal, "cannot offer a helper %q: not the name of a function", name)
		}
	}
	return names, nil
}

// Answer runs a helper for the driver: name and the JSON array of its arguments
// in, the driver's answer text out. It does not panic.
func (s Setup) Answer(ctx context.Context, b *Budget, name, args string) string {
	limit := s.Limits.WithDefaults().Value
	var value json.RawMessage
	var err error
	b.Away(func() { value, err = s.help(ctx, name, args, limit) })
	if err != nil {
		text, _ := json.Marshal(strings.ToValidUTF8(err.Error(), "\uFFFD"))
		return `{"error":` + string(text) + `}`
	}
	return `{"value":` + string(value) + `}`
}

func (s Setup) help(ctx context.Context, name, args string, limit int) (value json.RawMessage, err error) {
	defer func() {
		if recover() != nil {
			value, err = nil, errors.New(name+": the helper failed")
		}
	}()
	helper := s.Helpers[name]
	if helper == nil {
		return nil, errors.New("there is no helper " + name)
	}
	if len(args) > limit {
		return nil, errors.New(name + ": arguments are too long")
	}
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(args), &list); err != nil {
		return nil, errors.New(name + ": arguments are nested too deep")
	}
	value, err = helper(ctx, list)
	switch {
	case err != nil:
		return nil, err
	case value == nil:
		return json.RawMessage("null"), nil
	case len(value) > limit:
		return nil, errors.New(name + ": the answer is too long")
	case !json.Valid(value):
		return nil, errors.New(name + ": the helper's answer is not JSON")
	}
	return value, nil
}

// EncodeArgs makes the text that the driver's call takes.
func EncodeArgs(args []json.RawMessage, l Limits) (string, *Error) {
	var b strings.Builder
	b.WriteByte('[')
	for i, arg := range args {
		if len(arg) > l.Value-b.Len() {
			return "", Fail(Value, "the arguments are longer than %d bytes", l.Value)
		}
		if !json.Valid(arg) {
			return "", Fail(Value, "argument %d is not JSON, or is nested too deep", i+1)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(arg)
	}
	b.WriteByte(']')
	return b.String(), nil
}

// DecodeOutcome reads what the driver's take returned.
func DecodeOutcome(text string, l Limits) (json.RawMessage, *Error) {
	if len(text) > l.Value {
		return nil, Fail(Value, "the result is longer than %d bytes", l.Value)
	}
	var out struct {
		Value   json.RawMessage
		Pending bool
		Error   *thrown
		Unfit   *thrown
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return nil, Fail(Value, "the result is nested too deep")
	}
	switch {
	case out.Pending:
		return nil, Fail(Pending, "the promise that the function returned never settles: nothing is left to run")
	case out.Error != nil:
		return nil, out.Error.error()
	case out.Unfit != nil:
		e := out.Unfit.error()
		if e.Kind == Thrown {
			e.Kind = Value
		}
		return nil, e
	case out.Value == nil:
		return json.RawMessage("null"), nil // null, or an outcome the script meddled with
	}
	return out.Value, nil
}

type thrown struct{ Name, Message, Stack string }

func (t thrown) error() *Error {
	return Exception(t.Name, t.Message, t.Stack)
}

// Exception is the error of an uncaught exception; the engines' own words for
// their limits become kinds.
func Exception(name, message, stack string) *Error {
	if at := strings.LastIndex(stack, "    at apply (native)"); at >= 0 {
		stack = stack[:at] // what follows is the driver
	}
	e := &Error{Kind: Thrown, Name: name, Message: message, Stack: strings.TrimRight(stack, "\n")}
	switch {
	case name == "InternalError" && message == "stack overflow", name == "RangeError" && strings.HasPrefix(message, "Maximum call stack size exceeded"):
		e.Kind = Stack
	case name == "InternalError" && message == "out of memory":
		e.Kind = Memory
	}
	return e
}
