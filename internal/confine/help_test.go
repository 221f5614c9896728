package confine_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"snens/internal/confine"
)

// Programs whose --help is known to do nothing but print; the control runs
// them unrestricted. Coreutils and dpkg are on every Debian system, the rest is
// compared where it is installed.
const helpful = `cat cp ls mv rm date env head tail sort uniq wc cut tr stat du df chmod touch ln id uname timeout dpkg tar
grep sed find awk git python3 perl curl openssl ssh-keygen gpg vim man less systemctl journalctl ip ss tc mount lsblk
fdisk losetup swapon hostnamectl timedatectl busctl strace gdb make gcc tmux jq sqlite3 rsync wget xz zstd node`

func TestOrdinaryProgramsPrintTheirHelp(t *testing.T) {
	needSupport(t)
	compared := 0
	for name := range strings.FieldsSeq(helpful) {
		path := find(name)
		if path == "" {
			continue
		}
		compared++
		dir := t.TempDir()
		free := help(t, path, dir, confine.Rules{})
		r := strict
		r.WriteBeneath = []string{dir}
		if got := help(t, path, dir, r); got != free {
			t.Errorf("%s --help differs when restricted:\n%s\nunrestricted:\n%s", name, got, free)
		}
	}
	if compared < 20 {
		t.Errorf("only %d programs were found to compare", compared)
	}
}

func find(name string) string {
	if p, err := exec.LookPath(name); err == nil {
		return p
	}
	if p, err := exec.LookPath(filepath.Join("/usr/sbin", name)); err == nil {
		return p
	}
	return ""
}

// help gives status, stdout and stderr of PROGRAM --help.
func help(t *testing.T, path, dir string, r confine.Rules) string {
	t.Helper()
	c := exec.Command(path, "--help")
	c.Dir = dir
	c.Env = []string{
		"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + dir, "TMPDIR=" + dir, "LANG=C.UTF-8", "TERM=dumb",
		"PAGER=cat", "MANPAGER=cat", "GIT_PAGER=cat", "SYSTEMD_PAGER=cat",
	}
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := confine.Run(r, c.Start); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	_ = c.Wait() // the status is compared
	return c.ProcessState.String() + "\n" + out.String() + "\n" + errs.String()
}
