package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"snens/supervisor/call"
)

// marked is a typed tool that leaves a file behind when it is started.
func marked(b *bench) (mark string) {
	b.t.Helper()
	mark = filepath.Join(b.dir, "..", "started")
	b.tool("t1", "echo \"got: $2\"; : >'"+mark+"'\n")
	b.file("t1/schema.json", `{"type": "object", "properties": {"f": {"type": "string"}},
		"x-snens": {"argv": [{"end_of_options": "--"}, {"field": "f"}]}}`, 0o644)
	return mark
}

// The signal comes while a named pipe is read, and what it waits for right
// behind it: nothing is started.
func TestSignalsEndTheReadingOfInput(t *testing.T) {
	for sig, status := range map[syscall.Signal]int{unix.SIGINT: 130, unix.SIGTERM: 143, unix.SIGHUP: 129, unix.SIGQUIT: 131} {
		for _, words := range []string{"t1 f@=fifo", "t1 --args @fifo"} {
			t.Run(unix.SignalName(sig)+" "+words, func(t *testing.T) {
				b := newBench(t)
				mark := marked(b)
				cmd := b.snens(append([]string{"call", "--json"}, strings.Fields(words)...)...)
				var out bytes.Buffer
				cmd.Stdout = &out
				fifo := filepath.Join(cmd.Dir, "fifo")
				if err := unix.Mkfifo(fifo, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				w, err := os.OpenFile(fifo, os.O_WRONLY, 0) // returns when snens reads
				if err != nil {
					t.Fatal(err)
				}
				_ = cmd.Process.Signal(sig)
				_, _ = w.WriteString(`{"f": "hi"}`)
				w.Close()
				if got := shellStatus(t, cmd.Wait()); got != status {
					t.Errorf("exit status %d, want %d", got, status)
				}
				var r call.Record
				if err := json.Unmarshal(out.Bytes(), &r); err != nil || !r.Cancelled || r.Class != call.ClassCancelled || r.CallID == "" {
					t.Errorf("%v, the record: %s", err, out.String())
				}
				if exists(mark) {
					t.Error("the tool was started")
				}
			})
		}
	}
}

// Without a writer even the opening of a named pipe waits for ever, and so
// does a stdin that nobody writes to.
func TestASignalEndsAnEndlessReading(t *testing.T) {
	for _, words := range []string{"t1 f@=fifo", "t1 f@=-", "t1 --args -"} {
		t.Run(words, func(t *testing.T) {
			b := newBench(t)
			marked(b)
			cmd := b.snens(append([]string{"call"}, strings.Fields(words)...)...)
			if err := unix.Mkfifo(filepath.Join(cmd.Dir, "fifo"), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := cmd.StdinPipe(); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			// A handler of TSTP, which the runtime has not by itself, says that it watches.
			eventually(t, "snens watches the signals", func() bool { return catches(cmd.Process.Pid, unix.SIGTSTP) })
			_ = cmd.Process.Signal(unix.SIGTERM)
			if got := shellStatus(t, cmd.Wait()); got != 143 {
				t.Errorf("exit status %d, want 143", got)
			}
		})
	}
}
