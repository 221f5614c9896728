package quickjs

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	js "modernc.org/quickjs"

	"snens/scripting/engine"
)

type program struct {
	name string
	code []byte
}

type instance struct {
	vm     *js.VM
	name   string
	limits engine.Limits
	budget *engine.Budget
	ctx    context.Context // of the call that runs, for helpers

	find, call, take *js.Value // nil until prepared
}

// hostName is where the way out stands for the moment until the driver has it.
const hostName = "__host"

// New makes a scope and runs the script's top level.
func (p *program) New(ctx context.Context, setup engine.Setup) (engine.Instance, error) {
	names, err := setup.Names()
	if err != nil {
		return nil, err
	}
	setup.Limits = setup.Limits.WithDefaults()
	vm, err := open(setup.Limits)
	if err != nil {
		return nil, err
	}
	in := &instance{vm: vm, name: p.name, limits: setup.Limits, budget: engine.NewBudget(setup.Limits)}
	failed := in.run(ctx, func() error {
		var err error
		in.budget.Away(func() { err = in.prepare(setup, names) }) // not the script's doing
		if err != nil {
			return err
		}
		value, err := vm.EvalBytecodeValue(p.code)
		if err != nil {
			return err
		}
		value.Free()
		return in.drain()
	})
	if failed != nil {
		in.Close()
		return nil, failed
	}
	return in, nil
}

// prepare runs our own scripts.
func (in *instance) prepare(setup engine.Setup, names []string) error {
	err := in.vm.RegisterHostFunc(hostName, func(args []any) (any, error) {
		name, _ := args[0].(string)
		text, _ := args[1].(string)
		return setup.Answer(in.ctx, in.budget, name, text), nil
	})
	if err != nil {
		return err
	}
	if _, err := in.vm.Eval(engine.Prelude, js.EvalGlobal); err != nil {
		return err
	}
	list, _ := json.Marshal(append([]string{}, names...))
	driver, err := in.vm.EvalValue(engine.Driver+"(globalThis."+hostName+", "+string(list)+")", js.EvalGlobal)
	if err != nil {
		return err
	}
	defer driver.Free()
	for name, to := range map[string]**js.Value{"find": &in.find, "call": &in.call, "take": &in.take} {
		atom, err := in.vm.NewAtom(name)
		if err != nil {
			return err
		}
		method, err := driver.GetPropertyValue(atom)
		if err != nil {
			return err
		}
		*to = &method
	}
	_, err = in.vm.Eval("delete globalThis."+hostName+"; 0", js.EvalGlobal)
	return err
}

// drain runs what promises still have to do.
func (in *instance) drain() error {
	for {
		n, err := in.vm.ExecutePendingJobs()
		var thrown *js.Error
		if err == nil || errors.As(err, &thrown) || n == 0 {
			return nil // what a job throws is its promise's, or nobody's
		}
		if in.budget.Stopping() {
			return nil
		}
	}
}

// Has says whether the script defines a function of that name.
func (in *instance) Has(name string) bool {
	found := false
	_ = in.run(context.Background(), func() error {
		fn, err := in.lookup(name)
		if err != nil {
			return err
		}
		found = !fn.IsUndefined()
		fn.Free()
		return nil
	})
	return found
}

func (in *instance) lookup(name string) (js.Value, error) {
	var seen any = js.Undefined{}
	if script := engine.Lookup(name); script != "" {
		value, err := in.vm.EvalValue(script, js.EvalGlobal)
		if err != nil {
			return js.UndefinedValue, err
		}
		defer value.Free()
		seen = value
	}
	return in.find.CallValue(js.UndefinedValue, name, seen)
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
		defer fn.Free()
		if fn.IsUndefined() {
			return engine.Fail(engine.Missing, "the script has no function %s", name)
		}
		if _, err := in.call.Call(js.UndefinedValue, fn, text); err != nil {
			return err
		}
		if err := in.drain(); err != nil {
			return err
		}
		value, err := in.take.Call(js.UndefinedValue)
		outcome, _ = value.(string)
		return err
	})
	if failed != nil {
		return nil, failed
	}
	value, bad := engine.DecodeOutcome(outcome, in.limits)
	if bad != nil {
		return nil, in.place(bad)
	}
	return value, nil
}

// Close gives the memory back, which lies outside Go's heap.
func (in *instance) Close() {
	if in.vm == nil {
		return
	}
	in.budget.Kill(engine.Fail(engine.Internal, "the script instance is closed"))
	defer func() {
		_ = recover() // a machine that failed within gives nothing back
	}()
	vm := in.vm
	in.vm = nil
	for _, v := range []*js.Value{in.find, in.call, in.take} {
		if v != nil {
			v.Free()
		}
	}
	_ = vm.Close()
}

// run is the only way into QuickJS: metered, and closed against its panics.
func (in *instance) run(ctx context.Context, f func() error) error {
	var failed *engine.Error
	in.ctx = ctx
	vm := in.vm
	stopped := in.budget.Run(ctx, func() { vm.Interrupt() }, func() {
		defer func() {
			if recover() != nil {
				failed = engine.Fail(engine.Internal, "the engine quickjs failed")
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
	case failed.Kind == engine.Internal:
		in.budget.Kill(failed)
	}
	return failed
}

// explain makes QuickJS's errors ours.
func (in *instance) explain(err error) *engine.Error {
	var own *engine.Error
	var thrown *js.Error
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &thrown):
		message := thrown.Message
		if thrown.Name == "" && message == "" {
			message = thrown.Error() // not an Error: throw "text"
		}
		return in.place(engine.Exception(thrown.Name, message, thrown.Stack))
	}
	return engine.Fail(engine.Internal, "the engine quickjs failed: %v", err)
}

// place puts the script's name where QuickJS has its own word for it.
func (in *instance) place(e *engine.Error) *engine.Error {
	e.Stack = strings.ReplaceAll(e.Stack, "<eval>", in.name)
	return e
}
