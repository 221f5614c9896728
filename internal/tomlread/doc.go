// Package tomlread reads TOML files that people write and that must not be
// misread: every fault has a line and a column, and one reading reports all of
// them.
//
// Open parses a text into plain values (map[string]any, []any, string, int64,
// ...) and a Reader. The caller walks the values with its own table of keys and
// lets the Reader's takers (String, Strings, Word, Integer, Duration, Size,
// Bool) check each one. A taker notes a fault and returns false, or leaves what
// it was to fill untouched; the caller goes on with the next key. At the end
// Faults, or Err, gives what was noted, in the order of the file.
//
// A place in the file is named by a path of keys. Items of lists, and tables
// written as [[name]], are "[0]", "[1]", ...: Item makes that part. Child puts
// a part behind a path without touching it.
//
// Nothing here knows which keys there are, opens a file, or expands anything.
package tomlread
