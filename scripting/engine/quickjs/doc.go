// Package quickjs runs scripts with QuickJS, translated from C to Go. It has
// all of the language, a limit on memory, regular expressions that can be
// interrupted and strings that grow without copying. An instance costs a few
// hundred microseconds, ten times what gojs needs.
//
// A module (.mjs) is rewritten to CommonJS first, as for gojs: a script is one
// file and imports nothing.
package quickjs
