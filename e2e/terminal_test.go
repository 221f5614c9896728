package e2e

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"snens/internal/testneed"
)

// prompt is the shell's.
const prompt = "ready> "

// terminal is a program on a terminal of its own, and what it has shown.
type terminal struct {
	t    testing.TB
	keys interface{ Write([]byte) (int, error) }

	mu    sync.Mutex // guards the rest
	shown strings.Builder
	read  int // how much of it expect has gone past
}

// inTerminal starts a command on a terminal. It is killed after the test.
func inTerminal(t testing.TB, cmd *exec.Cmd) *terminal {
	t.Helper()
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 200})
	must(t, err)
	term := &terminal{t: t, keys: master}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			term.mu.Lock()
			term.shown.Write(buf[:n])
			term.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		master.Close()
		<-done
	})
	return term
}

// press types keys.
func (x *terminal) press(keys string) {
	x.t.Helper()
	_, err := x.keys.Write([]byte(keys))
	must(x.t, err)
}

// expect waits until text is shown, behind what was expected before, in a line
// that is complete or is the prompt. It returns the line.
func (x *terminal) expect(text string) string {
	x.t.Helper()
	line := ""
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(deadline / 3)
	for {
		x.mu.Lock()
		shown := x.shown.String()
		rest := shown[x.read:]
		at := strings.Index(rest, text)
		ended := at >= 0 && strings.Contains(rest[at:], "\n")
		if ended || text == prompt && at >= 0 {
			line = rest[strings.LastIndexByte(rest[:at], '\n')+1:]
			line, _, _ = strings.Cut(line, "\n")
			x.read += at + len(text)
			x.mu.Unlock()
			return strings.TrimSpace(line)
		}
		x.mu.Unlock()
		select {
		case <-tick.C:
		case <-limit:
			x.t.Fatalf("the terminal never shows %q; it shows:\n%s", text, shown)
		}
	}
}

// jobShell starts an interactive bash with job control in the world.
func jobShell(w *world) *terminal {
	w.t.Helper()
	testneed.Program(w.t, "bash")
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	w.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "bash", "--norc", "--noprofile", "--noediting", "-i")
	cmd.Dir = w.work
	cmd.Env = append([]string{"PS1=" + prompt, "TERM=dumb", "HISTFILE="}, w.env...)
	term := inTerminal(w.t, cmd)
	term.expect(prompt)
	term.press("snens() { " + strings.Join(w.command().Args, " ") + ` "$@"; }` + "\n")
	term.expect(prompt)
	return term
}

// Ctrl-Z stops the tree and snens, fg lets both go on, Ctrl-C ends both, and
// the shell sees 130.
func TestJobControl(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tool("tick", `echo $$ >tool; setsid sh -c 'echo $$ >child; while :; do echo >>count; done' & while :; do sleep 1000; done`)
	term := jobShell(w)
	for range 2 { // a second time after the first has ended
		term.press("snens call tick; echo first\n")
		tool := number(t, waitFile(t, filepath.Join(w.work, "tool")))
		child := number(t, waitFile(t, filepath.Join(w.work, "child")))
		snens := parentOf(t, tool)

		term.press("\x1a")
		term.expect("Stopped")
		term.expect(prompt)
		for what, pid := range map[string]int{"tool": tool, "child in a session of its own": child, "snens": snens} {
			eventually(t, "the "+what+" is stopped", func() bool { return held(pid) })
		}
		term.press("fg\n")
		for what, pid := range map[string]int{"tool": tool, "child in a session of its own": child, "snens": snens} {
			eventually(t, "the "+what+" goes on", func() bool { return !held(pid) })
		}

		term.press("\x03")
		term.expect(prompt)
		term.press("echo status=$?\n")
		if line := term.expect("status=1"); line != "status=130" {
			t.Errorf("after Ctrl-C the shell says %q", line)
		}
		term.expect(prompt)
		for what, pid := range map[string]int{"tool": tool, "child": child, "snens": snens} {
			if alive(pid) {
				t.Errorf("the %s lives on", what)
			}
		}
		for _, name := range []string{"tool", "child"} {
			must(t, unix.Unlink(filepath.Join(w.work, name)))
		}
	}
	term.press("exit\n")
	eventually(t, "the shell has ended", func() bool { return len(w.processes()) == 0 })
}

// A tool may write to the terminal that it was given, and that is all: it has
// no terminal to open, whatever stdin is.
func TestToolsHaveNoTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tool("prompt", `if (: </dev/tty) 2>/dev/null; then echo opened; else echo refused; fi; ps -o tty= -p $$; exit 4`)
	term := jobShell(w)
	for _, call := range []string{"snens call prompt", "snens call -n prompt"} {
		term.press(call + "; echo status=$?\n")
		term.expect("refused")
		term.expect("?")
		if line := term.expect("status="); line != "status=4" {
			t.Errorf("%s: %s", call, line)
		}
		term.expect(prompt)
	}
	term.press("exit\n")
	eventually(t, "the shell has ended", func() bool { return len(w.processes()) == 0 })
}
