package discovery_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"snens/internal/testneed"
	"snens/supervisor/discovery"
	"snens/supervisor/tool"
)

// execProber runs programs for real, with nothing of the call engine's care.
type execProber struct{ dir string }

func (p execProber) Probe(ctx context.Context, path, argv0 string) discovery.ProbeResult {
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, path, "--help")
	cmd.Args[0] = argv0
	cmd.Dir, cmd.Env = p.dir, []string{"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "PAGER=cat", "HOME=" + p.dir}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	r := discovery.ProbeResult{Stdout: []byte(stdout.String()), Stderr: []byte(stderr.String())}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		status := exit.Sys().(syscall.WaitStatus)
		if r.ExitCode = status.ExitStatus(); status.Signaled() {
			r.Signal = "signal " + status.Signal().String()
		}
	case err != nil:
		r.StartErr = err
	}
	return r
}

func TestProgramsThatAreReallyRun(t *testing.T) {
	tr := newTree(t)
	for _, name := range []string{"ls", "cat", "tar", "sed"} {
		tr.link(name, testneed.Program(t, name))
	}
	tr.add("greets", "#!/bin/sh\necho \"$0 greets\"\n")
	tr.add("dies", "#!/bin/sh\nkill -SEGV $$\n")
	tr.add("fails", "#!/bin/sh\necho no >&2; exit 7\n")
	tr.add("silent", "#!/bin/sh\n:\n")
	tr.add("complains", "#!/bin/sh\necho 'complains — about all' >&2\n")
	tr.add("by-env", "#!/usr/bin/env sh\necho by env\n")
	f := discovery.New(discovery.Options{
		Dirs: []string{tr.dir}, Prober: execProber{t.TempDir()}, Env: []string{"PATH=/usr/bin:/bin"},
	})
	got := list(t, f, discovery.Cached)
	if want := []string{"by-env", "cat", "complains", "greets", "ls", "sed", "tar"}; !slices.Equal(names(got.Tools), want) {
		t.Errorf("tools %v, want %v; quarantined %v", names(got.Tools), want, got.Quarantined)
	}
	causes := map[string]string{}
	for _, q := range got.Quarantined {
		causes[q.Name] = q.Cause
	}
	for name, want := range map[string]string{
		"dies":   "--help died by signal segmentation fault",
		"fails":  "--help ended with exit 7 and nothing on stdout",
		"silent": "--help printed nothing",
	} {
		if causes[name] != want {
			t.Errorf("%s: cause %q, want %q", name, causes[name], want)
		}
	}
	for _, found := range got.Tools {
		if found.Name == "ls" && !strings.HasPrefix(found.Usage, "Usage: ls ") {
			t.Errorf("a linked program does not get the tool's name as its own: %q", found.Usage)
		}
	}
}

// TestWhatOnlyTheKernelSees are causes that show in exec alone.
func TestWhatOnlyTheKernelSees(t *testing.T) {
	tr := newTree(t)
	busy := tr.add("busy", script)
	held, err := os.OpenFile(busy, os.O_WRONLY, 0)
	must(t, err)
	defer held.Close()
	loop := filepath.Join(tr.dir, "loop", "loop")
	tr.add("loop", "#!"+loop+"\n")
	tr.add("text", "echo hello\n")
	f := discovery.New(discovery.Options{Dirs: []string{tr.dir}, Prober: execProber{t.TempDir()}})
	f.WithBinfmt() // as if further formats were registered: then exec decides
	causes := map[tool.Name]string{}
	for _, q := range list(t, f, discovery.Cached).Quarantined {
		causes[tool.Name(q.Name)] = q.Cause
	}
	for name, want := range map[tool.Name]string{
		"busy": "text file busy: something has it open for writing",
		"loop": "the interpreters form a loop",
		"text": "neither a #! line nor an ELF program, so the kernel cannot run it",
	} {
		if causes[name] != want {
			t.Errorf("%s: cause %q, want %q", name, causes[name], want)
		}
	}
}
