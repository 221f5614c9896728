package config

import (
	"maps"
	"slices"
	"strings"

	"snens/internal/tomlread"
)

// Error is one fault in a configuration file.
type Error = tomlread.Fault

// maxErrors bounds how many faults one load reports.
const maxErrors = 20

// decoder turns a parsed file into a Config and collects what is wrong with it.
type decoder struct {
	*tomlread.Reader
	env  expander
	cfg  *Config
	tool *Tool // whose table is being taken
}

// decode reads a whole file into cfg, which holds the defaults.
func decode(file, text string, env expander, cfg *Config) error {
	r, values, err := tomlread.Open(file, text)
	if err != nil {
		return err
	}
	d := &decoder{Reader: r, env: env, cfg: cfg}
	d.table(nil, values, topKeys)
	return tomlread.Join(r.Faults(), maxErrors)
}

// origin remembers where a key was set.
func (d *decoder) origin(path []string) {
	if d.cfg.origins == nil {
		d.cfg.origins = map[string]string{}
	}
	d.cfg.origins[strings.Join(path, ".")] = d.Origin(path)
}

// table takes a table of known keys.
func (d *decoder) table(path []string, v any, keys []key) {
	values, ok := v.(map[string]any)
	if !ok {
		d.WrongType(path, "a table", v)
		return
	}
	var names []string
	for _, k := range keys {
		names = append(names, k.name)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at, value := tomlread.Child(path, name), values[name]
		i := slices.Index(names, name)
		if i < 0 {
			d.Unknown(at, names)
			continue
		}
		d.origin(at)
		keys[i].set(d, at, value)
	}
}
