package discovery_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"snens/supervisor/discovery"
	"snens/supervisor/tool"
)

func names(tools []tool.Tool) []string {
	var out []string
	for _, found := range tools {
		out = append(out, string(found.Name))
	}
	return out
}

func finder(probes discovery.Prober, dirs ...string) *discovery.Finder {
	return discovery.New(discovery.Options{Dirs: dirs, Prober: probes})
}

func TestAToolIsDescribedWhole(t *testing.T) {
	tr := newTree(t)
	path := tr.add("x", script)
	tr.file("x", "schema.json", `{"type":"object"}`, 0o644)
	want := tool.Tool{
		Name: "x", Dir: filepath.Dir(path), Path: path,
		Description: tool.Description{Essence: "x — does it.", Usage: "x FILE...", Source: tool.SourceHelp},
		Schema:      []byte(`{"type":"object"}`),
	}
	found, err := finder(newCounter(wellSpoken), tr.dir).One(t.Context(), "x")
	if err != nil || !reflect.DeepEqual(*found.Tool, want) {
		t.Errorf("got %+v, %v\nwant %+v", found.Tool, err, want)
	}
}

func TestTheOrderOfSources(t *testing.T) {
	tr := newTree(t)
	head := "#!/bin/sh\n# x — by comment\n# x COMMENT\n"
	tr.add("x", head)
	probes := newCounter(wellSpoken)
	get := func() tool.Description {
		t.Helper()
		found, err := finder(probes, tr.dir).One(t.Context(), "x")
		must(t, err)
		return found.Tool.Description
	}
	if d := get(); d.Essence != "x — by comment" || d.Usage != "x COMMENT" || d.Source != tool.SourceComments {
		t.Errorf("%+v", d)
	}
	tr.file("x", "help.txt", "x — by file\nx stdin\n", 0o644)
	if d := get(); d.Essence != "x — by file" || d.Source != tool.SourceHelpFile || !d.NeedsStdin {
		t.Errorf("%+v", d)
	}
	if probes.total() != 0 {
		t.Error("run although it is described")
	}
}

func TestEverythingIsSorted(t *testing.T) {
	a, b := newTree(t), newTree(t)
	for _, name := range []string{"zeta", "alpha", "Mid", "beta-2", "beta"} {
		a.add(name, script)
		b.add(name, script)
		a.add("bad-"+name, "")
	}
	b.add("only-b", script)
	f := finder(newCounter(wellSpoken), a.dir, b.dir)
	for range 2 {
		got := list(t, f, discovery.Cached)
		if want := []string{"Mid", "alpha", "beta", "beta-2", "only-b", "zeta"}; !slices.Equal(names(got.Tools), want) {
			t.Errorf("tools %v", names(got.Tools))
		}
		var bad, shadowed []string
		for _, q := range got.Quarantined {
			bad = append(bad, q.Name)
		}
		for _, s := range got.Shadowed {
			shadowed = append(shadowed, string(s.Name))
			if s.Path != filepath.Join(b.dir, string(s.Name), string(s.Name)) || s.By != filepath.Join(a.dir, string(s.Name), string(s.Name)) {
				t.Errorf("shadowed %+v", s)
			}
		}
		if want := []string{"bad-Mid", "bad-alpha", "bad-beta", "bad-beta-2", "bad-zeta"}; !slices.Equal(bad, want) {
			t.Errorf("quarantined %v", bad)
		}
		if want := []string{"Mid", "alpha", "beta", "beta-2", "zeta"}; !slices.Equal(shadowed, want) {
			t.Errorf("shadowed %v", shadowed)
		}
	}
}

func TestTheFirstHealthyOneWins(t *testing.T) {
	a, b, c := newTree(t), newTree(t), newTree(t)
	a.add("x", "")
	second := b.add("x", script)
	third := c.add("x", script)
	probes := newCounter(wellSpoken)
	f := finder(probes, a.dir, b.dir, c.dir, b.dir) // a folder that is named twice shadows nothing
	got := list(t, f, discovery.Cached)
	broken := tool.Quarantined{Name: "x", Path: filepath.Join(a.dir, "x/x"), Cause: "empty file"}
	if len(got.Tools) != 1 || got.Tools[0].Path != second {
		t.Errorf("tools %+v", got.Tools)
	}
	if !slices.Equal(got.Quarantined, []tool.Quarantined{broken}) {
		t.Errorf("quarantined %+v", got.Quarantined)
	}
	if !slices.Equal(got.Shadowed, []tool.Shadowed{{Name: "x", Path: third, By: second}}) {
		t.Errorf("shadowed %+v", got.Shadowed)
	}
	if probes.total() != 1 {
		t.Errorf("%d probes: what is shadowed needs none", probes.total())
	}
	found, err := f.One(t.Context(), "x")
	if err != nil || found.Tool.Path != second || !slices.Equal(found.Passed, []tool.Quarantined{broken}) {
		t.Errorf("One: %+v, %v", found, err)
	}
}

func TestWhatIsNoTool(t *testing.T) {
	tr := newTree(t)
	must(t, os.WriteFile(filepath.Join(tr.dir, "README.md"), []byte("text"), 0o644))
	must(t, os.MkdirAll(filepath.Join(tr.dir, ".git/.git"), 0o755))
	must(t, os.Symlink("README.md", filepath.Join(tr.dir, "LICENSE")))
	tr.add("x", script)
	got := list(t, finder(newCounter(wellSpoken), tr.dir), discovery.Cached)
	if len(got.Quarantined) != 0 || !slices.Equal(names(got.Tools), []string{"x"}) {
		t.Errorf("%+v", got)
	}
}

func TestLinkedFolders(t *testing.T) {
	tr, elsewhere := newTree(t), newTree(t)
	elsewhere.add("x", script)
	must(t, os.Symlink(filepath.Join(elsewhere.dir, "x"), filepath.Join(tr.dir, "x")))
	got := list(t, finder(newCounter(wellSpoken), tr.dir), discovery.Cached)
	if len(got.Tools) != 1 || got.Tools[0].Path != filepath.Join(tr.dir, "x/x") {
		t.Errorf("%+v", got)
	}
}

func TestFoldersThatAreNotThere(t *testing.T) {
	tr := newTree(t)
	tr.add("x", script)
	absent, file := filepath.Join(tr.dir, "absent"), filepath.Join(tr.dir, "x/x")
	got := list(t, finder(newCounter(wellSpoken), absent, file, tr.dir), discovery.Cached)
	want := []discovery.Note{
		{Kind: discovery.NoteMissing, Path: absent, Text: "tools folder " + absent + " does not exist"},
		{Kind: discovery.NoteUnreadable, Path: file, Text: "cannot list tools folder " + file + ": not a directory"},
	}
	if !slices.Equal(got.Notes, want) {
		t.Errorf("notes %q\nwant %q", got.Notes, want)
	}
	if len(got.Tools) != 1 {
		t.Errorf("tools %v", got.Tools)
	}
	if got := list(t, finder(nil), discovery.Cached); !reflect.DeepEqual(got, discovery.Listing{}) {
		t.Errorf("without folders: %+v", got)
	}
}

func TestNotFound(t *testing.T) {
	tr := newTree(t)
	for _, name := range []string{"grep", "great", "wc-lines", "write", "read", "reader", "reads", "ready", "a.b"} {
		tr.add(name, script)
	}
	f := finder(newCounter(wellSpoken), tr.dir)
	for name, want := range map[string]struct {
		near []string
		text string
	}{
		"gerp":                   {[]string{"grep"}, `cannot find tool "gerp"`},
		"GREP":                   {[]string{"grep"}, `cannot find tool "GREP"`},
		"wc":                     {[]string{"wc-lines"}, `cannot find tool "wc"`},
		"rea":                    {[]string{"read", "reads", "ready"}, `cannot find tool "rea"`},
		"zzz":                    {nil, `cannot find tool "zzz"`},
		"../x":                   {nil, `cannot find tool: tool name "../x" has a character outside A-Z a-z 0-9 _ -`},
		"gr/ep":                  {[]string{"grep"}, `cannot find tool: tool name "gr/ep" has a character outside A-Z a-z 0-9 _ -`},
		"":                       {nil, "cannot find tool: a tool name must not be empty"},
		".":                      {nil, `cannot find tool: tool name "." has a character outside A-Z a-z 0-9 _ -`},
		"..":                     {nil, `cannot find tool: tool name ".." has a character outside A-Z a-z 0-9 _ -`},
		"run":                    {nil, `cannot find tool: tool name "run" is reserved`},
		"a\x00b":                 {nil, `cannot find tool: tool name "a\x00b" has a character outside A-Z a-z 0-9 _ -`},
		strings.Repeat("x", 300): {nil, "cannot find tool: tool name is 300 bytes long; at most 64 are allowed"},
	} {
		_, err := f.One(t.Context(), name)
		var missing *discovery.NotFoundError
		if !errors.As(err, &missing) || !slices.Equal(missing.Near, want.near) || err.Error() != want.text {
			t.Errorf("%q: %v, near %v; want %s, near %v", name, err, missing.Near, want.text, want.near)
		}
	}
}

func TestProgramsOfManyNames(t *testing.T) {
	tr := newTree(t)
	many := filepath.Join(t.TempDir(), "many")
	must(t, os.WriteFile(many, []byte(script), 0o755))
	for _, name := range []string{"a", "b", "c"} {
		tr.link(name, many)
	}
	probes := newCounter(wellSpoken)
	got := list(t, finder(probes, tr.dir), discovery.Cached)
	for i, name := range []string{"a", "b", "c"} {
		if got.Tools[i].Essence != name+" — does it." {
			t.Errorf("%s: %q", name, got.Tools[i].Essence)
		}
		if want := filepath.Join(tr.dir, name, name); probes.paths[name] != want || probes.calls[name] != 1 {
			t.Errorf("%s: run as %q, %d times; want %q, once", name, probes.paths[name], probes.calls[name], want)
		}
	}
}

func TestCheapAndKnown(t *testing.T) {
	a, b := newTree(t), newTree(t)
	for _, name := range []string{"fine", "fails", "comments"} {
		a.add(name, script)
	}
	a.add("empty", "")
	b.add("empty", script)
	b.add("fine", script)
	must(t, os.MkdirAll(filepath.Join(b.dir, "folder"), 0o755))
	probes := newCounter(func(name string) discovery.ProbeResult {
		if name == "fails" {
			return discovery.ProbeResult{ExitCode: 1}
		}
		return wellSpoken(name)
	})
	f := finder(probes, a.dir, b.dir)
	paths := func() []string {
		var out []string
		for _, r := range f.Cheap() {
			out = append(out, r.Path)
		}
		return out
	}
	place := func(tr tree, name string) string { return filepath.Join(tr.dir, name, name) }
	all := []string{place(a, "comments"), place(b, "empty"), place(a, "fails"), place(a, "fine")}
	if got := paths(); !slices.Equal(got, all) {
		t.Errorf("cheap before anything is known: %v", got)
	}
	if known := f.Known(); len(known) != 0 || probes.total() != 0 {
		t.Errorf("known %v, %d probes", known, probes.total())
	}
	list(t, f, discovery.Cached)
	ran := probes.total()
	if got := paths(); !slices.Equal(got, []string{all[0], all[1], all[3]}) {
		t.Errorf("cheap when a failure is known: %v", got)
	}
	if got := names(f.Known()); !slices.Equal(got, []string{"comments", "empty", "fine"}) {
		t.Errorf("known %v", got)
	}
	if probes.total() != ran {
		t.Error("Cheap or Known ran something")
	}
}
