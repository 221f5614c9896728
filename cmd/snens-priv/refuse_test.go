package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"snens/internal/testneed"
)

func TestRefusesToServe(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *process)
		want   string
	}{
		"a log folder that is a link": {func(p *process) {
			must(p.t, os.Mkdir(p.path("elsewhere"), 0o700))
			must(p.t, os.Symlink(p.path("elsewhere"), p.path("log")))
		}, "symbolic link"},
		"a log folder that a group can write": {func(p *process) {
			must(p.t, os.Mkdir(p.path("log"), 0o700))
			must(p.t, os.Chmod(p.path("log"), 0o770))
		}, "writable by its group"},
		"a log folder of somebody else": {func(p *process) {
			must(p.t, os.Mkdir(p.path("log"), 0o700))
			must(p.t, os.Chown(p.path("log"), uidStranger, uidStranger))
		}, fmt.Sprint("belongs to uid ", uidStranger)},
		"a state folder that others can read": {func(p *process) {
			must(p.t, os.Mkdir(p.path("state"), 0o700))
			must(p.t, os.Chmod(p.path("state"), 0o755))
		}, "/state"},
		"a socket's folder that others can write": {func(p *process) {
			must(p.t, os.Mkdir(p.path("run"), 0o700))
			must(p.t, os.Chmod(p.path("run"), 0o777))
		}, "cannot listen on"},
		"no policy":                {func(p *process) { must(p.t, os.Remove(p.path("priv.toml"))) }, "priv.toml"},
		"a policy with a fault":    {func(p *process) { write(p.t, p.path("priv.toml"), "[[rule]]\nid = 1\n") }, "priv.toml:2:"},
		"a policy of others":       {func(p *process) { must(p.t, os.Chmod(p.path("priv.toml"), 0o666)) }, "writable by others"},
		"a socket that is no file": {func(p *process) { p.args = append(p.args, "--socket", "/dev/null") }, "cannot listen on /dev/null"},
		"no such group":            {func(p *process) { p.args = append(p.args, "--approval-group", "no-such-group") }, `"no-such-group"`},
		"both sockets the same":    {func(p *process) { p.args = append(p.args, "--approval-socket", p.path("run/request.sock")) }, "both sockets are"},
		"root with --user":         {func(p *process) { p.args = append(p.args, "--user") }, "as root every approver would be the requester"},
		"no root without --user": {func(p *process) {
			p.cred = &syscall.Credential{Uid: uidStranger, Gid: uidStranger}
		}, "is not root"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newRoot(t, policyText)
			c.change(p)
			p.launch(p.args)
			code := p.wait()
			if code != 1 && code != 2 || !strings.Contains(p.log(), c.want) {
				t.Errorf("status %d, want %q in:\n%s", code, c.want, p.log())
			}
			if !strings.HasPrefix(p.log(), "snens-priv: cannot ") {
				t.Errorf("it says %q", p.log())
			}
		})
	}
}

// Two at a time would share a log and a store.
func TestOnlyOneServes(t *testing.T) {
	first := newRoot(t, policyText)
	first.start()
	second := newRoot(t, policyText)
	second.args = append(second.args, "--state-dir", first.path("state"), "--log-dir", first.path("log"))
	second.launch(second.args)
	if code := second.wait(); code != 1 || !strings.Contains(second.log(), "another process keeps a log there") {
		t.Errorf("status %d: %s", code, second.log())
	}
	third := newRoot(t, policyText)
	third.args = append(third.args, "--socket", first.path("run/request.sock"))
	third.launch(third.args)
	if code := third.wait(); code != 1 || !strings.Contains(third.log(), "another process serves it") {
		t.Errorf("status %d: %s", code, third.log())
	}
	if got := first.asker().code("list", `{}`); !strings.HasPrefix(got, "no error") {
		t.Errorf("the first one: %s", got)
	}
	first.stop()
}

// A client of ours says nothing to a socket of another user's.
func TestOthersSocketsAreNotTrusted(t *testing.T) {
	testneed.Root(t)
	dir := folder(t)
	must(t, os.Chown(dir, uidStranger, uidStranger))
	socket := filepath.Join(dir, "request.sock")
	cmd := exec.Command(os.Args[0], socket)
	cmd.Env = append(os.Environ(), roleName+"=impostor")
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"status", "reload"} {
		code, _, errs := do(word, "--socket", socket)
		if code != 69 || !strings.Contains(errs, "cannot trust "+socket) {
			t.Errorf("%s: %d %s", word, code, errs)
		}
		if code, _, errs := do(word, "--socket", socket+"-none"); code != 69 || !strings.Contains(errs, "cannot reach the broker") {
			t.Errorf("%s: %d %s", word, code, errs)
		}
	}
}
