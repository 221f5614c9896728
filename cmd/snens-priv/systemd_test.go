package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// passing makes sockets as systemd's units would and has them passed.
func (p *process) passing(mode os.FileMode, gids map[string]int) (wrap []string) {
	p.t.Helper()
	must(p.t, os.Mkdir(p.path("run"), 0o755))
	var files []*os.File
	var names []string
	for _, name := range []string{"request", "approval"} {
		path := p.path("run/" + name + ".sock")
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		must(p.t, err)
		l.SetUnlinkOnClose(false)
		must(p.t, os.Chown(path, 0, gids[name]))
		must(p.t, os.Chmod(path, mode))
		f, err := l.File()
		must(p.t, err)
		must(p.t, l.Close())
		p.t.Cleanup(func() { _ = f.Close() })
		files, names = append(files, f), append(names, name)
	}
	p.files = files
	p.env = []string{"LISTEN_FDS=2", "LISTEN_FDNAMES=" + strings.Join(names, ":")}
	// LISTEN_PID is that of the program itself.
	return []string{"/bin/sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`}
}

var groups = map[string]int{"request": gidAskers, "approval": gidApprove}

func TestPassedSockets(t *testing.T) {
	p := newRoot(t, policyText)
	wrap := p.passing(0o660, groups)
	// The paths of the command line lose.
	args := append(p.args, "--socket", filepath.Join(p.dir, "other.sock"))
	p.launch(args, wrap...)
	p.until("READY=1")
	out, v := p.asker().begin(`{"rule":"hello","slots":{"who":["passed"]}}`)
	if got := output(t, out); ended(v) != "exited exited" || got != "hello passed\n" {
		t.Errorf("%s printed %q", v.JSON(), got)
	}
	code, text, _ := do("status", "--socket", p.path("run/request.sock"))
	if code != 0 || strings.Count(text, "passed by systemd") != 2 {
		t.Errorf("status: %d %s", code, text)
	}
	if _, err := os.Lstat(p.path("other.sock")); !os.IsNotExist(err) {
		t.Errorf("a socket of its own: %v", err)
	}
	p.stop()
	// They are systemd's: they stay, and the next one takes over.
	p.launch(args, wrap...)
	p.until("READY=1")
	if got := p.asker().code("list", `{}`); !strings.HasPrefix(got, "no error") {
		t.Errorf("after a restart: %s", got)
	}
	p.stop()
}

func TestPassedSocketsThatAreTooOpen(t *testing.T) {
	for name, c := range map[string]struct {
		mode   os.FileMode
		groups map[string]int
		want   string
	}{
		"for all":         {0o666, groups, "wider than 0660"},
		"another's group": {0o660, map[string]int{"request": gidAskers, "approval": gidAskers}, "it belongs to 0:54341, not to 0:54342"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newRoot(t, policyText)
			p.launch(p.args, p.passing(c.mode, c.groups)...)
			if code := p.wait(); code != 1 || !strings.Contains(p.log(), c.want) {
				t.Errorf("status %d: %s", code, p.log())
			}
		})
	}
}

func TestPassedSocketsNeedNames(t *testing.T) {
	p := newRoot(t, policyText)
	wrap := p.passing(0o660, groups)
	p.env = []string{"LISTEN_FDS=2"}
	p.launch(p.args, wrap...)
	if code := p.wait(); code != 1 || !strings.Contains(p.log(), "FileDescriptorName") {
		t.Errorf("status %d: %s", code, p.log())
	}
}

func TestNotifies(t *testing.T) {
	p := newRoot(t, policyText)
	p.env = []string{"WATCHDOG_USEC=200000"}
	p.start()
	p.until("STATUS=serving, 5 rules, generation 1 of the policy")
	for range 3 {
		p.until("WATCHDOG=1")
	}
	must(t, p.cmd.Process.Signal(unix.SIGTERM))
	p.until("STOPPING=1")
	if code := p.wait(); code != 0 {
		t.Errorf("status %d", code)
	}
	for i, d := range p.told {
		if strings.HasPrefix(d, "STOPPING=1") && i < 3 {
			t.Errorf("told %q", p.told)
		}
	}
}

// No child speaks in its name.
func TestChildrenGetNothingOfTheServiceManager(t *testing.T) {
	p := newRoot(t, policyText+`
[[rule]]
id = "environment"
decision = "allow"
command = "/usr/bin/env"
args = []
from = ["uid:54331"]
run_as = {user = "root", group = "root"}
i_know = true
`)
	p.env = []string{"WATCHDOG_USEC=60000000", "SECRET=x", "LD_LIBRARY_PATH=/tmp", "SUDO_UID=54332"}
	p.start()
	out, v := p.asker().begin(`{"rule":"environment"}`)
	got := output(t, out)
	if ended(v) != "exited exited" || !strings.Contains(got, "PATH=") {
		t.Errorf("%s printed %q", v.JSON(), got)
	}
	for _, bad := range []string{"NOTIFY_SOCKET", "WATCHDOG", "LISTEN_", "SECRET", "LD_LIBRARY_PATH", "SUDO_UID"} {
		if strings.Contains(got, bad) {
			t.Errorf("the child's environment has %s:\n%s", bad, got)
		}
	}
	p.stop()
}
