package testneed_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"snens/internal/testneed"
)

// recorder is a testing.TB that notes how a need ended the test.
type recorder struct {
	testing.TB
	skipped, failed string
}

func (r *recorder) Helper() {}

func (r *recorder) Skip(args ...any) {
	r.skipped, _ = args[0].(string)
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) {
	r.failed, _ = args[0].(string)
	runtime.Goexit()
}

// record runs need in a goroutine of its own, as Skip and Fatal end theirs.
func record(t *testing.T, need func(testing.TB)) *recorder {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		need(r)
	}()
	<-done
	return r
}

func TestMissingProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	need := func(tb testing.TB) { testneed.Program(tb, "no-such-program", "some-package") }
	const want = "needs: the program no-such-program (apt-get install some-package)"

	t.Setenv("CI", "")
	if r := record(t, need); r.skipped != want || r.failed != "" {
		t.Errorf("without CI: skipped %q, failed %q; want skipped %q", r.skipped, r.failed, want)
	}
	t.Setenv("CI", "true")
	if r := record(t, need); r.skipped != "" || !strings.HasPrefix(r.failed, want) {
		t.Errorf("with CI: skipped %q, failed %q; want failed %q...", r.skipped, r.failed, want)
	}
}

func TestProgramIsFound(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "here")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if got := testneed.Program(t, "here"); got != path {
		t.Errorf("got %q, want %q", got, path)
	}
}

func TestKernelIsASkipEverywhere(t *testing.T) {
	t.Setenv("CI", "true")
	r := record(t, func(tb testing.TB) { testneed.Kernel(tb, false, "wings") })
	if r.skipped != "needs: a kernel with wings" || r.failed != "" {
		t.Errorf("skipped %q, failed %q", r.skipped, r.failed)
	}
	r = record(t, func(tb testing.TB) { testneed.Kernel(tb, true, "wings") })
	if r.skipped != "" || r.failed != "" {
		t.Errorf("a need that is met ended the test: skipped %q, failed %q", r.skipped, r.failed)
	}
}
