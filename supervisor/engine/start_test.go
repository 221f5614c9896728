package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"snens/supervisor/call"
	"snens/supervisor/engine"
)

// Each failure to start has words of its own, one record, and leaves nothing.
func TestStartFailures(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string, mode os.FileMode) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return p
	}
	plain := file("plain", "", 0o600)
	for _, c := range []struct {
		name   string
		change func(*engine.Spec)
		class  call.Class
		exit   int
		words  string
	}{
		{"no such program", func(s *engine.Spec) { s.Path = filepath.Join(dir, "none") }, call.ClassStart, 127, `the program "` + dir + `/none" does not exist`},
		{"not executable", func(s *engine.Spec) { s.Path = plain }, call.ClassStart, 126, `"` + plain + `" may not be executed`},
		{"missing interpreter", func(s *engine.Spec) { s.Path = file("i", "#!/no/such/sh\n", 0o700) }, call.ClassStart, 126, `the interpreter that "` + dir + `/i" names does not exist`},
		{"CRLF shebang", func(s *engine.Spec) { s.Path = file("crlf", "#!/bin/sh\r\n", 0o700) }, call.ClassStart, 126, `the interpreter that "` + dir + `/crlf" names does not exist`},
		{"no program", func(s *engine.Spec) { s.Path = file("text", "hello\n", 0o700) }, call.ClassStart, 126, `"` + dir + `/text" is neither a program for this machine nor a script with a #! line`},
		{"a folder", func(s *engine.Spec) { s.Path = dir }, call.ClassStart, 126, `"` + dir + `" may not be executed`},
		{"cwd is gone", func(s *engine.Spec) { s.Dir = filepath.Join(dir, "gone") }, call.ClassRefused, 125, `the working directory "` + dir + `/gone" does not exist`},
		{"cwd is a file", func(s *engine.Spec) { s.Dir = plain }, call.ClassRefused, 125, `the working directory "` + plain + `" is not a folder`},
		{"too long", func(s *engine.Spec) { s.Argv = append(s.Argv, strings.Repeat("x", 200<<10)) }, call.ClassRefused, 125, "the arguments and the environment together are too long for the system"},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, e *engine.Engine) {
				s := sh(t, "echo ran >ran")
				c.change(&s)
				r := e.Run(s)
				if r.Class != c.class || r.ExitStatus() != c.exit || r.Message != c.words || !strings.HasPrefix(r.Content, c.words) {
					t.Errorf("class %s exit %d message %q content %q, want %s %d %q", r.Class, r.ExitStatus(), r.Message, r.Content, c.class, c.exit, c.words)
				}
				if r.OK || r.ExitCode != nil || r.Signal != nil || !r.Ours() || r.Survivors == nil || r.Attachments == nil {
					t.Errorf("record %+v", r)
				}
				if exists(filepath.Join(s.Dir, "ran")) {
					t.Error("something was started")
				}
			})
		})
	}
}

// A program that is still being written is waited for, a little.
func TestBusyProgramIsRetried(t *testing.T) {
	e := newEngine(t)
	s := sh(t, "")
	prog := filepath.Join(s.Dir, "prog")
	b, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(prog, b, 0o700); err != nil {
		t.Fatal(err)
	}
	busy, err := os.OpenFile(prog, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.Path, s.Argv = prog, []string{"prog"}
	if r := e.Run(s); r.ExitStatus() != 126 || !strings.Contains(r.Content, "is being written to by another program") {
		t.Errorf("while it is open for writing: %+v", r)
	}
	run := start(t, e, s)
	busy.Close()
	if r := run.Wait(); !r.OK {
		t.Errorf("after it was closed: %+v", r)
	}
}

// No descriptor is left open by any kind of call.
func TestNoDescriptorIsLeaked(t *testing.T) {
	both(t, func(t *testing.T, e *engine.Engine) {
		count := func() int {
			d, err := os.ReadDir("/proc/self/fd")
			if err != nil {
				t.Fatal(err)
			}
			return len(d)
		}
		calls := func() {
			e.Run(sh(t, "echo hi"))
			s := sh(t, "cat; sleep 1000 & :")
			s.StdinBytes = []byte("x")
			e.Run(s)
			s = sh(t, "exit 3")
			s.Path = "/no/such/program"
			e.Run(s)
			s.Dir = "/no/such/folder"
			e.Run(s)
		}
		calls()
		before, children := count(), childrenOfOurs(t)
		for range 5 {
			calls()
		}
		if after := count(); after != before {
			t.Errorf("%d descriptors before, %d after", before, after)
		}
		if now := childrenOfOurs(t); now != children {
			t.Errorf("children before: %q, after: %q", children, now)
		}
	})
}

// childrenOfOurs lists our children, dead ones too.
func childrenOfOurs(t *testing.T) string {
	t.Helper()
	var all []string
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, f := range tasks {
		b, _ := os.ReadFile(f) // the thread may be gone: its children are another's then
		all = append(all, strings.Fields(string(b))...)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}
