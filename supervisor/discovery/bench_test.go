package discovery_test

import (
	"fmt"
	"testing"

	"snens/supervisor/discovery"
)

// BenchmarkAll1000Cached is the start of a program with 1000 tools that are
// all remembered, once as files and once as links to one program, beside the
// start with none.
func BenchmarkAll1000Cached(b *testing.B) {
	for _, form := range []string{"none", "files", "links"} {
		b.Run(form, func(b *testing.B) {
			tr, cache := newTree(b), b.TempDir()
			for i := range 1000 {
				name := fmt.Sprintf("tool-%04d", i)
				switch form {
				case "files":
					tr.add(name, script)
					tr.file(name, "schema.json", `{"type":"object","properties":{"path":{"type":"string"}}}`, 0o644)
				case "links":
					tr.link(name, "/bin/sh")
				}
			}
			opts := discovery.Options{Dirs: []string{tr.dir}, CacheDir: cache + "/snens", Prober: newCounter(wellSpoken)}
			list(b, discovery.New(opts), discovery.Cached)
			probes := newCounter(wellSpoken)
			opts.Prober = probes
			for b.Loop() {
				list(b, discovery.New(opts), discovery.Cached)
			}
			if n := probes.total(); n != 0 {
				b.Fatalf("%d probes on a warm cache", n)
			}
		})
	}
}

// BenchmarkOneOf1000 is what `snens call NAME` pays.
func BenchmarkOneOf1000(b *testing.B) {
	tr, cache := newTree(b), b.TempDir()
	for i := range 1000 {
		tr.add(fmt.Sprintf("tool-%04d", i), script)
	}
	opts := discovery.Options{Dirs: []string{tr.dir}, CacheDir: cache + "/snens", Prober: newCounter(wellSpoken)}
	list(b, discovery.New(opts), discovery.Cached)
	for b.Loop() {
		if _, err := discovery.New(opts).One(b.Context(), "tool-0500"); err != nil {
			b.Fatal(err)
		}
	}
}
