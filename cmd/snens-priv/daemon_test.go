package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/audit"
	"snens/internal/testneed"
)

// Uids and gids that no account of the system has.
const (
	uidAsker    = 54331
	uidApprover = 54332
	uidStranger = 54333
	gidAskers   = 54341
	gidApprove  = 54342
)

// patience is for what must happen soon on any machine.
const patience = 30 * time.Second

const policyText = `
[[rule]]
id = "hello"
decision = "allow"
command = "/usr/bin/echo"
args = ["hello", {slot = "who", kind = "word", pattern = "[a-z]+"}]
from = ["uid:54331"]
run_as = {user = "root", group = "root"}

[[rule]]
id = "whoami"
decision = "ask"
command = "/usr/bin/id"
args = ["-u"]
from = ["uid:54331"]
run_as = {user = "root", group = "root"}
approve = {from = ["uid:54332"], ttl = "10m"}

[[rule]]
id = "nap"
decision = "allow"
command = "/usr/bin/sleep"
args = [{slot = "n", kind = "int", min = 1, max = 9999}]
from = ["uid:54331"]
run_as = {user = "root", group = "root"}
detach = true
timeout = "1h"

[[rule]]
id = "later"
decision = "ask"
command = "/usr/bin/true"
args = []
from = ["uid:54331"]
run_as = {user = "root", group = "root"}
detach = true
approve = {from = ["uid:54332"], ttl = "10m"}

[[rule]]
id = "never"
decision = "deny"
command = "/usr/bin/cat"
from = ["everyone"]
`

// process is a broker, which runs or does not.
type process struct {
	t      *testing.T
	dir    string
	args   []string
	env    []string
	cred   *syscall.Credential
	files  []*os.File // passed from 3 on
	cmd    *exec.Cmd
	notify *net.UnixConn
	told   []string // by notify, each datagram
	ended  chan error

	mu     sync.Mutex
	stderr bytes.Buffer // guarded by mu
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.Write(b)
}

func (p *process) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// newRoot is a broker of root that does not run yet.
func newRoot(t *testing.T, policy string) *process {
	t.Helper()
	testneed.Root(t)
	dir := folder(t)
	write(t, filepath.Join(dir, "priv.toml"), policy)
	p := &process{t: t, dir: dir}
	p.args = []string{
		"serve", "--config", p.path("priv.toml"), "--state-dir", p.path("state"), "--log-dir", p.path("log"),
		"--socket", p.path("run/request.sock"), "--socket-group", fmt.Sprint(gidAskers),
		"--approval-socket", p.path("run/approval.sock"), "--approval-group", fmt.Sprint(gidApprove),
	}
	t.Cleanup(func() {
		if p.cmd != nil && p.cmd.ProcessState == nil {
			_ = p.cmd.Process.Kill()
			<-p.ended
		}
		if t.Failed() {
			t.Log(p.log())
		}
	})
	return p
}

func (p *process) path(name string) string { return filepath.Join(p.dir, name) }

// start starts it and waits until it says that it serves.
func (p *process) start() {
	p.t.Helper()
	p.launch(p.args)
	p.until("READY=1")
}

// launch starts it, wrap before its own path and arguments.
func (p *process) launch(args []string, wrap ...string) {
	p.t.Helper()
	socket := p.path("notify.sock")
	_ = os.Remove(socket)
	var err error
	p.notify, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	must(p.t, err)
	must(p.t, os.Chmod(socket, 0o777))
	p.t.Cleanup(func() { _ = p.notify.Close() })
	argv := append(append(wrap, program), args...)
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.ExtraFiles = p.files
	p.cmd.Env = append([]string{"NOTIFY_SOCKET=" + socket, "PATH=/usr/bin:/bin"}, p.env...)
	p.cmd.Stderr = p
	if p.cred != nil {
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.cred}
	}
	must(p.t, p.cmd.Start())
	p.ended = make(chan error, 1)
	cmd, ended := p.cmd, p.ended
	go func() { ended <- cmd.Wait() }()
}

// until reads what it tells the service manager until that begins so.
func (p *process) until(want string) {
	p.t.Helper()
	must(p.t, p.notify.SetReadDeadline(time.Now().Add(patience)))
	for {
		buf := make([]byte, 4096)
		n, err := p.notify.Read(buf)
		if err != nil {
			p.t.Fatalf("never told %s: %v; told %q\n%s", want, err, p.told, p.log())
		}
		p.told = append(p.told, string(buf[:n]))
		if strings.HasPrefix(string(buf[:n]), want) {
			return
		}
	}
}

// drain passes over what was told so far.
func (p *process) drain() {
	p.t.Helper()
	raw, err := p.notify.SyscallConn()
	must(p.t, err)
	buf := make([]byte, 4096)
	must(p.t, raw.Control(func(fd uintptr) {
		for err == nil {
			_, _, err = unix.Recvfrom(int(fd), buf, unix.MSG_DONTWAIT)
		}
	}))
	if err != unix.EAGAIN {
		p.t.Fatal(err)
	}
}

// wait waits for its end and gives the status.
func (p *process) wait() int {
	p.t.Helper()
	select {
	case err := <-p.ended:
		p.ended <- err
		exit := new(exec.ExitError)
		if err != nil && !errors.As(err, &exit) {
			p.t.Fatal(err)
		}
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		p.t.Fatalf("it does not end:\n%s", p.log())
		return -1
	}
}

// stop ends it in order.
func (p *process) stop() {
	p.t.Helper()
	must(p.t, p.cmd.Process.Signal(unix.SIGTERM))
	if code := p.wait(); code != 0 {
		p.t.Fatalf("stopped with status %d\n%s", code, p.log())
	}
}

// kill ends it as a crash would.
func (p *process) kill() {
	p.t.Helper()
	must(p.t, p.cmd.Process.Kill())
	p.wait()
}

// records reads the log and verifies it.
func (p *process) records() []audit.Record {
	p.t.Helper()
	code, _, errs := do("audit", "verify", "--log-dir", p.path("log"), "--state-dir", p.path("state"))
	if code != 0 {
		p.t.Errorf("the log does not verify: %s", errs)
	}
	segments, err := audit.Segments(p.path("log"))
	must(p.t, err)
	var all []audit.Record
	for _, s := range segments {
		text, err := os.ReadFile(filepath.Join(p.path("log"), s.Name))
		must(p.t, err)
		for l := range bytes.Lines(text) {
			r, err := audit.ParseRecord(l)
			must(p.t, err)
			all = append(all, r)
		}
	}
	return all
}

// kinds are the kinds of the records about a request, in their order.
func (p *process) kinds(id string) string {
	p.t.Helper()
	var out []string
	for _, r := range p.records() {
		if r.ID.String() == id {
			out = append(out, string(r.Kind))
		}
	}
	return strings.Join(out, " ")
}
