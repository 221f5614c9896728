package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"snens/internal/peer"
)

// Who sits at a terminal and who is the tool of an agent is seen of a real peer.
func TestTerminalAndSupervised(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	must(t, err)
	defer l.Close()
	for _, c := range []struct {
		terminal bool
		env      []string
		called   bool
	}{
		{false, nil, false},
		{true, nil, false},
		{true, []string{"SNENS_CALL_ID=c1"}, true},
		{false, []string{"A=b", "SNENS_CALL_ID="}, true},
		{true, []string{"NOT_SNENS_CALL_ID=c1"}, false},
	} {
		cmd := exec.Command(os.Args[0], socket)
		cmd.Env = append([]string{roleName + "=connect", "GORACE=atexit_sleep_ms=0"}, c.env...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		cmd.Stderr = os.Stderr
		if c.terminal {
			cmd.Stdin = openTerminal(t)
			cmd.SysProcAttr.Setctty = true
		}
		must(t, cmd.Start())
		uc, err := l.AcceptUnix()
		must(t, err)
		p, err := peer.Identify(uc)
		must(t, err)
		if got := atTerminal(p); got != c.terminal {
			t.Errorf("terminal %v: %v", c.terminal, got)
		}
		if got := supervised(p); got != c.called {
			t.Errorf("%q: supervised is %v", c.env, got)
		}
		inCall := &peer.Peer{PID: p.PID, Seen: peer.Seen{Cgroup: "/user.slice/snens-abc/x"}}
		if !supervised(inCall) {
			t.Error("a peer in the control group of a call is not supervised")
		}
		must(t, uc.Close())
		must(t, cmd.Wait())
		// What has ended is no terminal's, and counts as supervised.
		if atTerminal(p) || !supervised(p) {
			t.Error("a process that is gone is at a terminal")
		}
		p.Close()
	}
}
