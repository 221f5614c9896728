package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// startInTerminal starts a command on a terminal of its own and returns the
// other end of it. Reading ends with an error when the command has ended.
func startInTerminal(t *testing.T, cmd *exec.Cmd) *os.File {
	t.Helper()
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 60})
	if err != nil {
		t.Fatalf("cannot start in a terminal: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		terminal.Close()
	})
	return terminal
}

// readUntil reads from a terminal until what it shows holds text.
func readUntil(t *testing.T, terminal io.Reader, text string) string {
	t.Helper()
	var shown strings.Builder
	buf := make([]byte, 4096)
	for !strings.Contains(shown.String(), text) {
		n, err := terminal.Read(buf)
		shown.Write(buf[:n])
		if err != nil {
			t.Fatalf("the terminal never shows %q, but:\n%s", text, shown.String())
		}
	}
	return shown.String()
}

func TestProgressLine(t *testing.T) {
	b := newBench(t)
	b.tool("quick", "")
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	b.file("slow/slow", "#!/bin/sh\nread -r line <"+fifo+"\necho \"$line\"\n", 0o755)
	terminal := startInTerminal(t, b.snens("tools"))
	readUntil(t, terminal, "\r\x1b[Kasking tools what they do: 1 of 2")
	if err := os.WriteFile(fifo, []byte("slow, but sure\n"), 0); err != nil {
		t.Fatal(err)
	}
	rest := readUntil(t, terminal, "slow, but sure")
	if !strings.Contains(rest, "\r\x1b[K\x1b[1mquick\x1b[0m  a tool of a test.\r\n") {
		t.Errorf("the line is not taken away before the table:\n%q", rest)
	}
}

func TestTheTableFitsTheTerminal(t *testing.T) {
	b := newBench(t)
	b.file("long/help.txt", strings.Repeat("word ", 30)+"\nlong\n", 0o644)
	b.file("long/long", "#!/bin/sh\n", 0o755)
	for _, c := range []struct{ option, want string }{
		{"--no-color", "long  "},
		{"--json=false", "\x1b[1mlong\x1b[0m  "},
	} {
		terminal := startInTerminal(t, b.snens("tools", c.option))
		line, _, _ := strings.Cut(readUntil(t, terminal, "\n"), "\r\n")
		// 60 columns: the name, two blanks, and what fits of the rest.
		rest, ok := strings.CutPrefix(line, c.want)
		if !ok || len([]rune(rest)) != 54 || !strings.HasSuffix(rest, "…") {
			t.Errorf("%s: %q", c.option, line)
		}
	}
}
