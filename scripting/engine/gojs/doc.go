// Package gojs runs scripts with goja, an interpreter written in Go. It is the
// default: an instance costs tens of microseconds.
//
// What goja lacks is mended before the script runs: newer syntax is rewritten
// when its parser refuses the text (package lower), missing functions come from
// a prelude, \p{...} in regular expressions is expanded from Go's own tables or
// refused, and natives that cannot be interrupted refuse sizes that take
// minutes. faults_test.go has one test for each fault of goja itself; such a
// test fails when goja is mended, and then the remedy can go.
//
// What stays: s += x copies both sides; a regular expression with lookahead or
// backreference, sorting and joining huge arrays run to their end; memory has no
// bound. engine: quickjs is the way out for such scripts.
package gojs
