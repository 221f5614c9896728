package discovery_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"snens/supervisor/discovery"
)

// script is a program that is found healthy by the static checks and says
// nothing about itself in its head.
const script = "#!/bin/sh\necho hello\n"

// tree is a tools folder in the making.
type tree struct {
	t   testing.TB
	dir string
}

func newTree(t testing.TB) tree {
	t.Helper()
	return tree{t, t.TempDir()}
}

// add makes dir/NAME/NAME with that content, executable, and returns its path.
func (tr tree) add(name, content string) string {
	tr.t.Helper()
	tr.file(name, name, content, 0o755)
	return filepath.Join(tr.dir, name, name)
}

// file puts a file beside a tool.
func (tr tree) file(name, file, content string, mode os.FileMode) {
	tr.t.Helper()
	path := filepath.Join(tr.dir, name, file)
	must(tr.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(tr.t, os.WriteFile(path, []byte(content), mode))
	must(tr.t, os.Chmod(path, mode))
}

// link makes dir/NAME/NAME a symlink.
func (tr tree) link(name, target string) {
	tr.t.Helper()
	must(tr.t, os.MkdirAll(filepath.Join(tr.dir, name), 0o755))
	must(tr.t, os.Symlink(target, filepath.Join(tr.dir, name, name)))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// counter is a prober that counts and answers from a function.
type counter struct {
	mu     sync.Mutex
	calls  map[string]int // by argv0; guarded by mu
	paths  map[string]string
	answer func(argv0 string) discovery.ProbeResult
}

func newCounter(answer func(argv0 string) discovery.ProbeResult) *counter {
	return &counter{calls: map[string]int{}, paths: map[string]string{}, answer: answer}
}

// wellSpoken answers every probe by the contract.
func wellSpoken(argv0 string) discovery.ProbeResult {
	return discovery.ProbeResult{Stdout: []byte(argv0 + " — does it.\n" + argv0 + " FILE...\n")}
}

func (c *counter) Probe(_ context.Context, path, argv0 string) discovery.ProbeResult {
	c.mu.Lock()
	c.calls[argv0]++
	c.paths[argv0] = path
	c.mu.Unlock()
	return c.answer(argv0)
}

func (c *counter) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, calls := range c.calls {
		n += calls
	}
	return n
}

// list runs All and fails the test on an error. (The context is not the test's:
// that one may belong to the world outside a synctest bubble.)
func list(t testing.TB, f *discovery.Finder, mode discovery.Mode) discovery.Listing {
	t.Helper()
	got, err := f.All(context.Background(), mode)
	must(t, err)
	return got
}
