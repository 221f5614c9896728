package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// where are the tools that show where snens keeps things.
func whereTools(w *world) {
	w.tool("quick", "echo quick")
	w.file("tools/asked/asked", "#!/bin/sh\necho asked — by --help.\n", 0o755)
	w.tool("flood", "head -c 1000000 /dev/zero | tr '\\0' x")
	w.file("tools/filed/filed", "#!/bin/sh\n# filed — shows a file.\n# filed FILE\ncat \"$1\"\n", 0o755)
	w.file("tools/filed/schema.json", `{"type": "object", "properties": {"text": {"type": "string"}},
		"x-snens": {"argv": [{"field": "text", "as": "file"}]}}`, 0o644)
}

// everythingWorks calls and lists as usual.
func everythingWorks(t *testing.T, w *world) {
	t.Helper()
	if r := w.run("call", "quick"); r.status != 0 || r.stdout != "quick\n" || r.stderr != "" {
		t.Errorf("call: %+v", r)
	}
	if r := w.run("tools", "--names"); r.status != 0 || r.stdout != "asked\nfiled\nflood\nquick\n" {
		t.Errorf("tools: %+v", r)
	}
	if r := w.run("call", "filed", "text=in a file"); r.status != 0 || r.stdout != "in a file" {
		t.Errorf("a value as a file: %+v", r)
	}
	status, r := w.call("flood")
	if status != 0 || r.Truncated == nil || r.Truncated.Stdout != 1000000 || r.Spill == nil {
		t.Fatalf("flood: %d, %+v", status, r)
	}
	w.nothingLeft()
}

// spillOf is the folder of the spill files of a call, which all the same has an
// owner and is closed to others.
func spillOf(t *testing.T, w *world) string {
	t.Helper()
	_, r := w.call("flood")
	if r.Spill == nil {
		t.Fatalf("no spill: %s", r.Content)
	}
	return filepath.Dir(filepath.Dir(r.Spill.Stdout))
}

func TestReadOnlyHome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	whereTools(w)
	w.unset("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
	runtime := filepath.Join(w.root, "runtime")
	must(t, os.Mkdir(runtime, 0o700))
	w.setenv("XDG_RUNTIME_DIR", runtime)
	w.inNamespace("mount --bind " + w.home + " " + w.home + "\nmount -o remount,bind,ro " + w.home)
	everythingWorks(t, w)
	if dir := spillOf(t, w); dir != filepath.Join(runtime, "snens", "spill") {
		t.Errorf("output is kept in %s", dir)
	}
	if entries, err := os.ReadDir(w.home); err != nil || len(entries) > 0 {
		t.Errorf("the home holds %v, %v", entries, err)
	}
	if r := w.run("doctor"); !strings.Contains(r.stdout, "read-only file system") {
		t.Errorf("the doctor does not say why:\n%s", r.stdout)
	}
}

// Without HOME state goes to the runtime folder, without that below /tmp; there
// is no cache, and nothing else changes.
func TestUnsetHome(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		runtime bool
		dir     string
	}{
		{"runtime folder", true, "runtime/snens/spill"},
		{"nothing", false, "/tmp/snens-0/spill"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorldIn(t, "/var/tmp")
			w.bin = w.copyOfSnens()
			whereTools(w)
			w.unset("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "TMPDIR")
			dir := c.dir
			if c.runtime {
				runtime := filepath.Join(w.root, "runtime")
				must(t, os.Mkdir(runtime, 0o700))
				w.setenv("XDG_RUNTIME_DIR", runtime)
				dir = filepath.Join(w.root, dir)
			}
			// A /tmp of its own for all of its commands, so that ours stays clean.
			must(t, os.Mkdir(filepath.Join(w.root, "tmp"), 0o700))
			must(t, os.Chmod(filepath.Join(w.root, "tmp"), 0o777|os.ModeSticky))
			w.inNamespace("mount --bind " + w.root + "/tmp /tmp")
			everythingWorks(t, w)
			if got := spillOf(t, w); got != dir {
				t.Errorf("output is kept in %s, want %s", got, dir)
			}
			if r := w.run("doctor"); r.status != 0 || !strings.Contains(r.stdout, "none: neither XDG_CACHE_HOME nor HOME is set") {
				t.Errorf("doctor: %d\n%s", r.status, r.stdout)
			}
			w.nothingLeftIn(filepath.Join(w.root, "work"))
		})
	}
}

// copyOfSnens puts the program below the world's folder.
func (w *world) copyOfSnens() string {
	w.t.Helper()
	program, err := os.ReadFile(w.bin)
	must(w.t, err)
	return w.file("bin/snens", string(program), 0o755)
}

// nothingLeftIn: no file was made in a folder.
func (w *world) nothingLeftIn(dir string) {
	w.t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		w.t.Errorf("%s holds %v, %v", dir, entries, err)
	}
}

// A full disk below the folder for state: the call goes on, what fits is kept,
// and the record says what is missing.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	whereTools(w)
	w.tool("large", "head -c 3000000 /dev/zero | tr '\\0' x; echo done >&2")
	must(t, os.MkdirAll(w.state, 0o700))

	// Room for a part of the output.
	w.inNamespace("mount -t tmpfs -o size=1m,mode=700 none " + w.state)
	status, r := w.call("large")
	if status != 0 || !r.OK || r.Truncated == nil || r.Truncated.Stdout != 3000000 || *r.Stderr != "done\n" {
		t.Fatalf("%d, ok %v, truncated %+v, content ends %q", status, r.OK, r.Truncated, r.Content[max(0, len(r.Content)-300):])
	}
	if r.Spill == nil || !r.Spill.StdoutCapped || !strings.Contains(r.Content, "then writing failed: ") || !strings.Contains(r.Content, "no space left on device") {
		t.Errorf("spill %+v, content ends %q", r.Spill, r.Content[len(r.Content)-300:])
	}

	// No room for anything: not even a call folder.
	w.inNamespace("mount -t tmpfs -o size=4k,nr_inodes=3,mode=700 none " + w.state + "\n" +
		"mkdir -m 700 " + w.state + "/snens; touch " + w.state + "/full")
	if r := w.run("call", "quick"); r.status != 0 || r.stdout != "quick\n" || r.stderr != "" {
		t.Errorf("a call without any room: %+v", r)
	}
	status, r = w.call("large")
	if status != 0 || !r.OK || r.Truncated == nil || r.Truncated.Stdout != 3000000 || r.Spill != nil {
		t.Errorf("%d, ok %v, truncated %+v", status, r.OK, r.Truncated)
	}
	w.nothingLeft()
}

// A cache that cannot be written costs time and nothing else.
func TestFullDiskBelowTheCache(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	whereTools(w)
	must(t, exec.Command("mkdir", "-p", filepath.Join(w.home, "cache")).Run())
	w.inNamespace("mount -t tmpfs -o size=4k,nr_inodes=1 none " + filepath.Join(w.home, "cache"))
	for range 2 {
		if r := w.run("tools", "--names"); r.status != 0 || r.stdout != "asked\nfiled\nflood\nquick\n" {
			t.Errorf("%+v", r)
		}
	}
}
