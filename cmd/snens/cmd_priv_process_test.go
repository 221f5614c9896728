package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/internal/wire"
)

// userConfig is a configuration in which the broker is one's own.
func userConfig(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "snens.toml")
	if err := os.WriteFile(path, []byte("priv.user = true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A signal hangs up: the broker sees the end, cancels, and what it says then is
// how priv ends.
func TestPrivIsCancelledBySignals(t *testing.T) {
	for _, sig := range []unix.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP} {
		asked := make(chan struct{})
		socket := fakeBroker(t, func(c *wire.Conn, q wire.Request) {
			takes(t, c, q).Close()
			_ = c.More(q.ID, pendingNotice(1))
			close(asked)
			if _, err := c.ReadRequest(0); !errors.Is(err, io.EOF) {
				t.Errorf("the broker got %v", err)
			}
			r := action.Result{ID: someID, State: action.Cancelled, Reason: action.ReasonRequesterGone}
			_ = c.Reply(q.ID, r.Value())
		})
		b := newBench(t)
		b.env = append(b.env, "SNENS_PRIV="+socket)
		cmd := b.snens("priv", "--user", "web")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-asked
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if status := shellStatus(t, cmd.Wait()); status != 75 || !strings.Contains(stderr.String(), "snens: cannot run web: the requester closed the connection\n") {
			t.Errorf("%v: %d, %q", sig, status, stderr.String())
		}
	}
}

// A broker that does not answer keeps nobody who presses Ctrl-C twice.
func TestPrivASecondINTDoesNotWait(t *testing.T) {
	asked, hungUp, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
	defer close(over)
	socket := fakeBroker(t, func(c *wire.Conn, q wire.Request) {
		takes(t, c, q).Close()
		close(asked)
		_, _ = c.ReadRequest(0)
		close(hungUp)
		<-over
	})
	b := newBench(t)
	b.env = append(b.env, "SNENS_PRIV="+socket)
	cmd := b.snens("priv", "--user", "web")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	for _, wait := range []chan struct{}{hungUp, nil} {
		if err := cmd.Process.Signal(unix.SIGINT); err != nil {
			t.Fatal(err)
		}
		if wait != nil {
			<-wait
		}
	}
	if status := shellStatus(t, cmd.Wait()); status != action.ExitInternal {
		t.Errorf("got %d", status)
	}
}

// A tool is told of the broker and asks it like anybody; what it claims of its
// session is what it was told.
func TestPrivInATool(t *testing.T) {
	socket := fakeBroker(t, func(c *wire.Conn, q wire.Request) {
		o := q.Fields()
		if rule := o.Field("rule").String(); rule != "web" {
			t.Errorf("rule %s", rule)
		}
		files := takes(t, c, q)
		_, _ = unix.Write(files.FD(1), []byte("privileged\n"))
		files.Close()
		r := action.Result{ID: someID, State: action.Exited, Reason: action.ReasonExited, Code: 6}
		_ = c.Reply(q.ID, r.Value())
	})
	b := newBench(t)
	conf := b.file("../snens.toml", "[priv]\nsocket = '"+socket+"'\nuser = true\n", 0o600)
	defer os.Remove(conf)
	b.tool("asks", asSnens+"=1 snens priv web; echo \"status $? $SNENS_PRIV\"\n")
	b.env = append(b.env, "SNENS_CONFIG="+conf)
	for _, args := range [][]string{{"call", "asks"}, {"call", "--json", "asks"}} {
		status, stdout, stderr := b.run("", args...)
		if status != 0 || !strings.Contains(stdout, "privileged") || !strings.Contains(stdout, "status 6 "+socket) {
			t.Errorf("%q: %d, %q, %q", args, status, stdout, stderr)
		}
	}
}

// In the background of a terminal the command's stdin is empty: nothing would
// stop it from taking what is typed for the shell.
func TestPrivInTheBackgroundReadsNothing(t *testing.T) {
	kinds := make(chan bool, 2)
	socket := fakeBroker(t, func(c *wire.Conn, q wire.Request) {
		files := takes(t, c, q)
		_, err := unix.IoctlGetTermios(files.FD(0), unix.TCGETS)
		kinds <- err == nil
		files.Close()
		r := action.Result{ID: someID, State: action.Exited, Reason: action.ReasonExited}
		_ = c.Reply(q.ID, r.Value())
	})
	b := newBench(t)
	b.env = append(b.env, "SNENS_PRIV="+socket)
	snens := b.snens("priv", "--user", "web")
	for script, want := range map[string]bool{"\"$@\"": true, "set -m\n\"$@\" &\nwait $!": false} {
		cmd := exec.Command("bash", append([]string{"-c", script + "\necho \"ended $?\"", "bash"}, snens.Args...)...)
		cmd.Env, cmd.Dir = snens.Env, snens.Dir
		terminal := startInTerminal(t, cmd)
		if shown := readUntil(t, terminal, "ended "); strings.Contains(shown, "snens:") {
			t.Errorf("the terminal shows:\n%s", shown)
		}
		_ = cmd.Wait()
		if got := <-kinds; got != want {
			t.Errorf("%q: the stdin is a terminal: %v, want %v", script, got, want)
		}
	}
}
