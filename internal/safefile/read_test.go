package safefile_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snens/internal/safefile"
	"snens/internal/testneed"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func number(t *testing.T, s string) int { return parse(t, s, 10) }
func octal(t *testing.T, s string) int  { return parse(t, s, 8) }

func parse(t *testing.T, s string, base int) int {
	t.Helper()
	n, err := strconv.ParseInt(s, base, 64)
	must(t, err)
	return int(n)
}

// readers are the three ways to read, for what they have in common.
var readers = map[string]func(path string, limit int64) ([]byte, error){
	"ReadFile":    safefile.ReadFile,
	"ReadPrivate": safefile.ReadPrivate,
	"ReadTrusted": func(path string, limit int64) ([]byte, error) {
		return safefile.ReadTrusted(path, os.Geteuid(), limit)
	},
}

func TestReaders(t *testing.T) {
	for name, read := range readers {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := dir + "/f"
			must(t, os.WriteFile(file, []byte("12345678"), 0o600))
			if b, err := read(file, 8); err != nil || string(b) != "12345678" {
				t.Errorf("at the limit: %q, %v", b, err)
			}
			if _, err := read(file, 7); !errors.Is(err, safefile.ErrTooBig) {
				t.Errorf("above the limit: %v", err)
			}
			if _, err := read(dir+"/none", 8); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("missing: %v", err)
			}
			if _, err := read(dir, 8); err == nil || !strings.Contains(err.Error(), "folder") {
				t.Errorf("folder: %v", err)
			}
			// With nobody at the other end an ordinary open would hang here.
			must(t, unix.Mkfifo(dir+"/fifo", 0o600))
			if _, err := read(dir+"/fifo", 8); err == nil {
				t.Error("a FIFO was read")
			}
			if _, err := read("/dev/zero", 8); err == nil {
				t.Error("a device was read")
			}
		})
	}
}

func TestReadFileFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(dir+"/f", []byte("x"), 0o644))
	must(t, os.Symlink("f", dir+"/l"))
	if b, err := safefile.ReadFile(dir+"/l", 10); err != nil || string(b) != "x" {
		t.Errorf("%q, %v", b, err)
	}
	// Files of /proc have size 0 and content all the same.
	if b, err := safefile.ReadFile("/proc/self/comm", 100); err != nil || len(b) == 0 {
		t.Errorf("/proc: %q, %v", b, err)
	}
}

func TestReadPrivateRefuses(t *testing.T) {
	testneed.Root(t)
	root := tree(t, "open 0644 0", "group 0640 0", "foreign 0600 23456", "f 0600 0", "l 0777 0 -> f")
	for name, want := range map[string]string{
		"open": "open to others (mode 0644); fix: chmod go= ", "group": "open to others (mode 0640)",
		"foreign": "belongs to uid 23456, not to uid 0", "l": "is a symlink",
	} {
		if _, err := safefile.ReadPrivate(filepath.Join(root, name), 100); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}

func TestReadTrusted(t *testing.T) {
	testneed.Root(t)
	root := tree(t, "f 0644 0", "l 0777 0 -> f", "bad 0666 0")
	if b, err := safefile.ReadTrusted(root+"/l", 0, 100); err != nil || !bytes.Equal(b, []byte("content")) {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := safefile.ReadTrusted(root+"/bad", 0, 100); err == nil {
		t.Error("a file writable by all was read")
	}
}
