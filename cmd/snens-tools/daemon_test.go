package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/testneed"
	"snens/internal/wire"
)

// Ids that no account of the system has.
const (
	uidAsker    = 54381
	uidStranger = 54382
	uidApprover = 54383
	gidAskers   = 54391
	gidApprove  = 54392
)

const daemonPolicy = `
[[rule]]
id = "greet"
about = "Greet somebody"
decision = "allow"
command = "/usr/bin/echo"
args = ["hello", {slot = "who", kind = "enum", values = ["ann", "bob"], many = 2}]
from = ["uid:54381"]
run_as = {user = "root", group = "root"}

[[rule]]
id = "restart-web"
decision = "ask"
command = "/usr/bin/systemctl"
args = ["restart", {slot = "unit", kind = "enum", values = ["nginx.service"]}]
from = ["uid:54381"]
run_as = {user = "root", group = "root"}
approve = {from = ["uid:54383"], ttl = "1s", reason = "required"}

[[rule]]
id = "fail"
decision = "allow"
command = "/usr/bin/false"
from = ["uid:54381"]
run_as = {user = "root", group = "root"}
`

// startBroker builds snens-priv and the tools into dir and starts the former as
// root. It gives the request socket.
func startBroker(t *testing.T, dir string) (socket string) {
	t.Helper()
	for _, program := range []string{"snens-priv", "snens-tools"} {
		build := exec.Command("go", "build", "-o", filepath.Join(dir, program), "snens/cmd/"+program)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("cannot build: %v\n%s", err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "priv.toml"), []byte(daemonPolicy), 0o644); err != nil {
		t.Fatal(err)
	}
	ready := filepath.Join(dir, "notify.sock")
	notify, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: ready, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { notify.Close() })
	socket = filepath.Join(dir, "run", "request.sock")
	cmd := exec.Command(filepath.Join(dir, "snens-priv"), "serve", "--config", filepath.Join(dir, "priv.toml"),
		"--state-dir", filepath.Join(dir, "state"), "--log-dir", filepath.Join(dir, "log"),
		"--socket", socket, "--socket-group", fmt.Sprint(gidAskers),
		"--approval-socket", filepath.Join(dir, "run", "approval.sock"), "--approval-group", fmt.Sprint(gidApprove))
	cmd.Env = []string{"NOTIFY_SOCKET=" + ready, "PATH=/usr/bin:/bin"}
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(unix.SIGTERM)
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Logf("snens-priv: %v\n%s", err, log.String())
		}
	})
	buf := make([]byte, 4096)
	if err := notify.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := notify.Read(buf); err != nil || !bytes.HasPrefix(buf[:n], []byte("READY=1")) {
		t.Fatalf("it does not serve: %q %v", buf[:n], err)
	}
	return socket
}

// The tools and the broker itself: what is allowed runs as root, what is refused
// names what is possible, and nobody's answer is told.
func TestToolsAndTheBroker(t *testing.T) {
	testneed.Root(t)
	dir, err := os.MkdirTemp("", "snens-tools-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	socket := startBroker(t, dir)
	for _, c := range []struct {
		uid      uint32
		args     string
		status   int
		out, err string // a part of each
	}{
		{uidAsker, "priv --list", 0, "rule greet: Greet somebody\n    /usr/bin/echo hello {who}\n      {who}: one of ann, bob; up to 2 of them\n    runs as root at once\n", ""},
		{uidAsker, `priv --rule=greet --slots={"who":["ann","bob"]}`, 0, "hello ann bob\n", "done: run rule greet (request "},
		{uidAsker, "priv -- echo hello bob", 0, "hello bob\n", "done: run echo hello bob (request "},
		{uidAsker, "priv --check -- echo hello eve", 0, "deny: ", ""},
		{uidAsker, `priv --rule=greet --slots={"who":"eve"}`, 77, "", "{who}: one of ann, bob"},
		{uidAsker, "priv -- false", 1, "", "priv: cannot run false: the command ended with status 1\n"},
		{uidAsker, "service restart ssh", 77, "", "you may ask for:\n  rule restart-web\n    /usr/bin/systemctl restart {unit}\n      {unit}: one of nginx.service\n    runs as root when uid:54383 has approved; waits for that at most 1s; needs a reason\n"},
		{uidAsker, "service restart nginx", 64, "", "hint: fill in reason: "},
		{uidAsker, "service --reason=why restart nginx", 76, "", "hint: tell uid:54383; then ask again"},
		{uidAsker, "package install jq", 77, "", "no rule of yours is about this command; your rules: greet, restart-web, fail "},
		{uidAsker, "priv --result=aaaqeayeaudaocajbifqydiob4", 64, "", "there is no such request"},
		{uidStranger, "service restart nginx", 77, "", "no rule of the policy names you"},
		{uidStranger, "priv --list", 77, "", "this is not allowed"},
	} {
		cmd := exec.Command(filepath.Join(dir, "snens-tools"), strings.Fields(c.args)...)
		cmd.Dir, cmd.Env = "/", []string{"SNENS_PRIV=" + socket, "SNENS_CONFIG=/dev/null", "PATH=/usr/bin:/bin"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: c.uid, Gid: gidAskers}}
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		_ = cmd.Run()
		if cmd.ProcessState.ExitCode() != c.status || !strings.Contains(out.String(), c.out) || !strings.Contains(errs.String(), c.err) || (c.out == "") != (out.Len() == 0) {
			t.Errorf("%s ended with %d\nstdout %q\nstderr %q", c.args, cmd.ProcessState.ExitCode(), out.String(), errs.String())
		}
	}
}

// A tool that is told to end gives its request up, and says so.
func TestEndingAToolGivesTheRequestUp(t *testing.T) {
	root := install(t)
	dir := t.TempDir()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	pointAt(t, l.Addr().String(), true)
	cmd := exec.Command(filepath.Join(root, "tools", "package", "package"), "install", "jq")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	uc, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	c, err := wire.New(uc, wire.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Accept(); err != nil {
		t.Fatal(err)
	}
	q, err := c.ReadRequest(0)
	if err != nil {
		t.Fatal(err)
	}
	files, err := c.TakeFDs(q.ID, 3)
	if err != nil {
		t.Fatal(err)
	}
	files.Close()
	if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ReadRequest(0); err == nil {
		t.Error("it asks for more")
	}
	if err := c.Reply(q.ID, fields.Object(
		fields.Member("id", fields.Text(anID.String())), fields.Member("state", fields.Text("cancelled")),
		fields.Member("reason", fields.Text("requester_gone")))); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != action.ExitTryLater || !strings.Contains(errs.String(), "cannot install jq: ") {
		t.Errorf("%d %q", cmd.ProcessState.ExitCode(), errs.String())
	}
}
