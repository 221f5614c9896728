package nspawn

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"snens/internal/testneed"
)

// docs/install.md, done by an administrator whose laptop it is too. What the
// page takes away again is gone, and what make install put was all that it took.
func TestTheInstallPage(t *testing.T) {
	t.Parallel()
	m := bootBare(t)
	m.root("useradd --create-home me && install -d -o me -g me /home/me/.config")
	const listing = "find /usr/local /etc/snens /usr/lib/systemd/system -not -type d 2>/dev/null | sort"
	before := m.root(listing)
	follow(t, m, "../../docs/install.md")
	if after := m.root(listing); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if got := m.root("systemctl list-unit-files --no-legend 'snens*'; getent group snens snens-approve; ls /run/snens-priv; true"); strings.TrimSpace(got) != "" {
		t.Errorf("left: %s", got)
	}
}

// Whoever makes a package installs into a folder and is not root. An existing
// policy is kept, by whatever it is replaced, and the units name the prefix.
func TestInstallIntoAFolder(t *testing.T) {
	t.Parallel()
	testneed.Root(t) // to be somebody else
	from, err := source()
	must(t, err)
	dir, err := os.MkdirTemp(scratch, "destdir")
	must(t, err)
	const nobody = 65534
	must(t, os.Chown(dir, nobody, nobody))
	must(t, os.Chmod(scratch, 0o711))
	run := func(words ...string) string {
		t.Helper()
		cmd := exec.Command("make", append([]string{"-C", from, "DESTDIR=" + dir}, words...)...)
		cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR=" + dir}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("make %s: %v\n%s", strings.Join(words, " "), err, out)
		}
		return string(out)
	}
	read := func(path string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, path))
		must(t, err)
		return string(text)
	}
	run("install", "PREFIX=/usr")
	if unit := read("usr/lib/systemd/system/snens-priv.service"); !strings.Contains(unit, "\nExecStart=/usr/bin/snens-priv serve\n") || strings.Contains(unit, "@") {
		t.Errorf("the unit:\n%s", unit)
	}
	mine := filepath.Join(dir, "etc/snens/priv.toml")
	must(t, os.WriteFile(mine, []byte("# mine\n"), 0o600))
	if said := run("install", "PREFIX=/usr"); !strings.Contains(said, "kept "+mine) || read("etc/snens/priv.toml") != "# mine\n" {
		t.Errorf("the policy of an administrator was replaced:\n%s", said)
	}
	if said := run("install", "PREFIX=/opt/snens"); !strings.Contains(said, "nor does systemd") {
		t.Errorf("nothing is said about a prefix where systemd does not look:\n%s", said)
	}
	run("uninstall", "PREFIX=/usr")
	run("uninstall", "PREFIX=/opt/snens")
	var left []string
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			left = append(left, path)
		}
		return err
	}))
	if len(left) != 1 || left[0] != mine {
		t.Errorf("left after make uninstall: %v", left)
	}
}
