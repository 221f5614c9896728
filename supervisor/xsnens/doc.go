// Package xsnens is the typed interface of a tool: schema.json, a JSON Schema
// of an object plus the key x-snens, read once and then used to turn the JSON
// arguments of a model into arguments, standard input and environment of a
// program. docs/x-snens.md is its specification.
//
// Load reads a schema.json. A *NotTypedError or *LoadError leaves the tool
// generic: Generic and GenericParameters are that interface. Parameters is
// what a model sees; Build turns its answer into an Invocation or into an
// *ArgsError with one line per wrong field. FromWords makes JSON arguments of
// the words of a command line. CheckExamples and Warnings are for snens check.
//
// Everything is exact and bounded: numbers never pass through a float, strings
// are never touched, no shell and no file is involved, nothing is started. An
// Interface does not change after Load and may be used by many goroutines.
//
// The validation of rarer schema keywords is google/jsonschema-go's. This
// package checks the plain ones itself (see plain.go), because the library
// compares through float64, takes json.Number for a string and does not say
// which field was wrong.
package xsnens
