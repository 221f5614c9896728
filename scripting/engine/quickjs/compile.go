package quickjs

import (
	"errors"

	js "modernc.org/quickjs"

	"snens/scripting/engine"
	"snens/scripting/engine/lower"
)

// Engine implements engine.Engine.
type Engine struct{}

// New makes an engine. It holds nothing that must be closed.
func New() *Engine { return &Engine{} }

// Name is the word for it in configuration files.
func (e *Engine) Name() string { return "quickjs" }

// Compile parses a script into bytecode, which lives in memory only: QuickJS
// trusts it blindly.
func (e *Engine) Compile(src engine.Source) (prog engine.Program, err error) {
	defer func() {
		if recover() != nil {
			prog, err = nil, engine.Fail(engine.Internal, "%s: the compiler failed", src.Name)
		}
	}()
	if len(src.Text) > engine.MaxSource {
		return nil, engine.Fail(engine.Syntax, "%s: the script is longer than %d bytes", src.Name, engine.MaxSource)
	}
	text := src.Text
	if lower.Module(src) {
		if text, err = lower.Script(src, lower.Modern); err != nil {
			return nil, err
		}
	}
	vm, err := open(engine.Limits{}.WithDefaults())
	if err != nil {
		return nil, err
	}
	defer vm.Close()
	code, err := vm.Compile(text, js.EvalGlobal)
	if err != nil {
		return nil, syntax(src.Name, err)
	}
	return &program{name: src.Name, code: code}, nil
}

func syntax(name string, err error) *engine.Error {
	var e *js.Error
	if !errors.As(err, &e) {
		return engine.Fail(engine.Syntax, "%s: %v", name, err)
	}
	if e.LineNumber > 0 {
		return engine.Fail(engine.Syntax, "%s:%d:%d: %s", name, e.LineNumber, e.ColumnNumber, e.Message)
	}
	return engine.Fail(engine.Syntax, "%s: %s", name, e.Message)
}

// open makes a machine that can load no module.
func open(l engine.Limits) (*js.VM, error) {
	vm, err := js.NewVM()
	if err != nil {
		return nil, engine.Fail(engine.Internal, "cannot start quickjs: %v", err)
	}
	vm.SetMemoryLimit(uintptr(l.Memory))
	vm.SetMaxStackSize(uintptr(l.Frames))
	vm.SetModuleLoader(func(_ *js.VM, name string) (string, error) {
		return "", errors.New("a script is one file")
	}, func(_ *js.VM, _, name string) (string, error) { return name, nil })
	return vm, nil
}
