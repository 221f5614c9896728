package engine

import (
	"context"
	"encoding/json"
	"time"
)

// Source is one script file.
type Source struct {
	// Name is shown in errors, and its extension says what the text is:
	// ".mjs" is an ECMAScript module, everything else a classic script in which
	// module.exports works too.
	Name string
	Text string
}

// MaxSource bounds the text of a script, in bytes.
const MaxSource = 1 << 20

// Engine compiles scripts. Its methods may be called at the same time.
type Engine interface {
	// Name is the word that configuration files use: "goja", "quickjs".
	Name() string
	// Compile parses a script and runs nothing. The error is an *Error of
	// kind Syntax.
	Compile(src Source) (Program, error)
}

// Program is a compiled script. It may be used at the same time.
type Program interface {
	// New makes a fresh scope and runs the top level of the script in it.
	// Errors are *Error.
	New(ctx context.Context, setup Setup) (Instance, error)
}

// Instance is one scope. It belongs to one goroutine at a time.
type Instance interface {
	// Has says whether the script defines (or exports) a function of that name.
	Has(name string) bool
	// Call calls a function of the script. Arguments after the first that the
	// function does not declare are not passed. A returned promise is awaited.
	// Errors are *Error; the end of ctx interrupts.
	Call(ctx context.Context, name string, args ...json.RawMessage) (json.RawMessage, error)
	// Close gives the memory back. It may be called twice.
	Close()
}

// Helper is a function of ours that scripts can call. It gets at least no
// arguments, never more than 16, each valid JSON. Its error becomes an exception with
// that text; so does a panic, without its text.
type Helper func(ctx context.Context, args []json.RawMessage) (json.RawMessage, error)

// Setup is what a fresh scope gets.
type Setup struct {
	Helpers map[string]Helper // by the name of a global function, an identifier
	Limits  Limits
}

// Limits bound one instance. A field that is zero has its default.
type Limits struct {
	// Operations bound the script over all calls of the instance.
	Operations int64
	// Frames bound the depth of calls.
	Frames int
	// Memory in bytes; quickjs alone keeps it.
	Memory int64
	// Value bounds each JSON text that crosses, in bytes.
	Value int
}

// The defaults of Limits.
const (
	DefaultOperations = 100_000_000
	DefaultFrames     = 2000
	DefaultMemory     = 256 << 20
	DefaultValue      = 8 << 20
)

// OperationTime is the processor time that counts as one operation: about what
// an interpreter needs for an addition. DefaultOperations are two seconds.
const OperationTime = 20 * time.Nanosecond

// WithDefaults fills the fields that are zero or negative.
func (l Limits) WithDefaults() Limits {
	if l.Operations <= 0 {
		l.Operations = DefaultOperations
	}
	if l.Frames <= 0 {
		l.Frames = DefaultFrames
	}
	if l.Memory <= 0 {
		l.Memory = DefaultMemory
	}
	if l.Value <= 0 {
		l.Value = DefaultValue
	}
	return l
}
