package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// zoo copies the tools of testdata/zoo whose name passes into the world: root
// runs only what no other user can change, whoever owns the checkout.
func (w *world) zoo(pass func(name string) bool) {
	w.t.Helper()
	all, err := filepath.Glob("testdata/zoo/*")
	must(w.t, err)
	for _, dir := range all {
		name := filepath.Base(dir)
		if !pass(name) {
			continue
		}
		program, err := os.ReadFile(filepath.Join(dir, name))
		must(w.t, err)
		w.file(filepath.Join("tools", name, name), string(program), 0o755)
	}
}

func isHelp(name string) bool { return strings.HasPrefix(name, "help-") }

func isCalled(name string) bool { return !isHelp(name) }

const zooConfig = `grace = "50ms"
[tool.glutton]
limits = {memory = "100MiB"}
[tool.storm]
limits = {pids = 20}
`

// visits are calls of the zoo that end by themselves.
var visits = []struct {
	call   string
	status int
	check  func(t *testing.T, w *world, r record)
}{
	{"holder 0", 0, holder},
	{"holder 7", 7, holder},
	{"daemon", 0, func(t *testing.T, w *world, r record) {
		pid := number(t, waitFile(t, filepath.Join(w.work, "pid")))
		if r.Content != "started\n" || r.OutputOpen || len(r.Survivors) != 1 || r.Survivors[0].PID != pid || r.Survivors[0].Name != "sleep" {
			t.Errorf("%+v", r)
		}
		if alive(pid) {
			t.Error("the daemon lives on")
		}
	}},
	{"both", 0, func(t *testing.T, _ *world, r record) {
		if r.Truncated == nil || r.Truncated.Stdout != 8000000 || r.Truncated.Stderr != 8000000 || r.Spill == nil {
			t.Fatalf("truncated %+v, spill %+v", r.Truncated, r.Spill)
		}
		for path, letter := range map[string]string{r.Spill.Stdout: "o", r.Spill.Stderr: "e"} {
			kept, err := os.ReadFile(path)
			if err != nil || string(kept) != strings.Repeat(letter, 8000000) {
				t.Errorf("%s holds %d bytes that are not the stream: %v", path, len(kept), err)
			}
		}
		half := strings.Repeat("o", 64<<10)
		if want := half + "\n[... 7868928 bytes left out ...]\n" + half; r.out() != want {
			t.Errorf("stdout has %d bytes, want %d", len(r.out()), len(want))
		}
	}},
	{"noise", 0, func(t *testing.T, w *world, r record) {
		want, err := os.ReadFile(filepath.Join(w.work, "copy"))
		must(t, err)
		got, err := os.ReadFile(r.Spill.Stdout)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("the spill file has %d bytes that are not the stream: %v", len(got), err)
		}
		if !utf8.ValidString(r.Content) || strings.ContainsRune(r.out(), 0) {
			t.Error("the text is not valid, or holds NUL")
		}
	}},
	{"runes 500000", 0, func(t *testing.T, _ *world, r record) {
		head, tail, _ := strings.Cut(r.out(), "\n[... ")
		_, tail, _ = strings.Cut(tail, " ...]\n")
		if head != "x"+strings.Repeat("я", 32767) || strings.Trim(tail, "я") != "" || len(tail) < 65534 {
			t.Errorf("head %d bytes, tail %d bytes, begins %q", len(head), len(tail), tail[:min(8, len(tail))])
		}
	}},
	{"signalled SEGV", 139, func(t *testing.T, _ *world, r record) {
		if r.Class != "signal" || r.Signal == nil || *r.Signal != "SIGSEGV" || r.ExitCode != nil || r.Content != "before\nkilled by SIGSEGV" {
			t.Errorf("%+v", r)
		}
	}},
	{"signalled TERM", 143, func(t *testing.T, _ *world, r record) {
		if r.Class != "signal" || r.Cancelled || r.TimedOut || r.Content != "before\nkilled by SIGTERM" {
			t.Errorf("%+v", r)
		}
	}},
	{"homeless", 0, func(t *testing.T, w *world, r record) {
		if r.Content != "done\n" {
			t.Errorf("%+v", r)
		}
		must(t, os.MkdirAll(w.work, 0o755))
	}},
	{"suicidal", 0, func(t *testing.T, w *world, r record) {
		if r.Content != "done\n" {
			t.Errorf("%+v", r)
		}
		status, again := w.call("suicidal")
		if status != 126 || !strings.Contains(again.Content, "no executable of that name in its folder") {
			t.Errorf("called again: %d, %+v", status, again)
		}
	}},
	{"rewriter", 0, func(t *testing.T, w *world, r record) {
		if r.Content != "done\n" {
			t.Errorf("%+v", r)
		}
		status, again := w.call("rewriter")
		if status != 126 || !strings.Contains(again.Content, "missing interpreter /absent") {
			t.Errorf("called again: %d, %+v", status, again)
		}
	}},
}

func holder(t *testing.T, _ *world, r record) {
	t.Helper()
	want := "hi\n"
	if *r.ExitCode != 0 {
		want = "hi\nexit 7"
	}
	if r.Content != want || !r.OutputOpen || r.TimedOut || len(r.Survivors) != 1 || r.Survivors[0].Name != "sleep" || alive(r.Survivors[0].PID) {
		t.Errorf("%+v", r)
	}
}

// Every beast is called under both ways of supervision, captured; nothing of
// it is left when snens ends.
func TestZoo(t *testing.T) {
	modes(t, func(t *testing.T, w *world) {
		w.zoo(isCalled)
		w.config(zooConfig)
		for _, v := range visits {
			status, r := w.call(strings.Fields(v.call)...)
			w.nothingLeft()
			if status != v.status || r.OK != (status == 0) || !r.Capture {
				t.Errorf("%s: exit status %d, want %d; %+v", v.call, status, v.status, r)
				continue
			}
			t.Log(v.call)
			v.check(t, w, r)
		}
	})
}

// What does not end is stopped: TERM, the grace, KILL for all of the tree.
func TestZooIsStopped(t *testing.T) {
	modes(t, func(t *testing.T, w *world) {
		w.zoo(isCalled)
		w.config(zooConfig)
		for name, began := range map[string]string{"scattered": "ready", "growing": "began"} {
			for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGHUP} {
				cmd := w.command("call", "--json", name)
				var out bytes.Buffer
				cmd.Stdout = &out
				must(t, cmd.Start())
				waitFile(t, filepath.Join(w.work, began))
				must(t, cmd.Process.Signal(sig))
				status := statusOf(t, cmd.Wait())
				w.nothingLeft()
				r := readRecord(t, out.String())
				if status != 128+int(sig) || !r.Cancelled || r.Class != "cancelled" || !strings.HasSuffix(r.Content, "cancelled") {
					t.Errorf("%s: %d, %+v", name, status, r)
				}
				must(t, os.RemoveAll(w.work))
				must(t, os.Mkdir(w.work, 0o755))
			}
		}
		status, r := w.call("--timeout", "300ms", "scattered")
		w.nothingLeft()
		if status != 124 || !r.TimedOut || r.Class != "timeout" || !strings.HasSuffix(r.Content, "timed out after 0.3 s") {
			t.Errorf("timed out: %d, %+v", status, r)
		}
	})
}
