package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"snens/internal/escape"
)

// Error is one fault in a configuration file.
type Error struct {
	File         string
	Line, Column int // from 1; columns count characters
	Text         string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Text)
}

// maxErrors bounds how many faults one load reports.
const maxErrors = 20

// decoder turns a parsed file into a Config and collects what is wrong with it.
type decoder struct {
	file   string
	text   string
	places places
	env    expander
	cfg    *Config
	tool   *Tool // whose table is being taken
	errs   []*Error
}

// decode reads a whole file into cfg, which holds the defaults.
func decode(file, text string, env expander, cfg *Config) error {
	text = strings.TrimPrefix(text, "\ufeff") // as the library does
	values, err := parse(text)
	if err != nil {
		var p toml.ParseError
		if !errors.As(err, &p) {
			return fmt.Errorf("%s: %w", file, err)
		}
		line, column := lineColumn(text, place(p.Position.Start))
		return &Error{file, line, column, p.Message}
	}
	d := &decoder{file: file, text: text, places: scan(text), env: env, cfg: cfg}
	d.table(nil, values, topKeys)
	slices.SortStableFunc(d.errs, func(a, b *Error) int {
		return 1<<20*(a.Line-b.Line) + a.Column - b.Column
	})
	var errs []error
	for i, e := range d.errs {
		if i == maxErrors {
			errs = append(errs, fmt.Errorf("and %d more", len(d.errs)-maxErrors))
			break
		}
		errs = append(errs, e)
	}
	return errors.Join(errs...)
}

// parse turns the library's panics, if an input should find one, into errors.
func parse(text string) (values map[string]any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("cannot be parsed: %v", r)
		}
	}()
	err = toml.Unmarshal([]byte(text), &values)
	return values, err
}

// fail notes a fault of the value at path.
func (d *decoder) fail(path []string, format string, args ...any) {
	d.failAt(d.find(path).value, "%s: %s", keyText(path), fmt.Sprintf(format, args...))
}

func (d *decoder) failAt(at place, format string, args ...any) {
	line, column := lineColumn(d.text, at)
	d.errs = append(d.errs, &Error{d.file, line, column, fmt.Sprintf(format, args...)})
}

// find returns the place of the nearest part of path that has one.
func (d *decoder) find(path []string) (p struct{ key, value place }) {
	for n := len(path); n > 0; n-- {
		if p, ok := d.places[pathKey(path[:n])]; ok {
			return p
		}
	}
	return p
}

// origin remembers where a key was set.
func (d *decoder) origin(path []string) {
	line, column := lineColumn(d.text, d.find(path).key)
	if d.cfg.origins == nil {
		d.cfg.origins = map[string]string{}
	}
	d.cfg.origins[strings.Join(path, ".")] = fmt.Sprintf("%s:%d:%d", d.file, line, column)
}

// table takes a table of known keys.
func (d *decoder) table(path []string, v any, keys []key) {
	values, ok := v.(map[string]any)
	if !ok {
		d.wrongType(path, "a table", v)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at, value := child(path, name), values[name]
		i := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
		if i < 0 {
			d.unknown(at, keys)
			continue
		}
		d.origin(at)
		keys[i].set(d, at, value)
	}
}

func (d *decoder) unknown(path []string, keys []key) {
	var names []string
	for _, k := range keys {
		names = append(names, k.name)
	}
	hint := ""
	if near := nearest(path[len(path)-1], names); near != "" {
		hint = fmt.Sprintf(" (did you mean %s?)", near)
	}
	d.failAt(d.find(path).key, "unknown key %s%s; known here: %s", keyText(path), hint, strings.Join(names, ", "))
}

func (d *decoder) wrongType(path []string, want string, v any) {
	d.fail(path, "must be %s, not %s", want, typeName(v))
}

func typeName(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case int64:
		return "an integer"
	case float64:
		return "a float"
	case bool:
		return "a boolean"
	case time.Time:
		return "a date or time"
	case map[string]any:
		return "a table"
	}
	return "a list"
}

// keyText prints a path of keys: tool.grep.limits, tools_dir[0].
func keyText(path []string) string {
	return escape.Line(strings.ReplaceAll(strings.Join(path, "."), ".[", "["))
}

func child(path []string, name string) []string {
	return append(append([]string(nil), path...), name)
}
