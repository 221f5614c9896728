package atomicfile_test

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"golang.org/x/sys/unix"

	"snens/cmd/snens-tools/internal/atomicfile"
	"snens/internal/testneed"
)

// replace resolves and replaces in one go.
func replace(t *testing.T, path, content string, o atomicfile.Options) (atomicfile.Result, error) {
	t.Helper()
	target, err := atomicfile.Resolve(path)
	if err != nil {
		return atomicfile.Result{}, err
	}
	return target.Replace(strings.NewReader(content), o)
}

// holds checks content and mode, and that the folder holds nothing else than names.
func holds(t *testing.T, path, content string, mode fs.FileMode) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != content {
		t.Errorf("%s holds %q (%v); want %q", path, got, err, content)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != mode {
		t.Errorf("%s has mode %v (%v); want %v", path, info.Mode(), err, mode)
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".snens-*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestCreate(t *testing.T) {
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	path := filepath.Join(t.TempDir(), "f")
	r, err := replace(t, path, "a\nb", atomicfile.Options{})
	if err != nil || !r.Created || r.Bytes != 3 || r.Lines != 2 {
		t.Fatalf("%+v %v", r, err)
	}
	holds(t, path, "a\nb", 0o640)

	perm := fs.FileMode(0o604)
	path2 := filepath.Join(t.TempDir(), "g")
	if r, err = replace(t, path2, "", atomicfile.Options{Perm: &perm}); err != nil || r.Bytes != 0 || r.Lines != 0 {
		t.Fatalf("empty: %+v %v", r, err)
	}
	holds(t, path2, "", 0o604)
}

func TestReplaceKeepsModeOwnerAndAttributes(t *testing.T) {
	testneed.Root(t)
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 12345, 54321); err != nil {
		t.Fatal(err)
	}
	// The set-id bits are those that a change of owner would clear.
	if err := os.Chmod(path, 0o751|fs.ModeSetuid|fs.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	xattr := unix.Setxattr(path, "user.comment", []byte("kept"), 0)
	r, err := replace(t, path, "new\n", atomicfile.Options{})
	if err != nil || r.Created || len(r.LostAttributes) > 0 || len(r.Notes()) > 0 {
		t.Fatalf("%+v %v", r, err)
	}
	holds(t, path, "new\n", 0o751|fs.ModeSetuid|fs.ModeSetgid)
	info, _ := os.Stat(path)
	if st := info.Sys().(*syscall.Stat_t); st.Uid != 12345 || st.Gid != 54321 {
		t.Errorf("owner %d:%d; want 12345:54321", st.Uid, st.Gid)
	}
	if xattr == nil {
		value := make([]byte, 10)
		n, err := unix.Getxattr(path, "user.comment", value)
		if err != nil || string(value[:n]) != "kept" {
			t.Errorf("attribute %q, %v", value[:max(n, 0)], err)
		}
	}
	perm := fs.FileMode(0o600)
	if _, err := replace(t, path, "x", atomicfile.Options{Perm: &perm}); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "x", 0o600)
}

func TestReplaceFollowsLinksAndCountsHardLinks(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	path, link := filepath.Join(dir, "f"), filepath.Join(other, "link")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, filepath.Join(dir, "twin")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	r, err := replace(t, link, "new", atomicfile.Options{})
	if err != nil || r.OtherLinks != 1 || len(r.Notes()) != 1 {
		t.Fatalf("%+v %v", r, err)
	}
	holds(t, path, "new", 0o644)
	holds(t, filepath.Join(dir, "twin"), "old", 0o644)
	if to, err := os.Readlink(link); err != nil || to != path {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}

func TestResolveRefuses(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(
		os.Symlink("nowhere", at("dangling")),
		os.Symlink("loop", at("loop")),
		os.Symlink("/dev/null", at("device")),
		unix.Mkfifo(at("pipe"), 0o600),
		os.WriteFile(at("file"), nil, 0o600),
	); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for path, want := range map[string]string{
		"":              "the path is empty",
		dir:             dir + " is a folder",
		"/dev/null":     "/dev/null is a device",
		at("pipe"):      at("pipe") + " is a named pipe",
		at("socket"):    at("socket") + " is a socket",
		at("device"):    "/dev/null is a device",
		at("dangling"):  at("dangling") + " is a symbolic link to nowhere, which does not exist",
		at("loop"):      "cannot follow the symbolic link " + at("loop") + " to loop: ",
		at("new") + "/": at("new") + "/ names a folder",
		at("file/x"):    "cannot look at " + at("file/x") + ": not a directory",
	} {
		_, err := atomicfile.Resolve(path)
		var refusal *atomicfile.Refusal
		if !errors.As(err, &refusal) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v; want %s", path, err, want)
		}
	}
}

func TestReplaceRefusesAMissingFolder(t *testing.T) {
	_, err := replace(t, filepath.Join(t.TempDir(), "no", "f"), "x", atomicfile.Options{})
	var refusal *atomicfile.Refusal
	if !errors.As(err, &refusal) || !refusal.Missing {
		t.Errorf("%v; want a refusal that says the folder is missing", err)
	}
}

func TestAFailedSourceChangesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, filepath.Join(dir, "new")} {
		target, err := atomicfile.Resolve(name)
		if err != nil {
			t.Fatal(err)
		}
		source := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(errors.New("gone")))
		if _, err := target.Replace(source, atomicfile.Options{}); err == nil || !strings.Contains(err.Error(), "gone") {
			t.Errorf("%s: %v", name, err)
		}
	}
	holds(t, path, "old", 0o644)
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("the folder holds %v", entries)
	}
}

// meanwhile runs act when it is read, then ends.
type meanwhile func()

func (m meanwhile) Read([]byte) (int, error) { m(); return 0, io.EOF }

func TestChangesInTheMeantimeAreSeen(t *testing.T) {
	for _, c := range []struct {
		name      string
		exists    bool
		unchanged bool
		act       func(path string) error
		want      error
	}{
		{"edited", true, true, func(p string) error { return os.WriteFile(p, []byte("other"), 0o644) }, atomicfile.ErrChanged},
		{"edited, which does not matter", true, false, func(p string) error { return os.WriteFile(p, []byte("other"), 0o644) }, nil},
		{"removed", true, false, os.Remove, atomicfile.ErrChanged},
		{"became a folder", true, false, func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o755)) }, atomicfile.ErrChanged},
		{"became a link", true, false, func(p string) error { return errors.Join(os.Remove(p), os.Symlink("/dev/null", p)) }, atomicfile.ErrChanged},
		{"appeared", false, false, func(p string) error { return os.WriteFile(p, []byte("other"), 0o644) }, atomicfile.ErrChanged},
		{"nothing happened", true, true, func(string) error { return nil }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			if c.exists {
				if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			target, err := atomicfile.Resolve(path)
			if err != nil {
				t.Fatal(err)
			}
			source := io.MultiReader(strings.NewReader("new"), meanwhile(func() {
				if err := c.act(path); err != nil {
					t.Error(err)
				}
			}))
			if _, err := target.Replace(source, atomicfile.Options{Unchanged: c.unchanged}); !errors.Is(err, c.want) {
				t.Fatalf("%v; want %v", err, c.want)
			}
			if c.want == nil {
				holds(t, path, "new", 0o644)
			} else if data, _ := os.ReadFile(path); string(data) == "new" {
				t.Error("it was written all the same")
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".snens-*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}
