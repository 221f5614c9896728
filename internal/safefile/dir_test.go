package safefile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snens/internal/safefile"
	"snens/internal/testneed"
)

func TestEnsurePrivateDirMakesIt(t *testing.T) {
	old := unix.Umask(0)
	defer unix.Umask(old)
	dir := t.TempDir() + "/a/b"
	for range 2 { // the second time it is there
		must(t, safefile.EnsurePrivateDir(dir))
	}
	for _, d := range []string{dir, filepath.Dir(dir)} {
		info, err := os.Lstat(d)
		must(t, err)
		if info.Mode() != fs.ModeDir|0o700 {
			t.Errorf("%s has mode %v", d, info.Mode())
		}
	}
	must(t, safefile.EnsurePrivateDir(dir+"/"))
}

func TestEnsurePrivateDirRefuses(t *testing.T) {
	testneed.Root(t)
	root := tree(t, "open/ 0755 0", "foreign/ 0700 23456", "file 0600 0", "good/ 0700 0", "link 0777 0 -> good", "dangling 0777 0 -> none")
	for name, want := range map[string]string{
		"open":     "is open to others (mode 0755); fix: chmod go= " + root + "/open",
		"foreign":  "belongs to uid 23456, not to uid 0",
		"file":     "is not a folder",
		"link":     "is a symlink, not a folder",
		"link/":    "is a symlink, not a folder",
		"dangling": "is a symlink, not a folder",
		"file/x":   "not a directory",
	} {
		err := safefile.EnsurePrivateDir(root + "/" + name)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	if _, err := os.Lstat(root + "/none"); err == nil {
		t.Error("the target of a dangling link was made")
	}
	info, err := os.Stat(root + "/open")
	must(t, err)
	if info.Mode().Perm() != 0o755 {
		t.Error("a folder that was found was changed")
	}
}

// What is to be made must come into a folder of the same user's.
func TestCheckNearest(t *testing.T) {
	testneed.Root(t)
	root := tree(t, "own/ 0755 0", "own/open/ 0777 0", "foreign/ 0755 23456", "foreign/own/ 0755 0")
	for _, c := range []struct {
		path string
		uid  int
		says string // "" = good
	}{
		{"own", 0, ""},
		{"own/a/b/c", 0, ""},
		{"own/a", 23456, ""}, // root's: it cannot write there anyway
		{"own/open/a", 0, "is writable by others"},
		{"foreign/a/b", 0, "belongs to uid 23456"},
		{"foreign/own/a", 0, "belongs to uid 23456"}, // its owner could replace it
		{"foreign/a/b", 23456, ""},
		{"foreign/a/b", 23457, "belongs to uid 23456"},
	} {
		err := safefile.CheckNearest(root+"/"+c.path, c.uid)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s for uid %d: got %v, want %q", c.path, c.uid, err, c.says)
		}
	}
}

func TestOpenPrivateDirMissing(t *testing.T) {
	if _, err := safefile.OpenPrivateDir(t.TempDir() + "/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
