package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// asSnens makes the test binary be snens.
const asSnens = "SNENS_TEST_IS_SNENS"

func TestMain(m *testing.M) {
	if os.Getenv(asSnens) == "1" {
		main()
	}
	os.Exit(m.Run())
}

// bench is a folder of tools, and snens as a process of its own.
type bench struct {
	t   *testing.T
	dir string
	env []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	r := newRunner(t)
	// The race detector would otherwise hold each snens for a second at its end.
	return &bench{t: t, dir: t.TempDir(), env: append(r.env, asSnens+"=1", "GORACE=atexit_sleep_ms=0")}
}

// tool makes a shell script a tool.
func (b *bench) tool(name, script string) {
	b.t.Helper()
	b.file(filepath.Join(name, name), "#!/bin/sh\n# "+name+" — a tool of a test.\n# "+name+" [WORD]\n"+script, 0o755)
}

func (b *bench) file(name, text string, mode os.FileMode) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// snens is the command, not started.
func (b *bench) snens(args ...string) *exec.Cmd {
	b.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	cmd := exec.Command(exe, append([]string{"--tools-dir", b.dir}, args...)...)
	cmd.Env = b.env
	cmd.Dir = b.t.TempDir()
	return cmd
}

// run returns the exit status (as a shell has it) and the output.
func (b *bench) run(stdin string, args ...string) (status int, stdout, stderr string) {
	b.t.Helper()
	cmd := b.snens(args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	return shellStatus(b.t, cmd.Run()), out.String(), errs.String()
}

func shellStatus(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("cannot run snens: %v", err)
	}
	if ws := exit.Sys().(syscall.WaitStatus); ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return exit.ExitCode()
}

// started starts the command and waits for its first line.
func started(t *testing.T, cmd *exec.Cmd) (line string, rest io.Reader) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	line, err = lines.ReadString('\n')
	if err != nil {
		t.Fatalf("the tool printed no line: %v", err)
	}
	return strings.TrimSpace(line), lines
}

// eventually polls until cond holds; after 20 s the test fails.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(20 * time.Second); !cond(); {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("it never happened that %s", what)
		}
	}
}

// state is the state of a process in /proc: R, S, T (stopped), Z; "" when it is gone.
func state(pid string) string {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return ""
	}
	text := string(stat)
	return strings.Fields(text[strings.LastIndexByte(text, ')')+1:])[0]
}

func ended(pid string) bool { s := state(pid); return s == "" || s == "Z" }

func TestSignalsEndTheTree(t *testing.T) {
	for _, c := range []struct {
		sig    syscall.Signal
		status int
	}{
		{unix.SIGINT, 130},
		{unix.SIGTERM, 143},
		{unix.SIGHUP, 129},
		{unix.SIGQUIT, 131},
	} {
		t.Run(unix.SignalName(c.sig), func(t *testing.T) {
			b := newBench(t)
			b.tool("two", "sleep 1000 & echo $!; wait\n")
			cmd := b.snens("call", "two")
			child, _ := started(t, cmd)
			if err := cmd.Process.Signal(c.sig); err != nil {
				t.Fatal(err)
			}
			if got := shellStatus(t, cmd.Wait()); got != c.status {
				t.Errorf("exit status %d, want %d", got, c.status)
			}
			if !ended(child) {
				t.Errorf("the tool's child %s outlives it", child)
			}
		})
	}
}

// A shell's loop around snens ends only when snens dies of INT itself.
func TestInterruptIsADeathBySignal(t *testing.T) {
	b := newBench(t)
	b.tool("wait", "echo here; exec sleep 1000\n")
	cmd := b.snens("call", "wait")
	started(t, cmd)
	_ = cmd.Process.Signal(unix.SIGINT)
	_ = cmd.Wait()
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != unix.SIGINT {
		t.Errorf("snens ended with %v", cmd.ProcessState)
	}
}

func TestASecondInterruptKillsAtOnce(t *testing.T) {
	b := newBench(t)
	config := b.file("snens.toml", "grace = \"10m\"\n", 0o644)
	b.tool("stubborn", "trap 'echo TERM' TERM; echo $$; while :; do read -r _ <fifo; done\n")
	cmd := b.snens("--config", config, "call", "stubborn")
	if err := unix.Mkfifo(filepath.Join(cmd.Dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	tool, out := started(t, cmd)
	_ = cmd.Process.Signal(unix.SIGINT)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "TERM\n" {
		t.Fatalf("the first interrupt gave %q, %v", line, err)
	}
	_ = cmd.Process.Signal(unix.SIGINT)
	if got := shellStatus(t, cmd.Wait()); got != 130 {
		t.Errorf("exit status %d, want 130", got)
	}
	if !ended(tool) {
		t.Error("the tool survived the second interrupt")
	}
}

func TestIgnoredHangUpStaysIgnored(t *testing.T) {
	b := newBench(t)
	b.tool("wait", "echo here; read -r line; echo \"$line\"\n")
	snens := b.snens("call", "wait")
	cmd := exec.Command("sh", append([]string{"-c", `trap "" HUP; exec "$@"`, "sh"}, snens.Args...)...)
	cmd.Env, cmd.Dir = snens.Env, snens.Dir
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	_, rest := started(t, cmd)
	_ = cmd.Process.Signal(unix.SIGHUP)
	fmt.Fprintln(stdin, "still here")
	out, _ := io.ReadAll(rest)
	if got := shellStatus(t, cmd.Wait()); got != 0 || string(out) != "still here\n" {
		t.Errorf("exit status %d, output %q", got, out)
	}
}

// The reader of a pipe that goes away ends tool and snens, and nobody complains.
func TestClosedPipeIsQuiet(t *testing.T) {
	b := newBench(t)
	b.tool("flood", "exec yes\n")
	cmd := b.snens("call", "flood")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	out.Close()
	if got := shellStatus(t, cmd.Wait()); got != 141 || line != "y\n" || errs.Len() > 0 {
		t.Errorf("exit status %d, line %q, stderr %q", got, line, errs.String())
	}
}

// Part of a tree may outlive by a moment the process that the closed pipe
// killed. It is ended without a word.
func TestClosedPipeIsQuietAboutTheRest(t *testing.T) {
	b := newBench(t)
	b.tool("broken", "sleep 1000 >/dev/null 2>&1 & echo $!; kill -PIPE $$\n")
	status, stdout, stderr := b.run("", "call", "broken")
	if status != 141 || stderr != "" {
		t.Errorf("exit status %d, stderr %q", status, stderr)
	}
	if !ended(strings.TrimSpace(stdout)) {
		t.Error("the rest of the tree lives")
	}
}

// Ctrl-Z stops the tree and snens; fg continues both.
func TestStopAndContinueInAJobControlShell(t *testing.T) {
	b := newBench(t)
	b.tool("tick", "echo $$; read -r line; echo \"got $line\"\n")
	snens := b.snens("call", "tick")
	script := `set -m
"$@"
echo "stopped $?"
read -r _ <go
fg >/dev/null
echo "ended $?"`
	cmd := exec.Command("bash", append([]string{"-c", script, "bash"}, snens.Args...)...)
	cmd.Env, cmd.Dir = snens.Env, snens.Dir
	if err := unix.Mkfifo(filepath.Join(cmd.Dir, "go"), 0o600); err != nil {
		t.Fatal(err)
	}
	terminal := startInTerminal(t, cmd)
	lines := bufio.NewScanner(terminal)
	next := func() string { lines.Scan(); return strings.TrimSpace(lines.Text()) }

	tool := next()
	if _, err := strconv.Atoi(tool); err != nil {
		t.Fatalf("the tool printed %q", tool)
	}
	io.WriteString(terminal, "\x1a")
	for line := next(); !strings.HasPrefix(line, "stopped"); line = next() {
		if line == "" && lines.Err() != nil {
			t.Fatal("the shell never said that its job was stopped")
		}
	}
	eventually(t, "the tool is stopped", func() bool { return stopped(tool) })
	if err := os.WriteFile(filepath.Join(cmd.Dir, "go"), []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the tool runs again", func() bool { return !stopped(tool) })
	io.WriteString(terminal, "more\n")
	var rest strings.Builder
	for lines.Scan() {
		rest.WriteString(strings.TrimSpace(lines.Text()) + "\n")
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(rest.String(), "got more\nended 0\n") {
		t.Errorf("%v, the terminal shows:\n%s", err, rest.String())
	}
}

// stopped says whether a process is held, by a signal or by its cgroup.
func stopped(pid string) bool {
	if state(pid) == "T" {
		return true
	}
	own, err := os.ReadFile("/proc/" + pid + "/cgroup")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(own)) {
		path, ok := strings.CutPrefix(line, "0::")
		if !ok {
			continue
		}
		for _, mount := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
			events, err := os.ReadFile(filepath.Join(mount, strings.TrimSpace(path), "cgroup.events"))
			if err == nil {
				return strings.Contains(string(events), "frozen 1")
			}
		}
	}
	return false
}
