package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const allowPolicy = `
[[rule]]
id       = "nothing"
decision = "allow"
command  = "/usr/bin/true"
args     = []
from     = ["uid:47101"]
run_as   = {user = "root", group = "root"}
`

// privSudo and privDoas compare whole programs. All are started as the same
// plain user, who may run /usr/bin/true as root without a password.
func (b *bench) privSudo() (row, error) { return b.privRow("sudo") }
func (b *bench) privDoas() (row, error) { return b.privRow("doas") }

func (b *bench) privRow(rival string) (r row, err error) {
	other, err := exec.LookPath(rival)
	if err != nil {
		return row{}, &missingError{rival}
	}
	br, err := b.startBroker("broker-"+rival, allowPolicy)
	if err != nil {
		return row{}, err
	}
	defer func() { err = errors.Join(err, br.stop()) }()
	snens := br.path("snens")
	if err := copyFile(snens, filepath.Join(b.bin, "snens")); err != nil {
		return row{}, err
	}
	env := append(b.env("/nonexistent"), "SNENS_PRIV="+br.request)
	start := func(program string, args ...string) func() error {
		return func() error {
			cmd := asker(exec.Command(program, args...))
			cmd.Env, cmd.Dir, cmd.Stderr = env, "/", os.Stderr
			return cmd.Run()
		}
	}
	r = row{a: "snens priv -- true, allowed by a rule", b: rival + " -n true"}
	if rival == "sudo" {
		r.aim = 1
	}
	err = onThread(func() error {
		if err := b.ownEtc(); err != nil {
			return err
		}
		r.times, err = turns(500/b.div, start(snens, "priv", "--", "/usr/bin/true"), start(other, "-n", "/usr/bin/true"))
		return err
	})
	return r, err
}

// ownEtc gives this thread, and what it starts, a copy of /etc in memory where a
// user of ours is known to sudo and doas. The machine's own is not touched; the
// copy is gone with the thread and its children.
func (b *bench) ownEtc() error {
	etc := filepath.Join(b.dir, "etc")
	if err := os.MkdirAll(etc, 0o755); err != nil {
		return err
	}
	if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
		return &missingError{fmt.Sprintf("a mount namespace (%v)", err)}
	}
	if err := errors.Join(
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.Mount("tmpfs", etc, "tmpfs", unix.MS_NODEV, "mode=0755,size=64m"),
	); err != nil {
		return &missingError{fmt.Sprintf("the right to mount (%v)", err)}
	}
	if out, err := exec.Command("cp", "-a", "/etc/.", etc).CombinedOutput(); err != nil {
		return fmt.Errorf("cannot copy /etc: %w: %s", err, out)
	}
	for _, f := range []struct {
		name, text string
		perm       os.FileMode
	}{
		{"passwd", "snensbench:x:47101:47101::/nonexistent:/bin/sh\n", 0o644},
		{"group", "snensbench:x:47101:\n", 0o644},
		{"shadow", "snensbench:*:19000:0:99999:7:::\n", 0o600},
		{"sudoers", "snensbench ALL=(root) NOPASSWD: /usr/bin/true\n", 0o440},
		{"doas.conf", "permit nopass snensbench as root cmd /usr/bin/true\n", 0o600},
	} {
		if err := appendTo(filepath.Join(etc, f.name), f.text, f.perm); err != nil {
			return err
		}
	}
	return unix.Mount(etc, "/etc", "", unix.MS_BIND, "")
}

func appendTo(path, text string, perm os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, perm)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
