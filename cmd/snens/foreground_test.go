package main

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"
)

// What is typed for an interactive shell is not taken by a tool in the
// background: the job stops, and has the terminal when it is fetched.
func TestABackgroundCallStopsForTheTerminal(t *testing.T) {
	b := newBench(t)
	b.tool("ask", "read -r line; echo \"tool: $line\"\n")
	b.file("ask/help.txt", "ask — shows a line of stdin.", 0o644)
	snens := b.snens("call", "ask")
	script := `set -m
"$@" &
while :; do
	s=$(jobs -l)
	case "$s" in *Stopped*) break ;; esac
done
echo "stopped"
bg >/dev/null 2>&1
while :; do
	s=$(jobs -l)
	case "$s" in *Stopped*) break ;; esac
done
read -r line
echo "shell: $line"
fg >/dev/null
echo "ended $?"`
	cmd := exec.Command("bash", append([]string{"-c", script, "bash"}, snens.Args...)...)
	cmd.Env, cmd.Dir = snens.Env, snens.Dir
	terminal := startInTerminal(t, cmd)
	readUntil(t, terminal, "stopped\r\n")
	_, _ = terminal.WriteString("one\n")
	readUntil(t, terminal, "shell: one\r\n")
	_, _ = terminal.WriteString("two\n")
	var rest strings.Builder
	for lines := bufio.NewScanner(terminal); lines.Scan(); {
		rest.WriteString(strings.TrimSpace(lines.Text()) + "\n")
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(rest.String(), "tool: two\nended 0\n") {
		t.Errorf("%v, the terminal shows:\n%s", err, rest.String())
	}
}

// A call of a tool that does not ask for input goes on in the background, and
// takes nothing.
func TestABackgroundCallWithoutStdinGoesOn(t *testing.T) {
	b := newBench(t)
	b.tool("ask", "read -r line; echo \"tool: ($line)\"\n")
	snens := b.snens("call", "ask")
	cmd := exec.Command("bash", append([]string{"-c", "set -m\n\"$@\" &\nwait $!\necho \"ended $?\"", "bash"}, snens.Args...)...)
	cmd.Env, cmd.Dir = snens.Env, snens.Dir
	terminal := startInTerminal(t, cmd)
	if shown := readUntil(t, terminal, "ended "); !strings.Contains(shown, "tool: ()") {
		t.Errorf("the terminal shows:\n%s", shown)
	}
	_ = cmd.Wait()
}
