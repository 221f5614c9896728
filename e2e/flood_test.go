package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var highWater = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peak is the most memory that a live process has held, in KiB.
func peak(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	must(t, err)
	found := highWater.FindSubmatch(status)
	if found == nil {
		t.Fatalf("no VmHWM in:\n%s", status)
	}
	return number(t, string(found[1]))
}

// 2 GiB of output: bounded memory, a capped file, the true count.
func TestFloodOf2GiB(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.bin = built.plain // the race detector multiplies memory
	w.config("spill_max = \"8MiB\"\n")
	end := w.fifo("end")
	w.tool("flood", "head -c 2147483648 /dev/zero; echo err >&2; read -r line <"+end+`; echo "$line"`)
	cmd := w.command("call", "--json", "flood")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	must(t, cmd.Start())
	last := reader(t, end) // the flood is through
	if kib := peak(t, cmd.Process.Pid); kib >= 64<<10 {
		t.Errorf("snens held %d KiB, want less than 64 MiB", kib)
	}
	_, err := last.WriteString("end\n")
	must(t, err)
	must(t, last.Close())
	if status := statusOf(t, cmd.Wait()); status != 0 {
		t.Errorf("exit status %d", status)
	}
	r := readRecord(t, out.String())
	if !r.OK || r.Truncated == nil || r.Truncated.Stdout != 1<<31+4 || r.Truncated.Stderr != 0 {
		t.Fatalf("ok %v, truncated %+v", r.OK, r.Truncated)
	}
	if !strings.HasSuffix(r.out(), "end\n") || len(r.out()) > 4*2*64<<10 {
		t.Errorf("stdout has %d bytes and ends in %q", len(r.out()), r.out()[max(0, len(r.out())-20):])
	}
	st, err := os.Stat(r.Spill.Stdout)
	must(t, err)
	if st.Size() != 8<<20 || !r.Spill.StdoutCapped || st.Mode().Perm() != 0o600 {
		t.Errorf("the spill file has %d bytes, mode %v; %+v", st.Size(), st.Mode(), r.Spill)
	}
	if want := fmt.Sprintf("[stdout: %d bytes in all, the middle is left out; the first %d are in %s]", 1<<31+4, 8<<20, r.Spill.Stdout); !strings.Contains(r.Content, want) {
		t.Errorf("the content lacks %q", want)
	}
	if !strings.HasPrefix(r.Spill.Stdout, filepath.Join(w.state, "snens", "spill")+"/") {
		t.Errorf("the spill file is %s", r.Spill.Stdout)
	}
}
