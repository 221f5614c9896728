package discovery_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snens/supervisor/discovery"
	"snens/supervisor/tool"
)

// schemas are what can lie at schema.json, and why it is not used.
var schemas = map[string]struct {
	make func(t *testing.T, path string)
	note string // "" with usable false: there is none
	used bool
}{
	"none": {func(*testing.T, string) {}, "", false},
	"good": {func(t *testing.T, path string) { must(t, os.WriteFile(path, []byte("good"), 0o644)) }, "", true},
	"linked": {func(t *testing.T, path string) {
		must(t, os.WriteFile(path+".real", []byte("good"), 0o644))
		must(t, os.Symlink("schema.json.real", path))
	}, "", true},
	"broken":   {func(t *testing.T, path string) { must(t, os.WriteFile(path, []byte("bad"), 0o644)) }, "schema.json is not usable: line 1: so it is", false},
	"big":      {func(t *testing.T, path string) { must(t, os.WriteFile(path, make([]byte, 256<<10+1), 0o644)) }, "schema.json is larger than 256 KiB", false},
	"folder":   {func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o755)) }, "schema.json is not a regular file", false},
	"pipe":     {func(t *testing.T, path string) { must(t, unix.Mkfifo(path, 0o644)) }, "schema.json is not a regular file", false},
	"device":   {func(t *testing.T, path string) { must(t, os.Symlink("/dev/zero", path)) }, "schema.json is not a regular file", false},
	"dangling": {func(t *testing.T, path string) { must(t, os.Symlink("/absent", path)) }, "schema.json is a dangling link to /absent", false},
	"loop":     {func(t *testing.T, path string) { must(t, os.Symlink("schema.json", path)) }, "schema.json cannot be read: ", false},
}

func TestABrokenSchemaNeverLosesTheTool(t *testing.T) {
	for name, c := range schemas {
		for _, required := range []bool{false, true} {
			tr := newTree(t)
			tr.add("x", script)
			c.make(t, filepath.Join(tr.dir, "x/schema.json"))
			probes := newCounter(wellSpoken)
			f := discovery.New(discovery.Options{
				Dirs: []string{tr.dir}, Prober: probes,
				RequireSchema: func(n tool.Name) bool { return required && n == "x" },
				CheckSchema: func(b []byte) error {
					if string(b) != "good" {
						return errors.New("line 1:\nso it is")
					}
					return nil
				},
			})
			for range 2 { // read, then remembered
				found, err := f.One(t.Context(), "x")
				must(t, err)
				switch {
				case required && !c.used:
					want := "require_schema is set, but " + c.note
					if c.note == "" {
						want += "there is no schema.json"
					}
					if found.Quarantined == nil || !strings.HasPrefix(found.Quarantined.Cause, want) {
						t.Errorf("%s, required: %+v, want cause %q", name, found, want)
					}
					if probes.total() != 0 {
						t.Errorf("%s, required: it was run", name)
					}
				case found.Tool == nil:
					t.Errorf("%s: lost: %+v", name, found)
				case !strings.HasPrefix(found.Tool.SchemaNote, c.note) || (c.note == "") != (found.Tool.SchemaNote == ""):
					t.Errorf("%s: note %q, want %q", name, found.Tool.SchemaNote, c.note)
				case string(found.Tool.Schema) != map[bool]string{true: "good"}[c.used]:
					t.Errorf("%s: schema %.20q", name, found.Tool.Schema)
				}
			}
		}
	}
}

func TestTheConfigDecidesAnewAboutRememberedTools(t *testing.T) {
	tr := newTree(t)
	tr.add("x", script)
	opts := discovery.Options{Dirs: []string{tr.dir}, CacheDir: filepath.Join(t.TempDir(), "c"), Prober: newCounter(wellSpoken)}
	if found, err := discovery.New(opts).One(t.Context(), "x"); err != nil || found.Tool == nil {
		t.Fatalf("%+v, %v", found, err)
	}
	opts.RequireSchema = func(tool.Name) bool { return true }
	if found, err := discovery.New(opts).One(t.Context(), "x"); err != nil || found.Quarantined == nil {
		t.Errorf("the cache went round require_schema: %+v, %v", found, err)
	}
}
