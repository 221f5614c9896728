package config_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"snens/supervisor/config"
)

// tagged lists the keys that the fields of a struct stand for.
func tagged(prefix string, t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("toml")
		if name == "" {
			continue
		}
		switch ft := f.Type; {
		case ft.Kind() == reflect.Struct:
			out = append(out, tagged(prefix+name+".", ft)...)
		case ft.Kind() == reflect.Map && ft.Elem().Kind() == reflect.Struct:
			out = append(out, tagged(prefix+name+".NAME.", ft.Elem())...)
		default:
			out = append(out, prefix+name)
		}
	}
	slices.Sort(out)
	return out
}

func TestEveryKeyHasAFieldAndEveryFieldAKey(t *testing.T) {
	var keys []string
	for _, k := range config.Keys() {
		keys = append(keys, k.Path)
	}
	if fields := tagged("", reflect.TypeFor[config.Config]()); !slices.Equal(keys, fields) {
		t.Errorf("keys   %q\nfields %q", keys, fields)
	}
}

const page = "../../docs/config.md"

func TestTheReferenceIsComplete(t *testing.T) {
	text, err := os.ReadFile(page)
	must(t, err)
	row := regexp.MustCompile("(?m)^\\| `([a-zA-Z_.]+)` \\| ([^|]*) \\|([^|]*)\\| ([^|]+) \\|$")
	var written []config.Key
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		written = append(written, config.Key{Path: m[1], Kind: m[2], Default: strings.Trim(m[3], " `")})
	}
	slices.SortFunc(written, func(a, b config.Key) int { return strings.Compare(a.Path, b.Path) })
	if keys := config.Keys(); !slices.Equal(written, keys) {
		t.Errorf("%s has\n%q\nthe code has\n%q", page, written, keys)
	}
}

func TestTheExampleLoads(t *testing.T) {
	text, err := os.ReadFile(page)
	must(t, err)
	_, example, found := strings.Cut(string(text), "```toml\n")
	example, _, closed := strings.Cut(example, "```")
	if !found || !closed {
		t.Fatal("no example")
	}
	c, err := loadText(t, example)
	must(t, err)
	if len(c.Tools) != 2 || c.Tools["weather"].Limits.Memory != 256<<20 {
		t.Errorf("got %+v", c)
	}
}

// What the page says a default is, is what an empty file gives.
func TestTheDefaultsAreAsWritten(t *testing.T) {
	var b strings.Builder
	for _, k := range config.Keys() {
		if k.Default != "" && !strings.HasPrefix(k.Path, "tool.") && k.Path != "run.shell" {
			b.WriteString(k.Path + " = " + k.Default + "\n")
		}
	}
	written, err := loadText(t, b.String())
	must(t, err)
	empty, err := loadText(t, "")
	must(t, err)
	w, e := reflect.ValueOf(*written), reflect.ValueOf(*empty)
	for i := range w.NumField() {
		f := w.Type().Field(i)
		if f.Tag.Get("toml") == "" || w.Field(i).Kind() == reflect.Slice && w.Field(i).Len() == 0 && e.Field(i).Len() == 0 {
			continue
		}
		if !reflect.DeepEqual(w.Field(i).Interface(), e.Field(i).Interface()) {
			t.Errorf("%s: written %v, empty %v", f.Name, w.Field(i), e.Field(i))
		}
	}
}
