package spawn_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"snens/internal/safefile"
	"snens/internal/spawn"
	"snens/internal/testneed"
)

func TestIdentity(t *testing.T) {
	dir := t.TempDir()
	inner := write(t, dir+"/inner", "#!/bin/sh -e\nexit 0\n", 0o755)
	outer := write(t, dir+"/outer", "#! "+inner+"\targ\n", 0o755)
	files := open(t, outer).Files()
	want := []string{outer, inner, "/bin/sh"}
	if len(files) != len(want) {
		t.Fatalf("%d files, want %q", len(files), want)
	}
	for i, f := range files {
		b, err := os.ReadFile(want[i])
		if err != nil {
			t.Fatal(err)
		}
		var st syscall.Stat_t
		if err := syscall.Stat(want[i], &st); err != nil {
			t.Fatal(err)
		}
		if f.Path != want[i] || f.Dev != st.Dev || f.Inode != st.Ino || f.SHA256 != sha256.Sum256(b) {
			t.Errorf("file %d is %+v, want %s", i, f, want[i])
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(dir+"/fifo", 0o644); err != nil {
		t.Fatal(err)
	}
	loop := write(t, dir+"/loop", "#!"+dir+"/loop\n", 0o755)
	for path, words := range map[string]string{
		"":            "absolute",
		"sh":          "absolute",
		"/\x00":       "absolute",
		dir:           "not a regular file",
		dir + "/fifo": "neither a file nor a folder",
		"/dev/null":   "neither a file nor a folder",
		loop:          "more than 4 interpreters",
		write(t, dir+"/crlf", "#!/bin/sh\r\n", 0o755):          "carriage return",
		write(t, dir+"/missing", "#!/no/such/sh\n", 0o755):     `names "/no/such/sh"`,
		write(t, dir+"/relative", "#!sh\n", 0o755):             "no absolute path",
		write(t, dir+"/behind", "#!"+dir+"/relative\n", 0o755): "no absolute path",
	} {
		p, err := spawn.NewOpener(os.Geteuid()).Open(path)
		contains(t, err, words)
		if p != nil {
			t.Errorf("%q gave a program", path)
		}
	}
	_, err := spawn.NewOpener(0).Open("/no/such")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want ErrNotExist", err)
	}
}

// Nothing that anybody but root can write is opened, be it the program, a folder
// above, a symlink on the way or the interpreter.
func TestOnlyRootsPrograms(t *testing.T) {
	testneed.Root(t)
	script := func(t *testing.T, dir string) string {
		return write(t, dir+"/prog", "#!/bin/sh\n", 0o755)
	}
	for name, make := range map[string]func(t *testing.T, dir string) string{
		"program writable by others": func(t *testing.T, dir string) string {
			return write(t, dir+"/prog", "#!/bin/sh\n", 0o757)
		},
		"program of another user": func(t *testing.T, dir string) string {
			p := script(t, dir)
			return chown(t, p)
		},
		"folder of another user": func(t *testing.T, dir string) string {
			p := script(t, dir)
			chown(t, dir)
			return p
		},
		"folder writable by a group": func(t *testing.T, dir string) string {
			p := script(t, dir)
			if err := os.Chmod(dir, 0o775); err != nil {
				t.Fatal(err)
			}
			return p
		},
		"symlink of another user": func(t *testing.T, dir string) string {
			if err := os.Symlink("/bin/true", dir+"/prog"); err != nil {
				t.Fatal(err)
			}
			return chown(t, dir+"/prog")
		},
		"interpreter of another user": func(t *testing.T, dir string) string {
			chown(t, copyFile(t, "/bin/sh", dir+"/sh"))
			return write(t, dir+"/prog", "#!"+dir+"/sh\n", 0o755)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := make(t, t.TempDir())
			_, err := spawn.NewOpener(0).Open(path)
			var e *safefile.UntrustedError
			if !errors.As(err, &e) {
				t.Errorf("%v, want an UntrustedError", err)
			}
		})
	}
	// The same user's, when that is who may.
	dir := t.TempDir()
	path := chown(t, copyFile(t, "/bin/true", dir+"/prog"))
	p, err := spawn.NewOpener(4242).Open(path)
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
}

func chown(t *testing.T, path string) string {
	t.Helper()
	if err := os.Lchown(path, 4242, 4242); err != nil {
		t.Fatal(err)
	}
	return path
}

// What changes between Open and Start does not run, and Same says so too.
func TestChangesAreNoticed(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(t *testing.T, dir string)
		binary  bool
		runs    bool // the very file that was opened, so nothing is wrong
		noticed string
	}{
		"binary written to":    {binary: true, change: func(t *testing.T, dir string) { appendTo(t, dir+"/prog") }, noticed: "content"},
		"binary replaced":      {binary: true, runs: true, change: func(t *testing.T, dir string) { replace(t, dir+"/prog", "/bin/false") }, noticed: "content"},
		"binary swapped":       {binary: true, runs: true, change: func(t *testing.T, dir string) { replace(t, dir+"/prog", "/bin/true") }, noticed: "another file"},
		"script written to":    {change: func(t *testing.T, dir string) { appendTo(t, dir+"/prog") }, noticed: "content"},
		"script swapped":       {change: func(t *testing.T, dir string) { replace(t, dir+"/prog", dir+"/prog") }, noticed: "another file"},
		"interpreter swapped":  {change: func(t *testing.T, dir string) { replace(t, dir+"/sh", dir+"/sh") }, noticed: "another file"},
		"interpreter changed":  {change: func(t *testing.T, dir string) { replace(t, dir+"/sh", "/bin/false") }, noticed: "content"},
		"script to binary":     {change: func(t *testing.T, dir string) { replace(t, dir+"/prog", "/bin/true") }, noticed: "content"},
		"other interpreter":    {change: func(t *testing.T, dir string) { write(t, dir+"/prog", "#!/bin/sh\n", 0o755) }, noticed: "content"},
		"gone":                 {change: func(t *testing.T, dir string) { os.Remove(dir + "/prog") }, noticed: "no such file"},
		"folder has an owner":  {change: func(t *testing.T, dir string) { chown(t, dir) }, noticed: "belongs to uid 4242"},
		"script has an owner":  {change: func(t *testing.T, dir string) { chown(t, dir+"/prog") }, noticed: "belongs to uid 4242"},
		"interpreter writable": {change: func(t *testing.T, dir string) { os.Chmod(dir+"/sh", 0o777) }, noticed: "writable by others"},
	} {
		t.Run(name, func(t *testing.T) {
			testneed.Root(t)
			dir := t.TempDir()
			if c.binary {
				copyFile(t, "/bin/true", dir+"/prog")
			} else {
				copyFile(t, "/bin/sh", dir+"/sh")
				write(t, dir+"/prog", "#!"+dir+"/sh\necho ran >"+dir+"/ran\n", 0o755)
			}
			p := open(t, dir+"/prog")
			if err := open(t, dir+"/prog").Same(p.Files()); err != nil {
				t.Fatalf("unchanged: %v", err)
			}
			c.change(t, dir)

			again, err := spawn.NewOpener(0).Open(dir + "/prog")
			if err == nil {
				err = again.Same(p.Files())
				again.Close()
				var changed *spawn.ChangedError
				if !errors.As(err, &changed) {
					t.Errorf("Same: %v, want a ChangedError", err)
				}
			}
			contains(t, err, c.noticed)

			proc, err := fallbackRunner(t).Start(context.Background(), spec(p, "x"))
			if err == nil {
				if res := proc.Result(); !c.runs || res.ExitCode != 0 {
					t.Errorf("it ran: %+v", res)
				}
				<-proc.Gone()
			} else if c.runs {
				t.Errorf("what was opened did not run: %v", err)
			} else {
				contains(t, err, c.noticed)
			}
			if exists(dir, "ran") {
				t.Error("the script ran")
			}
		})
	}
}

func appendTo(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
}

// replace puts a copy of from at path, as a package manager does.
func replace(t *testing.T, path, from string) {
	t.Helper()
	fresh := copyFile(t, from, filepath.Join(filepath.Dir(path), "fresh"))
	if err := os.Rename(fresh, path); err != nil {
		t.Fatal(err)
	}
}

func TestSameComparesTheChain(t *testing.T) {
	files := open(t, write(t, t.TempDir()+"/s", "#!/bin/sh\n", 0o755)).Files()
	p := open(t, files[0].Path)
	contains(t, p.Same(files[:1]), "it is an interpreter now")
	contains(t, p.Same(append(files, files[1])), "not its interpreter any more")
	contains(t, p.Same(nil), "with nothing")
	files[1].Path = "/bin/dash"
	contains(t, p.Same(files), "it is /bin/sh now")
}

// An old file is hashed once; a fresh one every time, since its times are too
// coarse to tell a second change.
func TestDigestsAreCached(t *testing.T) {
	o := spawn.NewOpener(os.Geteuid())
	count := func(path string) int {
		before := o.Hashed()
		for range 3 {
			p, err := o.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			p.Close()
		}
		return o.Hashed() - before
	}
	if n := count("/bin/true"); n != 1 {
		t.Errorf("an old file was read %d times, want 1", n)
	}
	began := time.Now()
	path := copyFile(t, "/bin/true", t.TempDir()+"/fresh")
	if n := count(path); n != 3 && time.Since(began) < time.Second {
		t.Errorf("a fresh file was read %d times, want 3", n)
	}
}

func TestScriptSeesItsPath(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir+"/s", "#!/bin/sh -u\necho \"$0|$*|$-\"; ls /proc/$$/fd | tr '\\n' ' '\n", 0o755)
	both(t, func(t *testing.T, r *spawn.Runner) {
		out, _ := output(t, r, spec(open(t, path), "other", "a b", "*"))
		first, second, _ := strings.Cut(out, "\n")
		// The shell reads its script through a descriptor of its own.
		if first != path+"|a b *|u" || !strings.HasPrefix(second, "0 1 10 2") {
			t.Errorf("%q", out)
		}
	})
}

func TestParseShebang(t *testing.T) {
	for head, want := range map[string]string{
		"":                                      "",
		"\x7fELF":                               "",
		" #!/bin/sh\n":                          "",
		"#!/bin/sh":                             "/bin/sh",
		"#!/bin/sh\n":                           "/bin/sh",
		"#! \t /bin/sh \t -e x\n":               "/bin/sh",
		"#!/usr/bin/env a\n":                    "/usr/bin/env",
		"#!/bin/s\th\n":                         "/bin/s",
		"#!/bin/sh\r-e\n":                       "/bin/sh\r-e",
		"#!":                                    "error",
		"#!\n":                                  "error",
		"#! \n/bin/sh":                          "error",
		"#!sh\n":                                "error",
		"#!/bin/sh\r\n":                         "error",
		"#!/bin/sh\x00\n":                       "error",
		"#!/" + strings.Repeat("x", 252) + "\n": "/" + strings.Repeat("x", 252),
		"#!/" + strings.Repeat("x", 253):        "error",
		"#!/bin/sh " + strings.Repeat("x", 246): "error",
	} {
		got, err := spawn.ParseShebang([]byte(head))
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q: %q %v, want %q", head, got, err, want)
		}
	}
}

func FuzzParseShebang(f *testing.F) {
	for _, s := range []string{"#!/bin/sh\n", "#! /a b\n", "#!", "#!x", "#!/\x00", "\x7fELF"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		head = head[:min(len(head), 256)]
		path, err := spawn.ParseShebang(head)
		if (path != "" || err != nil) != strings.HasPrefix(string(head), "#!") {
			t.Errorf("%q: %q %v", head, path, err)
		}
		if path != "" && (!filepath.IsAbs(path) || strings.ContainsAny(path, " \t\n\x00") || !strings.Contains(string(head), path)) {
			t.Errorf("%q: %q", head, path)
		}
	})
}
