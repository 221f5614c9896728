package policy

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"snens/internal/tomlread"
)

// takeEnv takes the variables that a rule sets. What needs i_know is looked at
// when the whole rule is known.
func takeEnv(d *decoder, path []string, v any, r *Rule) {
	values, ok := v.(map[string]any)
	if !ok {
		d.WrongType(path, `a table such as {LANG = "C"}`, v)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at := tomlread.Child(path, name)
		if err := checkName(name); err != nil {
			d.FailKey(at, "%s", err)
			continue
		}
		var value string
		switch {
		case !d.String(at, values[name], &value):
		case len(value) > maxValue:
			d.Fail(at, "must have at most %d bytes", maxValue)
		case strings.IndexByte(value, 0) >= 0 || !utf8.ValidString(value):
			d.Fail(at, "a variable cannot hold a NUL character")
		default:
			r.Env = append(r.Env, Var{Name: name, Value: value})
		}
	}
}

func takeEnvPass(d *decoder, path []string, v any, r *Rule) {
	d.Strings(path, v, &r.EnvPass, func(at []string, name string) (string, bool) {
		if err := checkEnvPass(name); err != nil {
			d.Fail(at, "%s", err)
			return "", false
		}
		return name, true
	})
	slices.Sort(r.EnvPass)
	if n := len(r.EnvPass); len(slices.Compact(r.EnvPass)) != n {
		d.Fail(path, "a name stands here twice")
	}
}
