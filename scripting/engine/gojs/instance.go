package gojs

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"snens/scripting/engine"
)

type program struct {
	engine *Engine
	code   *goja.Program
}

type instance struct {
	vm     *goja.Runtime
	limits engine.Limits
	budget *engine.Budget
	ctx    context.Context // of the call that runs, for helpers

	find, call, fail, take goja.Callable
}

// New makes a scope and runs the script's top level.
func (p *program) New(ctx context.Context, setup engine.Setup) (engine.Instance, error) {
	names, err := setup.Names()
	if err != nil {
		return nil, err
	}
	setup.Limits = setup.Limits.WithDefaults()
	in := &instance{vm: goja.New(), limits: setup.Limits, budget: engine.NewBudget(setup.Limits)}
	in.vm.SetParserOptions(parser.WithDisableSourceMaps)
	in.vm.SetMaxCallStackSize(setup.Limits.Frames)
	failed := in.run(ctx, func() error {
		var err error
		in.budget.Away(func() { err = in.prepare(p.engine.base(), setup, names) }) // not the script's doing
		if err != nil {
			return err
		}
		_, err = in.vm.RunProgram(p.code)
		return err
	})
	if failed != nil {
		return nil, failed
	}
	return in, nil
}

// prepare runs our own scripts.
func (in *instance) prepare(b *base, setup engine.Setup, names []string) error {
	mends, err := in.function(b.mends)
	if err != nil {
		return err
	}
	expanded := func(call goja.FunctionCall) goja.Value {
		pattern, err := expand(call.Argument(0).String())
		answer := map[string]any{"pattern": pattern, "error": ""}
		if err != nil {
			answer["error"] = err.Error()
		}
		return in.vm.ToValue(answer)
	}
	shallow := func(call goja.FunctionCall) goja.Value {
		return in.vm.ToValue(tooMuch(call.Argument(0).String()))
	}
	if _, err := mends(goja.Undefined(), in.vm.ToValue(expanded), in.vm.ToValue(shallow)); err != nil {
		return err
	}
	if _, err := in.vm.RunProgram(b.shared); err != nil {
		return err
	}
	driver, err := in.function(b.driver)
	if err != nil {
		return err
	}
	host := func(call goja.FunctionCall) goja.Value {
		return in.vm.ToValue(setup.Answer(in.ctx, in.budget, call.Argument(0).String(), call.Argument(1).String()))
	}
	made, err := driver(goja.Undefined(), in.vm.ToValue(host), in.vm.ToValue(names))
	if err != nil {
		return err
	}
	methods := made.ToObject(in.vm)
	for name, to := range map[string]*goja.Callable{"find": &in.find, "call": &in.call, "fail": &in.fail, "take": &in.take} {
		*to, _ = goja.AssertFunction(methods.Get(name))
	}
	return nil
}

func (in *instance) function(code *goja.Program) (goja.Callable, error) {
	value, err := in.vm.RunProgram(code)
	if err != nil {
		return nil, err
	}
	f, _ := goja.AssertFunction(value)
	return f, nil
}

// Has says whether the script defines a function of that name.
func (in *instance) Has(name string) bool {
	found := false
	_ = in.run(context.Background(), func() error {
		fn, err := in.lookup(name)
		found = err == nil && !goja.IsUndefined(fn)
		return err
	})
	return found
}

func (in *instance) lookup(name string) (goja.Value, error) {
	seen := goja.Undefined()
	if script := engine.Lookup(name); script != "" {
		value, err := in.vm.RunString(script)
		if err != nil {
			return nil, err
		}
		seen = value
	}
	return in.find(goja.Undefined(), in.vm.ToValue(name), seen)
}

// Call calls a function of the script.
func (in *instance) Call(ctx context.Context, name string, args ...json.RawMessage) (json.RawMessage, error) {
	text, bad := engine.EncodeArgs(args, in.limits)
	if bad != nil {
		return nil, bad
	}
	var outcome string
	failed := in.run(ctx, func() error {
		fn, err := in.lookup(name)
		if err != nil {
			return err
		}
		if goja.IsUndefined(fn) {
			return engine.Fail(engine.Missing, "the script has no function %s", name)
		}
		if _, err := in.call(goja.Undefined(), fn, in.vm.ToValue(text)); err != nil {
			return err
		}
		value, err := in.take(goja.Undefined())
		if err == nil {
			outcome = value.String()
		}
		return err
	})
	if failed != nil {
		return nil, failed
	}
	value, bad := engine.DecodeOutcome(outcome, in.limits)
	if bad != nil {
		return nil, bad
	}
	return value, nil
}

// Close lets the scope go; the collector does the rest.
func (in *instance) Close() {
	in.budget.Kill(engine.Fail(engine.Internal, "the script instance is closed"))
}

// run is the only way into goja: metered, and closed against its panics.
func (in *instance) run(ctx context.Context, f func() error) error {
	var failed *engine.Error
	in.ctx = ctx
	stopped := in.budget.Run(ctx, func() { in.vm.Interrupt("stopped") }, func() {
		defer func() {
			if recover() != nil {
				failed = engine.Fail(engine.Internal, "the engine goja failed")
				return
			}
		}()
		if err := f(); err != nil {
			failed = in.explain(err)
		}
	})
	switch {
	case stopped != nil:
		return stopped
	case failed == nil:
		return nil
	case failed.Kind == engine.Stack || failed.Kind == engine.Internal:
		in.budget.Kill(failed)
	}
	return failed
}

// explain makes goja's errors ours.
func (in *instance) explain(err error) *engine.Error {
	var own *engine.Error
	var deep *goja.StackOverflowError
	var thrown *goja.Exception
	switch {
	case errors.As(err, &deep):
		return engine.Fail(engine.Stack, "the script calls itself too deep (more than %d calls)", in.limits.Frames)
	case errors.As(err, &own):
		return own
	case errors.As(err, &thrown) && in.fail != nil:
		if _, err := in.fail(goja.Undefined(), thrown.Value()); err != nil {
			return in.explain(err)
		}
		text, err := in.take(goja.Undefined())
		if err != nil {
			return engine.Fail(engine.Internal, "cannot read what the script threw")
		}
		if _, bad := engine.DecodeOutcome(text.String(), in.limits); bad != nil {
			return bad
		}
	}
	return engine.Fail(engine.Internal, "the engine goja failed: %v", err)
}

// What JSON.parse takes here: it cannot be interrupted, and goja parses by
// recursion on the stack of the process.
const (
	maxParse = 16 << 20
	maxDepth = 10_000
)

// tooMuch says why a text is not to be parsed, "" when it may be.
func tooMuch(text string) string {
	if len(text) > maxParse {
		return "JSON text is too long for this engine (more than 16 MiB); engine: quickjs has no such limit"
	}
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return "JSON text is nested too deep"
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return ""
}
