package safefile_test

import (
	"bytes"
	"io/fs"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"snens/internal/safefile"
)

func TestWriteFile(t *testing.T) {
	old := unix.Umask(0o077)
	defer unix.Umask(old)
	dir := t.TempDir()
	path := dir + "/f"
	must(t, os.WriteFile(dir+"/victim", []byte("victim"), 0o600))
	must(t, os.Symlink("victim", path))
	for _, c := range []struct {
		write func(string, []byte, fs.FileMode) error
		data  string
		mode  fs.FileMode
	}{{safefile.WriteFile, "one", 0o644}, {safefile.ReplaceFile, "two", 0o600}} {
		must(t, c.write(path, []byte(c.data), c.mode))
		b, err := os.ReadFile(path)
		must(t, err)
		info, err := os.Lstat(path)
		must(t, err)
		if string(b) != c.data || info.Mode() != c.mode {
			t.Errorf("got %q with %v, want %q with %v", b, info.Mode(), c.data, c.mode)
		}
	}
	if b, _ := os.ReadFile(dir + "/victim"); string(b) != "victim" {
		t.Errorf("a symlink was followed: %q", b)
	}
	mustHold(t, dir, 2)
}

func TestWriteFileFails(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(dir+"/d/x", 0o700))
	for _, path := range []string{dir + "/none/f", dir + "/d"} {
		if err := safefile.WriteFile(path, []byte("x"), 0o600); err == nil {
			t.Errorf("%s was written", path)
		}
	}
	mustHold(t, dir, 1) // no temporary file is left
}

func TestWriteFileRelative(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, safefile.WriteFile("f", []byte("x"), 0o600))
	mustHold(t, ".", 1)
}

// Readers see one whole content or another, whoever writes.
func TestReplaceFileIsAtomic(t *testing.T) {
	path := t.TempDir() + "/f"
	contents := [][]byte{bytes.Repeat([]byte("a"), 70000), bytes.Repeat([]byte("b"), 90000)}
	must(t, safefile.ReplaceFile(path, contents[0], 0o600))
	var writers sync.WaitGroup
	for _, c := range contents {
		writers.Go(func() {
			for range 50 {
				if err := safefile.ReplaceFile(path, c, 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 200 {
		b, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(b, contents[0]) && !bytes.Equal(b, contents[1]) {
			t.Fatalf("read %d bytes, %v", len(b), err)
		}
	}
	writers.Wait()
}

func mustHold(t *testing.T, dir string, entries int) {
	t.Helper()
	e, err := os.ReadDir(dir)
	if err != nil || len(e) != entries {
		t.Errorf("%s holds %v, want %d entries (%v)", dir, e, entries, err)
	}
}
