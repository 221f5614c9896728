package session_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snens/internal/testneed"
	"snens/session"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func folder(t *testing.T, mode uint32, owner int, path ...string) string {
	t.Helper()
	p := filepath.Join(path...)
	must(t, os.MkdirAll(p, 0o755))
	must(t, os.Chown(p, owner, 0))
	must(t, unix.Chmod(p, mode)) // sticky bit included, after chown
	return p
}

func TestStateBase(t *testing.T) {
	testneed.Root(t)
	for _, c := range []struct {
		name   string
		uid    int
		env    func(t *testing.T, root string) map[string]string
		dir    string   // below the test's own root
		reason []string // parts of the reason
	}{
		{
			"home", 0, func(t *testing.T, root string) map[string]string {
				return map[string]string{"HOME": folder(t, 0o755, 0, root, "home")}
			}, "home/.local/state/snens", []string{"~/.local/state/snens"},
		},
		{
			"XDG_STATE_HOME need not exist", 0, func(t *testing.T, root string) map[string]string {
				return map[string]string{"HOME": folder(t, 0o755, 0, root, "home"), "XDG_STATE_HOME": root + "/state"}
			}, "state/snens", []string{"$XDG_STATE_HOME/snens"},
		},
		{
			"a relative XDG_STATE_HOME counts as unset", 0, func(t *testing.T, root string) map[string]string {
				return map[string]string{"HOME": folder(t, 0o755, 0, root, "home"), "XDG_STATE_HOME": "state"}
			}, "home/.local/state/snens", nil,
		},
		{
			"no home", 0, func(t *testing.T, root string) map[string]string {
				return map[string]string{"XDG_RUNTIME_DIR": folder(t, 0o700, 0, root, "run")}
			}, "run/snens", []string{"$XDG_RUNTIME_DIR/snens", "not ~/.local/state/snens: HOME is not set"},
		},
		{
			"a home that does not exist is not made", 0, func(t *testing.T, root string) map[string]string {
				return map[string]string{"HOME": root + "/none", "XDG_RUNTIME_DIR": folder(t, 0o700, 0, root, "run")}
			}, "run/snens", []string{"no such file"},
		},
		{
			"a home of another user", 0, func(t *testing.T, root string) map[string]string {
				return map[string]string{"HOME": folder(t, 0o755, 12345, root, "home"), "XDG_RUNTIME_DIR": folder(t, 0o700, 0, root, "run")}
			}, "run/snens", []string{"belongs to uid 12345"},
		},
		{
			"a state folder open to others", 0, func(t *testing.T, root string) map[string]string {
				folder(t, 0o755, 0, root, "home/.local/state/snens")
				return map[string]string{"HOME": root + "/home", "XDG_RUNTIME_DIR": folder(t, 0o700, 0, root, "run")}
			}, "run/snens", []string{"is open to others (mode 0755)"},
		},
		{
			"nothing set", 0, func(t *testing.T, root string) map[string]string { return nil },
			"tmp/snens-0",
			[]string{"HOME is not set", "XDG_RUNTIME_DIR is not set"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			tmp := folder(t, 0o1777, 0, root, "tmp")
			env := c.env(t, root)
			b, err := session.StateBaseIn(func(n string) string { return env[n] }, c.uid, tmp)
			must(t, err)
			if b.Dir != filepath.Join(root, c.dir) {
				t.Errorf("got %s (%s), want %s", b.Dir, b.Reason, c.dir)
			}
			info, err := os.Lstat(b.Dir)
			must(t, err)
			if info.Mode() != os.ModeDir|0o700 {
				t.Errorf("mode %v", info.Mode())
			}
			for _, part := range c.reason {
				if !strings.Contains(b.Reason, part) {
					t.Errorf("reason %q lacks %q", b.Reason, part)
				}
			}
			if _, err := os.Stat(root + "/none"); err == nil {
				t.Error("a home was made")
			}
		})
	}
}

func TestStateBaseOnReadOnlyHome(t *testing.T) {
	testneed.Root(t)
	root := t.TempDir()
	home := folder(t, 0o755, 0, root, "home")
	err := unix.Mount("none", home, "tmpfs", unix.MS_RDONLY, "mode=0755")
	testneed.Kernel(t, err == nil, "tmpfs that root may mount")
	defer func() { must(t, unix.Unmount(home, unix.MNT_DETACH)) }()
	tmp := folder(t, 0o1777, 0, root, "tmp")
	env := map[string]string{"HOME": home}
	b, err := session.StateBaseIn(func(n string) string { return env[n] }, 0, tmp)
	must(t, err)
	if b.Dir != tmp+"/snens-0" || !strings.Contains(b.Reason, "read-only file system") {
		t.Errorf("got %+v", b)
	}
}

func TestStateBaseInTmpIsChecked(t *testing.T) {
	testneed.Root(t)
	none := func(string) string { return "" }
	for name, c := range map[string]struct {
		make func(t *testing.T, tmp string)
		want string
	}{
		"a symlink": {func(t *testing.T, tmp string) {
			must(t, os.Symlink(folder(t, 0o700, 0, tmp, "elsewhere"), tmp+"/snens-0"))
		}, "is a symlink, not a folder"},
		"of another user": {func(t *testing.T, tmp string) { folder(t, 0o700, 12345, tmp, "snens-0") }, "belongs to uid 12345"},
		"open to others":  {func(t *testing.T, tmp string) { folder(t, 0o750, 0, tmp, "snens-0") }, "is open to others (mode 0750)"},
		"a file":          {func(t *testing.T, tmp string) { must(t, os.WriteFile(tmp+"/snens-0", nil, 0o600)) }, "is not a folder"},
		"no sticky bit":   {func(t *testing.T, tmp string) { must(t, unix.Chmod(tmp, 0o777)) }, "is writable by others (mode 0777)"},
	} {
		t.Run(name, func(t *testing.T) {
			tmp := folder(t, 0o1777, 0, t.TempDir(), "tmp")
			c.make(t, tmp)
			b, err := session.StateBaseIn(none, 0, tmp)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "HOME is not set") {
				t.Errorf("got %+v, %v; want an error with %q", b, err, c.want)
			}
		})
	}
}

func TestStateBaseNamesTheUID(t *testing.T) {
	testneed.Root(t)
	tmp := folder(t, 0o1777, 0, t.TempDir(), "tmp")
	b, err := session.StateBaseIn(func(string) string { return "" }, 4000000000, tmp)
	must(t, err)
	if want := tmp + "/snens-" + strconv.Itoa(4000000000); b.Dir != want {
		t.Errorf("got %s, want %s", b.Dir, want)
	}
}
