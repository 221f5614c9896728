package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A note that nobody reads is dropped: the exit status and the status line are
// there all the same, whether or not SIGPIPE is ignored.
func TestNobodyReadsTheNotes(t *testing.T) {
	b := newBench(t)
	b.tool("left", "sleep 1000 >/dev/null 2>&1 & exit 3\n")
	b.tool("slow", "exec sleep 1000\n")
	marked(b)
	b.file("t1/schema.json", "{", 0o644)
	for _, c := range []struct {
		words  []string
		status int
	}{
		{[]string{"left"}, 3},
		{[]string{"--timeout", "50ms", "slow"}, 124},
		{[]string{"none"}, 127},
		{[]string{"t1", "x"}, 0},
	} {
		for _, trap := range []string{"", "trap '' PIPE; "} {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			r.Close()
			snens := b.snens(append([]string{"call", "--status-fd", "3"}, c.words...)...)
			cmd := exec.Command("sh", append([]string{"-c", trap + `exec "$@" 3>status`, "sh"}, snens.Args...)...)
			cmd.Env, cmd.Dir, cmd.Stderr = snens.Env, snens.Dir, w
			got := shellStatus(t, cmd.Run())
			w.Close()
			var line statusLine
			text, _ := os.ReadFile(filepath.Join(cmd.Dir, "status"))
			if err := json.Unmarshal(text, &line); err != nil || got != c.status || line.Status != c.status {
				t.Errorf("%s%q: exit status %d, want %d; the line is %q", trap, c.words, got, c.status, text)
			}
		}
	}
}
