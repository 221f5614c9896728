// Package config reads snens.toml, the configuration of the supervisor.
//
// Load finds the file, checks that nobody else could have written it, and
// returns a Config in which every value is in its final form: durations, bytes,
// absolute paths. What is not written there has its default. There is one file:
// nothing is merged.
//
// The reading is strict. An unknown key, a value of a wrong type and a value
// that makes no sense are errors with file, line and column; all of them are
// reported at once, as one error of several lines. Docs of every key are in
// docs/config.md, which a test compares with Keys.
//
// For people: Config.String prints what is in use, Config.Origin where a value
// comes from, Config.Notes what was passed over (an entry that begins with ~
// when HOME is not set).
//
// A new key needs a field in Config, a row in the tables of keys.go, a default
// there, and a row in docs/config.md.
package config
