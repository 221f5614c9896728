package discovery_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snens/internal/testneed"
	"snens/supervisor/discovery"
	"snens/supervisor/tool"
)

// static are the tools that are set aside without being run: how to make one
// named bad, and the exact cause.
var static = map[string]struct {
	make  func(t *testing.T, tr tree)
	cause string
}{
	"no program": {func(_ *testing.T, tr tree) { tr.file("bad", "other", script, 0o755) }, "no executable of that name in its folder"},
	"not a folder": {func(t *testing.T, tr tree) {
		must(t, os.WriteFile(filepath.Join(tr.dir, "bad"), []byte(script), 0o755))
	}, "not a folder: the program belongs in a folder of its own name"},
	"dangling folder": {func(t *testing.T, tr tree) {
		must(t, os.Symlink("/absent/folder", filepath.Join(tr.dir, "bad")))
	}, "dangling link to /absent/folder"},
	"not executable":   {func(_ *testing.T, tr tree) { tr.file("bad", "bad", script, 0o644) }, "not executable: chmod +x is missing"},
	"dangling link":    {func(_ *testing.T, tr tree) { tr.link("bad", "/absent/program\nx") }, "dangling link to /absent/program x"},
	"through a file":   {func(_ *testing.T, tr tree) { tr.link("bad", "/dev/null/x") }, "dangling link to /dev/null/x"},
	"link loop":        {func(_ *testing.T, tr tree) { tr.link("bad", "bad") }, "link loop"},
	"directory":        {func(t *testing.T, tr tree) { must(t, os.MkdirAll(filepath.Join(tr.dir, "bad/bad"), 0o755)) }, "a directory, not a program"},
	"linked directory": {func(_ *testing.T, tr tree) { tr.link("bad", "/usr") }, "a directory, not a program"},
	"named pipe": {func(t *testing.T, tr tree) {
		must(t, os.MkdirAll(filepath.Join(tr.dir, "bad"), 0o755))
		must(t, unix.Mkfifo(filepath.Join(tr.dir, "bad/bad"), 0o755))
	}, "a named pipe, not a program"},
	"device":     {func(_ *testing.T, tr tree) { tr.link("bad", "/dev/null") }, "a device, not a program"},
	"empty file": {func(_ *testing.T, tr tree) { tr.add("bad", "") }, "empty file"},
	"no format":  {func(_ *testing.T, tr tree) { tr.add("bad", "echo hello\n") }, "neither a #! line nor an ELF program, so the kernel cannot run it"},
	"foreign": {func(_ *testing.T, tr tree) {
		tr.add("bad", "\x7fELF\x02\x01\x01"+strings.Repeat("\x00", 9)+"\x02\x00\xf3\x00"+strings.Repeat("\x00", 100))
	}, "wrong architecture: built for riscv, this machine is x86_64"},
	"damaged":              {func(_ *testing.T, tr tree) { tr.add("bad", "\x7fELF\x02\x01\x01") }, "damaged ELF header"},
	"no loader":            {func(_ *testing.T, tr tree) { tr.add("bad", withLoader("/lib/ld-absent.so.1")) }, "missing interpreter /lib/ld-absent.so.1, the loader of this ELF program"},
	"empty shebang":        {func(_ *testing.T, tr tree) { tr.add("bad", "#!\necho") }, "bad shebang: no interpreter after #!"},
	"relative shebang":     {func(_ *testing.T, tr tree) { tr.add("bad", "#!bin/sh\n") }, "bad shebang: interpreter bin/sh is not an absolute path"},
	"long shebang":         {func(_ *testing.T, tr tree) { tr.add("bad", "#!/"+strings.Repeat("x", 300)+"\n") }, "bad shebang: the first line is longer than 255 bytes"},
	"CRLF":                 {func(_ *testing.T, tr tree) { tr.add("bad", "#!/bin/sh\r\necho\r\n") }, "CRLF shebang: the first line ends in a carriage return"},
	"missing interpreter":  {func(_ *testing.T, tr tree) { tr.add("bad", "#!/absent/python9 -u\n") }, "missing interpreter /absent/python9"},
	"unfit interpreter":    {func(_ *testing.T, tr tree) { tr.add("bad", "#!/etc/passwd\n") }, "interpreter /etc/passwd is not executable"},
	"interpreter a folder": {func(_ *testing.T, tr tree) { tr.add("bad", "#!/usr\n") }, "interpreter /usr is not executable"},
	"env, not on PATH":     {func(_ *testing.T, tr tree) { tr.add("bad", "#!/usr/bin/env python9\n") }, "missing interpreter python9: env does not find it on PATH"},
	"env, absent path":     {func(_ *testing.T, tr tree) { tr.add("bad", "#!/usr/bin/env /absent/x\n") }, "missing interpreter /absent/x"},
	"env, one word":        {func(_ *testing.T, tr tree) { tr.add("bad", "#!/usr/bin/env sh -x\n") }, `bad shebang: env gets "sh -x" as one name, env -S would split it`},
	"help.txt empty":       {withFile("help.txt", " \n"), "help.txt is empty"},
	"help.txt big":         {withFile("help.txt", "x\n"+strings.Repeat("x", 64<<10)), "help.txt is larger than 64 KiB"},
	"help.txt a pipe":      {withPipe("help.txt"), "help.txt is not a regular file"},
	"help.txt dangling":    {withLink("help.txt"), "help.txt cannot be read: dangling link to /absent/file"},
}

func withFile(name, content string) func(*testing.T, tree) {
	return func(_ *testing.T, tr tree) {
		tr.add("bad", script)
		tr.file("bad", name, content, 0o644)
	}
}

func withPipe(name string) func(*testing.T, tree) {
	return func(t *testing.T, tr tree) {
		tr.add("bad", script)
		must(t, unix.Mkfifo(filepath.Join(tr.dir, "bad", name), 0o644))
	}
}

func withLink(name string) func(*testing.T, tree) {
	return func(t *testing.T, tr tree) {
		tr.add("bad", script)
		must(t, os.Symlink("/absent/file", filepath.Join(tr.dir, "bad", name)))
	}
}

// withLoader is a 64-bit ELF program of this machine that names a loader.
func withLoader(path string) string {
	b := []byte("\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 64+56-7))
	b[16], b[18], b[32], b[56] = 3, 62, 64, 1     // shared object, x86_64, segments at 64, one of them
	b[64], b[72], b[96] = 3, 120, byte(len(path)) // PT_INTERP at 120
	return string(b) + path
}

func TestStaticCauses(t *testing.T) {
	for name, c := range static {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(c.cause, "x86_64") || name == "no loader" {
				testneed.Kernel(t, runtime.GOARCH == "amd64", "the x86_64 architecture")
			}
			tr := newTree(t)
			c.make(t, tr)
			tr.add("good", script)
			probes := newCounter(wellSpoken)
			f := discovery.New(discovery.Options{Dirs: []string{tr.dir}, Prober: probes, Env: []string{"PATH=/usr/bin:/bin"}})
			f.WithoutBinfmt()
			got := list(t, f, discovery.Cached)
			want := []tool.Quarantined{{Name: "bad", Path: filepath.Join(tr.dir, "bad/bad"), Cause: c.cause}}
			if !slices.Equal(got.Quarantined, want) {
				t.Errorf("quarantined %+v\n     want %+v", got.Quarantined, want)
			}
			if len(got.Tools) != 1 || got.Tools[0].Name != "good" {
				t.Errorf("a broken tool hides another: %v", got.Tools)
			}
			if probes.calls["bad"] != 0 {
				t.Error("it was run")
			}
			found, err := f.One(t.Context(), "bad")
			if err != nil || found.Tool != nil || *found.Quarantined != want[0] {
				t.Errorf("One: %+v, %v", found, err)
			}
		})
	}
}

func TestProbedCauses(t *testing.T) {
	errno := func(e error) discovery.ProbeResult {
		return discovery.ProbeResult{StartErr: fmt.Errorf("cannot run it: %w", e)}
	}
	for name, c := range map[string]struct {
		result discovery.ProbeResult
		cause  string
		kept   bool // remembered for a while
	}{
		"signal":             {discovery.ProbeResult{Signal: "SIGSEGV", Stdout: []byte("x\n")}, "--help died by SIGSEGV", true},
		"timeout":            {discovery.ProbeResult{TimedOut: true, Signal: "SIGKILL", Stdout: []byte("x\n")}, "--help timed out after 5 s", true},
		"exit":               {discovery.ProbeResult{ExitCode: 3, Stderr: []byte("x — does\n")}, "--help ended with exit 3 and nothing on stdout", true},
		"exit, blank output": {discovery.ProbeResult{ExitCode: 1, Stdout: []byte("\n \n")}, "--help ended with exit 1 and nothing on stdout", true},
		"nothing":            {discovery.ProbeResult{}, "--help printed nothing", true},
		"blank":              {discovery.ProbeResult{Stdout: []byte("\n"), Stderr: []byte("\t\n")}, "--help printed nothing", true},
		"busy":               {errno(unix.ETXTBSY), "text file busy: something has it open for writing", false},
		"format":             {errno(unix.ENOEXEC), "the kernel cannot run its format (exec format error)", false},
		"denied":             {errno(unix.EACCES), "not executable for this user", false},
		"loop":               {errno(unix.ELOOP), "the interpreters form a loop", false},
		"other":              {errno(errors.New("no\nmemory")), "cannot be started: cannot run it: no memory", false},
	} {
		tr := newTree(t)
		tr.add("bad", script)
		probes := newCounter(func(string) discovery.ProbeResult { return c.result })
		f := discovery.New(discovery.Options{Dirs: []string{tr.dir}, Prober: probes})
		for range 2 {
			got := list(t, f, discovery.Cached)
			if len(got.Quarantined) != 1 || got.Quarantined[0].Cause != c.cause || len(got.Tools) != 0 {
				t.Errorf("%s: quarantined %v, want cause %q", name, got.Quarantined, c.cause)
			}
		}
		if want := map[bool]int{true: 1, false: 2}[c.kept]; probes.total() != want {
			t.Errorf("%s: run %d times in two starts, want %d", name, probes.total(), want)
		}
	}
}

// What this machine lacks just now is told from what is wrong with the tool, is
// not remembered, and leaves the tool as it was.
func TestTheStateOfTheMachineIsNoFaultOfTheTool(t *testing.T) {
	for _, c := range []struct {
		result discovery.ProbeResult
		here   bool
	}{
		{discovery.ProbeResult{StartErr: fmt.Errorf("no room: %w", unix.EMFILE)}, true},
		{discovery.ProbeResult{StartErr: fmt.Errorf("no room: %w", unix.ENFILE)}, true},
		{discovery.ProbeResult{StartErr: fmt.Errorf("no room: %w", unix.ENOMEM)}, true},
		{discovery.ProbeResult{StartErr: fmt.Errorf("no room: %w", unix.EAGAIN)}, true},
		{discovery.ProbeResult{StartErr: fmt.Errorf("no room: %w", &os.PathError{Op: "mkdir", Path: "/tmp", Err: unix.ENOSPC})}, true},
		{discovery.ProbeResult{StartErr: fmt.Errorf("no room: %w", &os.PathError{Op: "stat", Path: "/absent/tmp", Err: unix.ENOENT})}, true},
		{discovery.ProbeResult{StartErr: errors.New("no room: too deep"), Here: true}, true},
		{discovery.ProbeResult{StartErr: fmt.Errorf("no room: %w", unix.EINVAL)}, false},
		{discovery.ProbeResult{StartErr: fmt.Errorf("no room: %w", unix.ENOEXEC)}, false},
	} {
		tr := newTree(t)
		tr.add("x", script)
		result := c.result
		f := discovery.New(discovery.Options{Dirs: []string{tr.dir}, Prober: newCounter(func(string) discovery.ProbeResult { return result })})
		got := list(t, f, discovery.Cached)
		if len(got.Quarantined) != 1 {
			t.Fatalf("%v: %+v", c.result.StartErr, got)
		}
		q := got.Quarantined[0]
		if q.Here != c.here || strings.HasPrefix(q.Cause, "cannot be started here now: no room: ") != c.here {
			t.Errorf("%v: %+v", c.result.StartErr, q)
		}
		result = wellSpoken("x")
		if again := list(t, f, discovery.Cached); len(again.Tools) != 1 {
			t.Errorf("%v: remembered: %+v", c.result.StartErr, again.Quarantined)
		}
	}
}

func TestHelpOnStderrAndFailures(t *testing.T) {
	for name, c := range map[string]struct {
		result  discovery.ProbeResult
		essence string
	}{
		"stderr, exit 0":         {discovery.ProbeResult{Stderr: []byte("does it\n")}, "does it"},
		"stdout blank":           {discovery.ProbeResult{Stdout: []byte(" \n"), Stderr: []byte("does it\n")}, "does it"},
		"stdout wins":            {discovery.ProbeResult{Stdout: []byte("out\n"), Stderr: []byte("err\n")}, "out"},
		"exit 2 with output":     {discovery.ProbeResult{ExitCode: 2, Stdout: []byte("out\n")}, "out"},
		"more than is looked at": {discovery.ProbeResult{Stdout: []byte("out\n" + strings.Repeat("y\n", 1<<20))}, "out"},
	} {
		tr := newTree(t)
		tr.add("x", script)
		f := discovery.New(discovery.Options{Dirs: []string{tr.dir}, Prober: newCounter(func(string) discovery.ProbeResult { return c.result })})
		found, err := f.One(t.Context(), "x")
		if err != nil || found.Tool == nil || found.Tool.Essence != c.essence || found.Tool.Source != tool.SourceHelp {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
}

func TestASocketIsNoProgram(t *testing.T) {
	dir := t.TempDir()
	tr := tree{t, dir}
	must(t, os.MkdirAll(filepath.Join(dir, "bad"), 0o755))
	l, err := net.Listen("unix", filepath.Join(dir, "bad/bad"))
	must(t, err)
	defer l.Close()
	got := list(t, discovery.New(discovery.Options{Dirs: []string{tr.dir}}), discovery.Cached)
	if len(got.Quarantined) != 1 || got.Quarantined[0].Cause != "a socket, not a program" {
		t.Errorf("%v", got.Quarantined)
	}
}

func TestNames(t *testing.T) {
	tr := newTree(t)
	for name, cause := range map[string]string{
		"run": "reserved name", "snens": "reserved name", "snens-priv": "reserved name",
		"a.b":                   "invalid name: only A-Z a-z 0-9 _ - are allowed, 64 at most",
		"a b":                   "invalid name: only A-Z a-z 0-9 _ - are allowed, 64 at most",
		"два":                   "invalid name: only A-Z a-z 0-9 _ - are allowed, 64 at most",
		strings.Repeat("x", 65): "invalid name: only A-Z a-z 0-9 _ - are allowed, 64 at most",
		strings.Repeat("x", 64): "",
		"A_z-09":                "",
	} {
		tr.add(name, script)
		probes := newCounter(wellSpoken)
		f := discovery.New(discovery.Options{Dirs: []string{tr.dir}, Prober: probes})
		found, err := f.One(t.Context(), name)
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case cause == "" && (found.Tool == nil || string(found.Tool.Name) != name):
			t.Errorf("%s: %+v", name, found)
		case cause != "" && (found.Quarantined == nil || found.Quarantined.Cause != cause || probes.total() != 0):
			t.Errorf("%s: %+v, probed %d times", name, found, probes.total())
		}
	}
	// A name with a line end must not make two lines.
	tr.add("a\nb", script)
	for _, q := range list(t, discovery.New(discovery.Options{Dirs: []string{tr.dir}, Prober: newCounter(wellSpoken)}), discovery.Cached).Quarantined {
		if strings.Contains(q.Name+q.Path+q.Cause, "\n") {
			t.Errorf("more than one line: %+v", q)
		}
	}
}
