package examples_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/fields"
	"snens/internal/strictjson"
	"snens/internal/testneed"
	"snens/internal/wire"
)

// Uids and gids that no account of the system has.
const (
	asker    = 54361
	approver = 54362
	askers   = 54371
	approves = 54372
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// folder is a folder that every user can reach.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "snens-example-")
	must(t, err)
	must(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// client is a copy of the example that every user can read, and its Python.
func client(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	text, err := os.ReadFile("python/snens_priv.py")
	must(t, err)
	path := filepath.Join(dir, "snens_priv.py")
	must(t, os.WriteFile(path, text, 0o644))
	cmd := exec.Command(python(t), append([]string{path}, args...)...)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"}
	return cmd
}

// python is an interpreter that every user can run, 3.10 or later.
func python(t *testing.T) string {
	t.Helper()
	path := testneed.Program(t, "python3")
	if real, err := filepath.EvalSymlinks("/usr/bin/python3"); err == nil {
		path = real
	}
	return path
}

func TestTheExampleIsShort(t *testing.T) {
	text, err := os.ReadFile("python/snens_priv.py")
	must(t, err)
	if n := bytes.Count(text, []byte("\n")); n >= 60 {
		t.Errorf("it has %d lines", n)
	}
}

// It sends its own 0, 1 and 2, and ends as the command did.
func TestPythonAsksAServer(t *testing.T) {
	dir := folder(t)
	path := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	must(t, err)
	serve(t, l, serveRun)
	cmd := client(t, dir, "--user", "--socket", path, "run", "r", "unit=a,b", "n=ü")
	cmd.Env = append(cmd.Env, "XDG_RUNTIME_DIR="+dir)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 3 || out.String() != "written" || !strings.Contains(errs.String(), `"exit_code": 3`) {
		t.Errorf("%v, stdout %q, stderr %q", err, out.String(), errs.String())
	}
}

// serve answers one request, and waits at the end of the test until that is done.
func serve(t *testing.T, l *net.UnixListener, answer func(c *wire.Conn, q wire.Request) error) {
	t.Helper()
	var wg sync.WaitGroup
	wg.Go(func() {
		uc, err := l.AcceptUnix()
		if err != nil {
			return
		}
		c, err := wire.New(uc, wire.Options{})
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		var q wire.Request
		if _, err = c.Accept(); err == nil {
			q, err = c.ReadRequest(0)
		}
		if err == nil {
			err = answer(c, q)
		}
		if err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
}

func serveRun(c *wire.Conn, q wire.Request) error {
	if got := string(q.Params.JSON()); got != `{"rule":"r","slots":{"unit":["a","b"],"n":["ü"]},"fds":3}` {
		return fmt.Errorf("it asks for %s", got)
	}
	files, err := c.TakeFDs(q.ID, 3)
	if err != nil {
		return err
	}
	defer files.Close()
	if _, err := unix.Write(files.FD(1), []byte("written")); err != nil {
		return err
	}
	return c.Reply(q.ID, fields.Object(fields.Member("state", fields.Text("exited")), fields.Member("exit_code", fields.Int(3))))
}

// It approves by the digest on its command line and no other, and tells a refusal.
func TestPythonListsAndApproves(t *testing.T) {
	digest := strings.Repeat("ab", 32)
	for _, c := range []struct {
		words   []string
		want    string // of the request
		answers []string
		out     string
		status  int
	}{
		{[]string{"list"}, "list {}", []string{`{"pending":{"about":"\u001b[2J\u202e"}}`, `{"count":1,"total":1}`}, "{\"pending\": {\"about\": \"\\u001b[2J\\u202e\"}}\n{\"count\": 1, \"total\": 1}\n", 0},
		{[]string{"approve", "ID", digest}, `answer {"request":"ID","decision":"approve","digest":"` + digest + `","lifespan":"once"}`, []string{`{"state":"approved"}`}, "{\"state\": \"approved\"}\n", 0},
		{[]string{"approve", "ID", digest}, `answer {"request":"ID","decision":"approve","digest":"` + digest + `","lifespan":"once"}`, []string{"!"}, "snens_priv.py: {\"code\": \"gone\", \"message\": \"too late\"}\n", 1},
	} {
		dir := folder(t)
		path := filepath.Join(dir, "s")
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		must(t, err)
		serve(t, l, func(conn *wire.Conn, q wire.Request) error {
			if got := q.Method + " " + string(q.Params.JSON()); got != c.want {
				return fmt.Errorf("it says %s, not %s", got, c.want)
			}
			for i, a := range c.answers {
				if a == "!" {
					return conn.Fail(q.ID, wire.Errorf("gone", "too late"))
				}
				v, err := strictjson.Parse([]byte(a), strictjson.Options{})
				if err == nil && i < len(c.answers)-1 {
					err = conn.More(q.ID, v)
				} else if err == nil {
					err = conn.Reply(q.ID, v)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		cmd := client(t, dir, append([]string{"--user", "--socket", path}, c.words...)...)
		cmd.Env = append(cmd.Env, "XDG_RUNTIME_DIR="+dir)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != c.status || string(out) != c.out {
			t.Errorf("%q: %v %q, want %q", c.words, err, out, c.out)
		}
	}
}

// A socket of another user is sent nothing.
func TestPythonSendsNothingToAFakeBroker(t *testing.T) {
	testneed.Root(t)
	dir := folder(t)
	path := filepath.Join(dir, "s")
	l := listenAs(t, path, approver)
	for _, how := range [][]string{{"--socket", path}, {"--user", "--socket", path}} {
		cmd := client(t, dir, append(how, "run", "r")...)
		cmd.Env = append(cmd.Env, "XDG_RUNTIME_DIR="+dir)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 69 || !bytes.Contains(out, []byte("somebody else listens")) {
			t.Errorf("%v %s", err, out)
		}
		c, err := l.AcceptUnix()
		must(t, err)
		if n, err := c.Read(make([]byte, 10)); n != 0 || err == nil {
			t.Errorf("%d bytes were sent", n)
		}
		c.Close()
	}
}

// listenAs listens as another user: who listens is whoever calls listen.
func listenAs(t *testing.T, path string, uid uintptr) *net.UnixListener {
	t.Helper()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	must(t, unix.Bind(fd, &unix.SockaddrUnix{Name: path}))
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with us
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uid, uid, uid); errno != 0 {
			done <- errno
			return
		}
		done <- unix.Listen(fd, 16)
	}()
	must(t, <-done)
	f := os.NewFile(uintptr(fd), "listener")
	defer f.Close()
	l, err := net.FileListener(f)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l.(*net.UnixListener)
}

const policyText = `
[[rule]]
id = "hello"
decision = "allow"
command = "/usr/bin/echo"
args = ["hello", {slot = "who", kind = "word", pattern = "[a-z]+", many = 2}]
from = ["uid:54361"]
run_as = {user = "root", group = "root"}

[[rule]]
id = "whoami"
decision = "ask"
command = "/usr/bin/id"
args = ["-u"]
from = ["uid:54361"]
run_as = {user = "root", group = "root"}
approve = {from = ["uid:54362"]}
`

// daemon starts snens-priv as root and gives the folder of its sockets.
func daemon(t *testing.T, dir string) (sockets string) {
	t.Helper()
	program := filepath.Join(dir, "snens-priv")
	build := exec.Command("go", "build", "-o", program, "snens/cmd/snens-priv")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("cannot build: %v\n%s", err, out)
	}
	must(t, os.WriteFile(filepath.Join(dir, "priv.toml"), []byte(policyText), 0o644))
	sockets = filepath.Join(dir, "run")
	ready := filepath.Join(dir, "notify.sock")
	notify, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: ready, Net: "unixgram"})
	must(t, err)
	t.Cleanup(func() { notify.Close() })
	cmd := exec.Command(program, "serve", "--config", filepath.Join(dir, "priv.toml"),
		"--state-dir", filepath.Join(dir, "state"), "--log-dir", filepath.Join(dir, "log"),
		"--socket", filepath.Join(sockets, "request.sock"), "--socket-group", fmt.Sprint(askers),
		"--approval-socket", filepath.Join(sockets, "approval.sock"), "--approval-group", fmt.Sprint(approves))
	cmd.Env = []string{"NOTIFY_SOCKET=" + ready, "PATH=/usr/bin:/bin"}
	var log bytes.Buffer
	cmd.Stderr = &log
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(unix.SIGTERM)
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Logf("snens-priv: %v\n%s", err, log.String())
		}
	})
	must(t, notify.SetReadDeadline(time.Now().Add(30*time.Second)))
	buf := make([]byte, 4096)
	if n, err := notify.Read(buf); err != nil || !bytes.HasPrefix(buf[:n], []byte("READY=1")) {
		t.Fatalf("it does not serve: %q %v", buf[:n], err)
	}
	return sockets
}

// as runs the example as a user.
func as(t *testing.T, dir string, uid, gid uint32, args ...string) *exec.Cmd {
	t.Helper()
	cmd := client(t, dir, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	cmd.Dir = "/"
	return cmd
}

// The broker itself runs what it allows, and says no to the rest.
func TestPythonAsksTheBroker(t *testing.T) {
	testneed.Root(t)
	dir := folder(t)
	sockets := daemon(t, dir)
	request := filepath.Join(sockets, "request.sock")
	var out, errs bytes.Buffer
	hello := as(t, dir, asker, askers, "--socket", request, "run", "hello", "who=a,b")
	hello.Stdout, hello.Stderr = &out, &errs
	if err := hello.Run(); err != nil || out.String() != "hello a b\n" {
		t.Fatalf("%v, stdout %q, stderr %q", err, out.String(), errs.String())
	}
	refused, err := as(t, dir, asker, askers, "--socket", request, "run", "hello", "who=A").CombinedOutput()
	if err == nil || !bytes.Contains(refused, []byte(`"code"`)) {
		t.Errorf("%v %s", err, refused)
	}
}

// One user asks in Python, another approves in Python, and it runs as root.
func TestPythonApprovesAtTheBroker(t *testing.T) {
	testneed.Root(t)
	dir := folder(t)
	sockets := daemon(t, dir)
	request, approval := filepath.Join(sockets, "request.sock"), filepath.Join(sockets, "approval.sock")
	var out bytes.Buffer
	whoami := as(t, dir, asker, askers, "--socket", request, "run", "whoami")
	told, err := whoami.StderrPipe()
	must(t, err)
	whoami.Stdout = &out
	must(t, whoami.Start())
	var pending struct{ State, ID, Digest string }
	must(t, json.NewDecoder(told).Decode(&pending))
	if pending.State != "pending" {
		t.Fatalf("told %+v", pending)
	}
	list, err := as(t, dir, approver, approves, "--socket", approval, "list").CombinedOutput()
	if err != nil || !bytes.Contains(list, []byte(pending.ID)) || !bytes.Contains(list, []byte(`"total": 1`)) {
		t.Errorf("list: %v %s", err, list)
	}
	wrong, err := as(t, dir, approver, approves, "--socket", approval, "approve", pending.ID, strings.Repeat("0", 64)).CombinedOutput()
	if err == nil || !bytes.Contains(wrong, []byte("digest_mismatch")) {
		t.Errorf("another digest: %v %s", err, wrong)
	}
	yes, err := as(t, dir, approver, approves, "--socket", approval, "approve", pending.ID, pending.Digest).CombinedOutput()
	if err != nil {
		t.Errorf("approve: %v %s", err, yes)
		_ = whoami.Process.Kill()
	}
	if err := whoami.Wait(); err != nil || out.String() != "0\n" {
		t.Errorf("it ended with %v and printed %q", err, out.String())
	}
}
