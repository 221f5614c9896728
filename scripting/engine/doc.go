// Package engine is what the rest of the program knows of a script language:
// compile a file, make an instance with its own fresh scope, call a function in
// it, stop it.
//
//	cache := engine.NewCache(gojs.New(), 64)
//	prog, err := cache.Compile(engine.Source{Name: "stats.js", Text: text})
//	inst, err := prog.New(ctx, engine.Setup{Helpers: helpers, Limits: limits})
//	defer inst.Close()
//	result, err := inst.Call(ctx, "run", args, config)
//
// Two packages implement it: gojs (the default) and quickjs. One table of
// scripts runs against both (conform_test.go); what one of them lacks is mended
// by a prelude, so that a script need not know where it runs.
//
// # Values
//
// Values cross as JSON text in both directions, arguments and results of
// functions as well as of helpers. undefined, functions and symbols arrive as
// null. A text longer than Limits.Value, or nested deeper than 10,000, does not
// cross. A promise that a function returns is awaited.
//
// # Limits, and what they are not
//
// Operations are measured in processor time of the thread that runs the script
// (OperationTime each), because no engine counts instructions and a count would
// miss regular expressions and native loops. Time inside helpers is not counted.
// An instance that met its limit, or whose context ended, is dead: every later
// call fails with the same error. An interruption cannot be caught by the script.
//
// No engine here can promise to stop: native code of gojs (a regular expression
// with lookahead, sorting a huge array) runs to its end, and neither memory of
// gojs nor the stack of its parser has a bound. Run scripts that were not
// written by the user of the machine in a process of their own that can be
// killed. Nothing in these packages opens a file, a connection or a clock.
package engine
