package e2e

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// deadline bounds everything that a test starts or waits for. It is never
// reached unless something hangs.
const deadline = 90 * time.Second

// world is what one test works in.
type world struct {
	t    testing.TB
	root string // all of it; removed after the test
	home string
	// tools is the tools folder, work the working directory of snens.
	tools, work string
	state       string // XDG_STATE_HOME, by which its processes are known
	bin         string
	env         []string
	wrap        []string            // a command that runs snens, e.g. in a namespace
	cred        *syscall.Credential // nil = ours
}

// newWorld makes a world below the folder for temporary files.
func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldIn(t, "")
}

func newWorldIn(t testing.TB, parent string) *world {
	t.Helper()
	root, err := os.MkdirTemp(parent, "snens-e2e-")
	must(t, err)
	must(t, os.Chmod(root, 0o755))
	w := &world{
		t: t, root: root, home: filepath.Join(root, "home"), tools: filepath.Join(root, "tools"),
		work: filepath.Join(root, "work"), state: filepath.Join(root, "home", "state"), bin: built.snens,
	}
	for _, dir := range []string{w.home, w.tools, w.work} {
		must(t, os.Mkdir(dir, 0o755))
	}
	w.env = []string{
		"HOME=" + w.home, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
		"XDG_CONFIG_HOME=" + filepath.Join(w.home, "config"), "XDG_CACHE_HOME=" + filepath.Join(w.home, "cache"),
		"XDG_STATE_HOME=" + w.state, "TMPDIR=" + os.TempDir(),
		"GORACE=" + raceOptions(),
	}
	t.Cleanup(func() {
		w.endWhatIsLeft()
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	return w
}

// setenv sets a variable of snens; unset takes one away.
func (w *world) setenv(name, value string) {
	w.unset(name)
	w.env = append(w.env, name+"="+value)
}

func (w *world) unset(names ...string) {
	for _, name := range names {
		kept := w.env[:0:0]
		for _, v := range w.env {
			if !strings.HasPrefix(v, name+"=") {
				kept = append(kept, v)
			}
		}
		w.env = kept
	}
}

// tool makes a shell script a tool that is described by its comments, so that
// it is never asked for --help.
func (w *world) tool(name, script string) {
	w.t.Helper()
	w.file(filepath.Join("tools", name, name), "#!/bin/sh\n# "+name+" — a tool of a test.\n# "+name+" [WORD...]\n"+script+"\n", 0o755)
}

// file writes a file of the world, whatever the umask is.
func (w *world) file(name, text string, mode os.FileMode) string {
	w.t.Helper()
	path := filepath.Join(w.root, name)
	must(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(w.t, os.WriteFile(path, []byte(text), mode))
	must(w.t, os.Chmod(path, mode))
	return path
}

// config writes snens.toml where snens finds it.
func (w *world) config(text string) {
	w.t.Helper()
	w.file("home/config/snens/snens.toml", text, 0o644)
}

// shell runs a script of the test itself in the world.
func (w *world) shell(script string) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-euc", script)
	cmd.Dir, cmd.Env = w.root, w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

// command is snens with args, not started. It is killed at the deadline.
func (w *world) command(args ...string) *exec.Cmd {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	w.t.Cleanup(cancel)
	line := append(append([]string{}, w.wrap...), w.bin, "--tools-dir", w.tools)
	line = append(line, args...)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = w.env, w.work, 5*time.Second
	if w.cred != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: w.cred}
	}
	return cmd
}

// result is how a run of snens ended.
type result struct {
	status         int // as a shell has it
	stdout, stderr string
}

// run runs snens with the null file as stdin.
func (w *world) run(args ...string) result {
	w.t.Helper()
	return w.feed(nil, args...)
}

// feed runs snens with that stdin.
func (w *world) feed(stdin io.Reader, args ...string) result {
	w.t.Helper()
	return w.finish(w.command(args...), stdin)
}

// finish runs a command to its end.
func (w *world) finish(cmd *exec.Cmd, stdin io.Reader) result {
	w.t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &errs
	status := statusOf(w.t, cmd.Run())
	return result{status, out.String(), errs.String()}
}

// statusOf is the exit status as a shell has it; an error that is none fails the test.
func statusOf(t testing.TB, err error) int {
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

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
