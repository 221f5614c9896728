package policy

import (
	"maps"
	"slices"
	"strings"

	"snens/internal/tomlread"
)

// key is one key of a table: how it is written, what it is when it is not
// written, and how its value is taken.
type key[T any] struct {
	name  string
	kind  string // for people
	plain string // default, as one would write it; "" = nothing
	set   func(d *decoder, path []string, v any, into *T)
}

// decoder takes one file.
type decoder struct {
	*tomlread.Reader
	opt  Options
	host Host
	p    *Policy
	seen map[string]string // keys that may stand in one file only -> where
	all  *[]*draft
}

// missing are keys of features that this version does not have, by the table
// they would stand in. They are no unknown keys: whoever writes one counts on
// what it does.
var missing = map[string]map[string]string{
	"rule": {
		"kind":   "a kind of rule that writes files or bundles commands",
		"tty":    "a terminal for the command",
		"record": "the recording of an action",
	},
}

// table takes a table of known keys and returns those that were written.
func table[T any](d *decoder, of string, path []string, v any, keys []key[T], into *T) map[string]bool {
	seen := map[string]bool{}
	values, ok := v.(map[string]any)
	if !ok {
		d.WrongType(path, "a table", v)
		return seen
	}
	var names []string
	for _, k := range keys {
		names = append(names, k.name)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at := tomlread.Child(path, name)
		i := slices.Index(names, name)
		what := missing[of][name]
		switch {
		case i >= 0:
			seen[name] = true
			keys[i].set(d, at, values[name], into)
		case what != "":
			d.FailKey(at, "%s", errMissing(what))
		default:
			d.Unknown(at, names)
		}
	}
	return seen
}

// tables takes a list of tables and hands each to take.
func (d *decoder) tables(path []string, v any, want string, take func(path []string, v any)) {
	switch list := v.(type) {
	case []map[string]any:
		for i, t := range list {
			take(tomlread.Item(path, i), t)
		}
	case []any:
		for i, t := range list {
			take(tomlread.Item(path, i), t)
		}
	default:
		d.WrongType(path, want, v)
	}
}

// text takes a string without control characters of at most max bytes.
func (d *decoder) text(path []string, v any, most int, into *string) bool {
	var s string
	if !d.String(path, v, &s) {
		return false
	}
	switch {
	case len(s) > most:
		d.Fail(path, "must have at most %d bytes", most)
	case strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }):
		d.Fail(path, "must be one line without control characters")
	default:
		*into = s
		return true
	}
	return false
}

// Key describes one key for people.
type Key struct {
	Path    string // "rule.approve.ttl"
	Kind    string // "time"
	Default string // as one would write it; "" = nothing
}

// Keys lists every key of a policy file, sorted, tables themselves left out.
func Keys() []Key {
	var all []Key
	add(&all, "", topKeys)
	add(&all, "rule.", ruleKeys)
	add(&all, "rule.args.", slotKeys)
	add(&all, "rule.run_as.", runAsKeys)
	add(&all, "rule.approve.", approveKeys)
	add(&all, "rule.limits.", limitKeys)
	add(&all, "person.", personKeys)
	slices.SortFunc(all, func(a, b Key) int { return strings.Compare(a.Path, b.Path) })
	return all
}

func add[T any](all *[]Key, prefix string, keys []key[T]) {
	for _, k := range keys {
		if k.kind != "table" && k.kind != "tables" {
			*all = append(*all, Key{prefix + k.name, k.kind, k.plain})
		}
	}
}
