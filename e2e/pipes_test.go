package e2e

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// bash runs a script in which "$@" is snens with the tools folder.
func (w *world) bash(script string) result {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	snens := w.command()
	cmd := exec.CommandContext(ctx, "bash", append([]string{"-c", script, "bash"}, snens.Args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = w.work, w.env, 5*time.Second
	return w.finish(cmd, nil)
}

// The reader of a pipe goes away: quiet, 141 or 0, and nothing is left of the tree.
func TestHeadEndsTheCall(t *testing.T) {
	modes(t, func(t *testing.T, w *world) {
		w.tool("flood", "yes & exec yes")
		w.tool("two", "echo y; echo z")
		for _, c := range []struct {
			script string
			status []int
			first  string
		}{
			{`"$@" call flood | head -1`, []int{141}, "y\n"},
			{`"$@" call two | head -1`, []int{0, 141}, "y\n"},
			{`"$@" call --json two | head -c 1`, []int{0, 141}, "{"},
			{`"$@" tools --json | head -c 1`, []int{0, 141}, "["},
		} {
			r := w.bash(c.script + `; echo "${PIPESTATUS[0]}"`)
			rest, ok := strings.CutPrefix(r.stdout, c.first)
			status, err := strconv.Atoi(strings.TrimSpace(rest))
			known := false
			for _, s := range c.status {
				known = known || s == status
			}
			if !ok || err != nil || !known || r.stderr != "" {
				t.Errorf("%s: stdout %q, stderr %q; want status %v", c.script, r.stdout, r.stderr, c.status)
			}
			w.nothingLeft()
		}
	})
}

// Closed standard streams: the tool still has three of its own, none of which
// is a file of snens, and the status is the tool's.
func TestClosedStreams(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tool("look", `for fd in 0 1 2; do readlink /proc/self/fd/$fd; done >seen; echo out; exit 3`)
	for _, closed := range []string{">&-", "<&-", "2>&-", "<&- >&- 2>&-"} {
		for _, how := range []string{"call look", "call --json look"} {
			r := w.bash(`"$@" ` + how + " " + closed)
			if r.status != 3 || r.stderr != "" {
				t.Errorf("%s %s: %d, stderr %q", how, closed, r.status, r.stderr)
			}
			seen, err := os.ReadFile(filepath.Join(w.work, "seen"))
			must(t, err)
			for _, at := range strings.Fields(string(seen)) {
				if at != "/dev/null" && !strings.HasPrefix(at, "pipe:") && at != filepath.Join(w.work, "seen") {
					t.Errorf("%s %s: the tool holds %s", how, closed, at)
				}
			}
		}
	}
}

// A megabyte on stdin arrives whole, whichever way it is given.
func TestAMegabyteOnStdin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.bin = built.plain // a megabyte of JSON is slow to read under the race detector
	letters := make([]byte, 1<<20)
	for i := range letters {
		letters[i] = 'a' + byte(rand.IntN(26))
	}
	whole := string(letters)
	w.tool("keep", "cat >kept; echo kept")
	w.tool("typed", "cat >kept; echo kept")
	w.file("tools/typed/schema.json", `{"type": "object", "properties": {"text": {"type": "string"}},
		"x-snens": {"argv": [], "stdin": {"mode": "field", "field": "text"}}}`, 0o644)
	w.file("args", `{"stdin": "`+whole+`"}`, 0o644)
	for _, args := range [][]string{
		{"call", "keep"},
		{"call", "typed", "text@=-"},
		{"call", "--json", "typed", "text@=-"},
		{"call", "keep", "--args", "@" + filepath.Join(w.root, "args")},
		{"call", "--json", "keep", "--args", "@" + filepath.Join(w.root, "args")},
	} {
		r := w.feed(bytes.NewReader(letters), args...)
		kept, err := os.ReadFile(filepath.Join(w.work, "kept"))
		must(t, err)
		must(t, os.Remove(filepath.Join(w.work, "kept")))
		if r.status != 0 || r.stderr != "" || string(kept) != whole {
			t.Errorf("%v: %d, %q, %d bytes arrived", args, r.status, r.stderr, len(kept))
		}
	}
}

// A tool that does not read is no fault, and its writer does not hang.
func TestStdinThatNobodyReads(t *testing.T) {
	modes(t, func(t *testing.T, w *world) {
		w.bin = built.plain // likewise
		w.tool("deaf", "echo done")
		w.tool("closes", "exec <&-; echo done")
		w.tool("early", "head -c 4 >/dev/null; exec <&-; echo done")
		w.file("args", `{"stdin": "`+strings.Repeat("0123456789", 1<<20)+`"}`, 0o644)
		for _, name := range []string{"deaf", "closes", "early"} {
			status, r := w.call(name, "--args", "@"+filepath.Join(w.root, "args"))
			if status != 0 || !r.OK || r.out() != "done\n" || r.Content != "done\n" {
				t.Errorf("%s: %d, %+v", name, status, r)
			}
		}
	})
}
