package main

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snens/internal/testneed"
)

const realPolicy = `
[[rule]]
id = "ok"
decision = "allow"
command = "/usr/bin/true"
from = ["user:root"]
detach = true

[[rule]]
id = "hello"
decision = "allow"
command = "/usr/bin/echo"
args = ["hello", {slot = "who", kind = "enum", values = ["ann", "bob"]}]
from = ["user:root"]

[[rule]]
id = "sleep"
decision = "allow"
command = "/usr/bin/sleep"
args = [{slot = "n", kind = "int", min = 1, max = 100}]
from = ["user:root"]

[[rule]]
id = "fails"
decision = "allow"
command = "/usr/bin/false"
from = ["user:root"]

[[rule]]
id = "sort"
decision = "allow"
command = "/usr/bin/sort"
stdin = "sealed"
from = ["user:root"]

[[rule]]
id = "asks"
decision = "ask"
command = "/usr/bin/id"
args = ["-u"]
from = ["user:root"]
approve = {from = ["uid:65534"], ttl = "10m"}
`

// realBroker is snens-priv itself, as root, with folders of its own. It returns
// its socket.
func realBroker(t *testing.T) string {
	t.Helper()
	testneed.Root(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "snens-priv")
	build := exec.Command("go", "build", "-o", program, "snens/cmd/snens-priv")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("cannot build the broker: %v\n%s", err, out)
	}
	for name, mode := range map[string]os.FileMode{"run": 0o755, "state": 0o700, "log": 0o750} {
		if err := os.Mkdir(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	policy, socket := filepath.Join(dir, "priv.toml"), filepath.Join(dir, "run", "request.sock")
	if err := os.WriteFile(policy, []byte(realPolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "serve", "--config", policy, "--socket", socket, "--socket-group", "0",
		"--approval-socket", filepath.Join(dir, "run", "approval.sock"), "--approval-group", "65534",
		"--state-dir", filepath.Join(dir, "state"), "--log-dir", filepath.Join(dir, "log"))
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(unix.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the broker: %v", err)
		}
		if t.Failed() {
			t.Log(log.String())
		}
	})
	eventually(t, "the broker serves", func() bool {
		c, err := net.Dial("unix", socket)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return socket
}

// The whole way, from the command line to the command and back.
func TestPrivWithTheBroker(t *testing.T) {
	b := newBench(t)
	b.env = append(b.env, "SNENS_PRIV="+realBroker(t))
	for _, c := range []struct {
		args, stdin string
		status      int
		stdout      string
		stderr      string // a part of it; "" for nothing at all
	}{
		{"ok", "", 0, "", ""},
		{"hello who=ann", "", 0, "hello ann\n", ""},
		{"-- echo hello bob", "", 0, "hello bob\n", ""},
		{"fails", "", 1, "", ""},
		{"sort --stdin", "b\na\n", 0, "a\nb\n", ""},
		{"sort", "", 64, "", "input"},
		{"hello who=eve", "", 77, "", `slot who: "eve": must be one of "ann", "bob"`},
		{"-- rm -rf /", "", 77, "", "hint: what you may ask for: snens priv rules"},
		{"nosuch", "", 64, "", "nosuch"},
		{"fails --no-wait", "", 64, "", ""},
		{"asks --wait=1s", "", 76, "", "for uid:65534 to approve "},
		{"asks --wait=1s", "", 76, "", "hint: none of them is listening now; one of them can type: snens approve show "},
		{"check ok", "", 0, "allow, by the rule ok: /usr/bin/true\n", ""},
		{"check asks", "", 1, "ask, by the rule asks, of uid:65534: /usr/bin/id -u\n", ""},
		{"check hello who=eve", "", 77, "deny: this is not allowed: rule hello: slot who: \"eve\": must be one of \"ann\", \"bob\"\n", ""},
	} {
		status, stdout, stderr := b.run(c.stdin, append([]string{"priv"}, strings.Fields(c.args)...)...)
		if status != c.status || stdout != c.stdout || !strings.Contains(stderr, c.stderr) || c.stderr == "" && stderr != "" && status < 64 {
			t.Errorf("%s: got %d, %q, %q, want %d, %q, %q", c.args, status, stdout, stderr, c.status, c.stdout, c.stderr)
		}
	}
	if status, stdout, _ := b.run("", "priv", "rules"); status != 0 || !strings.Contains(stdout, "snens priv hello who=ann|bob\n  runs as root: /usr/bin/echo hello {who}\n  at once; at most 1m\n") {
		t.Errorf("rules: %d\n%s", status, stdout)
	}
	status, stdout, stderr := b.run("", "priv", "ok", "--no-wait")
	id := strings.TrimSpace(stdout)
	if status != 0 || stderr != "" {
		t.Errorf("detached: %d, %q", status, stderr)
	}
	if status, stdout, stderr := b.run("", "priv", "result", id, "--wait"); status != 0 || stdout != "exited: exit status 0\n" || stderr != "" {
		t.Errorf("its result: %d, %q, %q", status, stdout, stderr)
	}
	if _, stdout, _ := b.run("", "priv", "list"); !strings.Contains(stdout, id+"  exited   exit status 0\n") {
		t.Errorf("list:\n%s", stdout)
	}
}

// Ctrl-C takes a request back, or ends the command; the second of two equal ones
// is told of the first.
func TestPrivCancelsAtTheBroker(t *testing.T) {
	b := newBench(t)
	b.env = append(b.env, "SNENS_PRIV="+realBroker(t))
	waiting := b.snens("priv", "asks")
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	waiting.Stderr = to
	if err := waiting.Start(); err != nil {
		t.Fatal(err)
	}
	to.Close()
	if _, err := from.Read(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := b.run("", "priv", "asks"); status != 75 || !strings.Contains(stderr, "hint: wait for it: snens priv result ") {
		t.Errorf("the second: %d, %q", status, stderr)
	}
	if err := waiting.Process.Signal(unix.SIGINT); err != nil {
		t.Fatal(err)
	}
	if status := shellStatus(t, waiting.Wait()); status != 75 {
		t.Errorf("a request that waits: %d", status)
	}
	running := b.snens("priv", "sleep", "n=100")
	if err := running.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it runs", func() bool {
		_, stdout, _ := b.run("", "priv", "list", "--json")
		var list []privRecord
		if err := json.Unmarshal([]byte(stdout), &list); err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			if *r.State == "running" {
				return true
			}
		}
		return false
	})
	if err := running.Process.Signal(unix.SIGINT); err != nil {
		t.Fatal(err)
	}
	// It ran: nobody may take that for "try again".
	if status := shellStatus(t, running.Wait()); status != 137 {
		t.Errorf("a command that runs: %d", status)
	}
}
