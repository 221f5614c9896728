package gojs

import (
	_ "embed"
	"errors"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"snens/scripting/engine"
	"snens/scripting/engine/lower"
)

//go:embed prelude.js
var prelude string

// Engine implements engine.Engine.
type Engine struct{ base func() *base }

// base are our own scripts, compiled when the first instance needs them.
type base struct{ shared, mends, driver *goja.Program }

// New makes an engine. It holds nothing that must be closed.
func New() *Engine {
	return &Engine{base: sync.OnceValue(func() *base {
		return &base{
			shared: goja.MustCompile("prelude.js", engine.Prelude, false),
			mends:  goja.MustCompile("mends.js", prelude, false),
			driver: goja.MustCompile("driver.js", engine.Driver, false),
		}
	})}
}

// Name is the word for it in configuration files.
func (e *Engine) Name() string { return "goja" }

// Compile parses a script, rewritten by esbuild when it is a module, has \p in
// it, or when goja's parser refuses it.
func (e *Engine) Compile(src engine.Source) (prog engine.Program, err error) {
	defer func() {
		if p := recover(); p != nil {
			prog, err = nil, engine.Fail(engine.Internal, "%s: the compiler failed", src.Name)
		}
	}()
	if len(src.Text) > engine.MaxSource {
		return nil, engine.Fail(engine.Syntax, "%s: the script is longer than %d bytes", src.Name, engine.MaxSource)
	}
	if !lower.Module(src) && !strings.Contains(src.Text, `\p{`) && !strings.Contains(src.Text, `\P{`) {
		if code, err := parse(src, parser.WithDisableSourceMaps); err == nil {
			return &program{e, code}, nil
		}
	}
	text, err := lower.Script(src, lower.Old)
	if err != nil {
		return nil, err
	}
	// The text ends with our map; a comment of the script that names a file is gone.
	code, err := parse(engine.Source{Name: src.Name, Text: text}, parser.WithSourceMapLoader(noFiles))
	if err != nil {
		return nil, syntax(src.Name, err)
	}
	return &program{e, code}, nil
}

// noFiles is why a source map never makes the parser open a file.
func noFiles(string) ([]byte, error) { return nil, errors.New("source maps are not read from files") }

func parse(src engine.Source, options ...parser.Option) (*goja.Program, error) {
	tree, err := goja.Parse(src.Name, src.Text, options...)
	if err != nil {
		return nil, err
	}
	return goja.CompileAST(tree, false)
}

func syntax(name string, err error) *engine.Error {
	text := strings.TrimPrefix(err.Error(), "SyntaxError: ")
	if !strings.HasPrefix(text, name) {
		text = name + ": " + text
	}
	return &engine.Error{Kind: engine.Syntax, Message: text}
}
