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

const (
	alice = 12345
	bob   = 23456
)

// tree makes folders and files below a fresh folder and returns its path.
// Each entry is "path mode uid [-> target]"; a path ending in / is a folder.
func tree(t *testing.T, entries ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for _, e := range entries {
		f := strings.Fields(e)
		path := filepath.Join(root, f[0])
		if len(f) == 5 { // a symlink
			must(t, os.Symlink(strings.ReplaceAll(f[4], "ROOT", root), path))
			must(t, os.Lchown(path, number(t, f[2]), 0))
			continue
		}
		if strings.HasSuffix(f[0], "/") {
			must(t, os.Mkdir(path, 0o700))
		} else {
			must(t, os.WriteFile(path, []byte("content"), 0o600))
		}
		must(t, os.Lchown(path, number(t, f[2]), 0))
		must(t, unix.Chmod(path, uint32(octal(t, f[1])))) // after chown, which clears bits
	}
	return root
}

func TestCheckTrusted(t *testing.T) {
	testneed.Root(t)
	for _, c := range []struct {
		name string
		tree []string
		path string
		uid  int
		rule string // "" = trusted; "COMPONENT RULE" below the root of the tree
	}{
		{"root's file for root", []string{"f 0644 0"}, "f", 0, ""},
		{"root's file for a user", []string{"f 0644 0"}, "f", alice, ""},
		{"a user's own file", []string{"d/ 0755 12345", "d/f 0600 12345"}, "d/f", alice, ""},
		{"a user's file for root", []string{"f 0600 12345"}, "f", 0, "f belongs to uid 12345, not to root"},
		{"another user's file", []string{"f 0644 23456"}, "f", alice, "f belongs to uid 23456, not to root or uid 12345"},
		{"another user's folder", []string{"d/ 0755 23456", "d/f 0644 0"}, "d/f", 0, "d belongs to uid 23456"},
		{"file writable by all", []string{"f 0666 0"}, "f", 0, "f is writable by others (mode 0666)"},
		{"file writable by its group", []string{"f 0664 0"}, "f", 0, "f is writable by its group (mode 0664)"},
		{"folder writable by all", []string{"d/ 0777 0", "d/f 0644 0"}, "d/f", 0, "d is writable by others (mode 0777)"},
		{"folder far above", []string{"a/ 0775 0", "a/b/ 0755 0", "a/b/f 0644 0"}, "a/b/f", 0, "a is writable by its group"},
		{"sticky folder, trusted entry", []string{"d/ 01777 0", "d/f 0644 0"}, "d/f", 0, ""},
		{"sticky folder, foreign entry", []string{"d/ 01777 0", "d/f 0644 23456"}, "d/f", 0, "f belongs to uid 23456"},
		{"sticky folder of another user", []string{"d/ 01777 23456", "d/f 0644 0"}, "d/f", 0, "d belongs to uid 23456"},
		{"sticky folder as the last component", []string{"d/ 01777 0"}, "d", 0, "d is writable by others (mode 1777)"},
		{"folder as the last component", []string{"d/ 0755 0"}, "d/", 0, ""},
		{"link to a trusted file", []string{"f 0644 0", "l 0777 0 -> f"}, "l", 0, ""},
		{"link to an untrusted file", []string{"f 0666 0", "l 0777 0 -> ROOT/f"}, "l", 0, "f is writable by others"},
		{"link into a folder open to all", []string{"d/ 0777 0", "d/f 0644 0", "l 0777 0 -> d"}, "l/f", 0, "d is writable by others"},
		{"foreign link in a sticky folder", []string{"d/ 01777 0", "f 0644 0", "d/l 0777 23456 -> ../f"}, "d/l", 0, "l belongs to uid 23456"},
		{"dots mean the target's parent", []string{"a/ 0755 0", "a/b/ 0755 0", "a/f 0666 0", "f 0644 0", "l 0777 0 -> a/b"}, "l/../f", 0, "f is writable by others"},
		{"a file is no folder", []string{"f 0644 0"}, "f/x", 0, "f is not a folder"},
		{"slash after a file", []string{"f 0644 0"}, "f/", 0, "f is not a folder"},
		{"loop", []string{"l 0777 0 -> l"}, "l", 0, "more than 40 symlinks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := tree(t, c.tree...)
			err := safefile.CheckTrusted(root+"/"+c.path, c.uid)
			switch {
			case c.rule == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.rule != "" && err == nil:
				t.Errorf("accepted, want %q", c.rule)
			case c.rule != "" && !strings.Contains(strings.ReplaceAll(err.Error(), ": it ", ": "+filepath.Base(c.path)+" "), c.rule):
				t.Errorf("got %q, want %q", err, c.rule)
			}
		})
	}
}

func TestUntrustedErrorNamesComponentRuleAndFix(t *testing.T) {
	testneed.Root(t)
	root := tree(t, "d/ 0777 0", "d/f 0644 0")
	err := safefile.CheckTrusted(root+"/d/f", 0)
	want := "cannot trust " + root + "/d/f: " + root + "/d is writable by others (mode 0777); fix: chmod o-w,g-w " + root + "/d"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	var u *safefile.UntrustedError
	if !errors.As(err, &u) || u.Component != root+"/d" {
		t.Errorf("no UntrustedError with the component: %#v", err)
	}
}

func TestCheckTrustedOddPaths(t *testing.T) {
	dir := t.TempDir()
	must(t, unix.Mkfifo(dir+"/fifo", 0o600))
	for path, want := range map[string]string{
		"":            "empty path",
		"a\x00b":      "NUL",
		dir + "/fifo": "is neither a file nor a folder",
		"/dev/null":   "is neither a file nor a folder",
	} {
		if err := safefile.CheckTrusted(path, os.Geteuid()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("CheckTrusted(%q) = %v, want %q", path, err, want)
		}
	}
	if err := safefile.CheckTrusted(dir+"/none", os.Geteuid()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if err := safefile.CheckTrusted("/", os.Geteuid()); err != nil {
		t.Errorf("the root folder: %v", err)
	}
}

func TestCheckTrustedRelative(t *testing.T) {
	testneed.Root(t)
	t.Chdir(tree(t, "d/ 0777 0", "f 0644 0", "d/f 0644 0"))
	if err := safefile.CheckTrusted("f", 0); err != nil {
		t.Errorf("f: %v", err)
	}
	if err := safefile.CheckTrusted("d/../d/f", 0); err == nil {
		t.Error("d/../d/f was accepted")
	}
}

func TestCheckEntry(t *testing.T) {
	testneed.Root(t)
	root := tree(t, "good 0755 0", "bad 0777 0", "foreign 0755 23456", "link 0777 0 -> bad")
	for name, ok := range map[string]bool{"good": true, "bad": false, "foreign": false, "link": true} {
		info, err := os.Lstat(root + "/" + name)
		must(t, err)
		if err := safefile.CheckEntry(root+"/"+name, info, 0); (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	info, err := os.Lstat(root + "/foreign")
	must(t, err)
	if err := safefile.CheckEntry(root+"/foreign", info, bob); err != nil {
		t.Errorf("bob's own: %v", err)
	}
}

func BenchmarkCheckTrusted(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		if err := safefile.CheckTrusted(dir, os.Geteuid()); err != nil {
			b.Fatal(err)
		}
	}
}
