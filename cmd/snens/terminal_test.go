package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/creack/pty"
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
