package e2e

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Two hundred calls at once, all of them in progress when one more starts and
// looks for leftovers: it ends nobody's call, and each gives its own output.
func TestTwoHundredCallsAndOneMoreStart(t *testing.T) {
	w := newWorld(t)
	w.bin = built.plain
	const many = 200
	gate := w.fifo("gate")
	w.tool("hold", `echo "$1" >"$1.began"; head -c 1 <`+gate+` >/dev/null; echo "$1 went on"`)
	w.tool("quick", "echo quick")
	type running struct {
		cmd       *exec.Cmd
		out, errs bytes.Buffer
	}
	var all []*running
	for i := range many {
		r := &running{cmd: w.command("call", "hold", fmt.Sprint(i))}
		r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.errs
		must(t, r.cmd.Start())
		all = append(all, r)
	}
	for i := range many {
		waitFile(t, filepath.Join(w.work, fmt.Sprint(i)+".began"))
	}
	for _, args := range [][]string{{"call", "quick"}, {"call", "--json", "quick"}, {"tools", "--refresh"}} {
		if r := w.run(args...); r.status != 0 || !strings.Contains(r.stdout, "quick") {
			t.Errorf("%v: %d, %q, %q", args, r.status, r.stdout, r.stderr)
		}
	}
	// Each takes one byte; the gate stays open until the last has gone through.
	keep := reader(t, gate)
	defer keep.Close()
	_, err := keep.WriteString(strings.Repeat("x", many))
	must(t, err)
	for i, r := range all {
		status, want := statusOf(t, r.cmd.Wait()), fmt.Sprintf("%d went on\n", i)
		if status != 0 || r.out.String() != want || r.errs.Len() > 0 {
			t.Errorf("call %d: %d, %q, %q", i, status, r.out.String(), r.errs.String())
		}
	}
	folders, err := filepath.Glob(filepath.Join(w.state, "snens", "calls", "[0-9A-Z]*"))
	must(t, err)
	if len(folders) > 0 {
		t.Errorf("call folders are left: %v", folders)
	}
}
