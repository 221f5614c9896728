package supervisor_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snens/internal/confine"
	"snens/internal/testneed"
	"snens/supervisor"
)

// probed makes a tool that is described by its --help alone.
func (w *world) probed(name, script string) {
	w.t.Helper()
	w.write(filepath.Join(w.home, "tools", name, name), "#!/bin/sh\n"+script+"\n", 0o755)
}

// A program that takes --help for data cannot do harm: it may write in its own
// empty folder alone, and reaches no socket.
func TestProbeIsHarmless(t *testing.T) {
	testneed.Kernel(t, confine.Supported().OK(), "Landlock and seccomp")
	w := newWorld(t)
	out := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(out, "sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	reached := make(chan bool, 1)
	go func() {
		c, err := listener.Accept()
		if err == nil {
			c.Close()
		}
		reached <- err == nil
	}()
	w.probed("touchy", `echo "essence $(pwd) $HOME $TMPDIR $(ls -A | wc -l)"
echo "usage $(: >here && echo wrote)"
echo x >"`+out+`/file" ; mkdir "`+out+`/dir"; chmod 777 "`+out+`"; rm "`+w.home+`/precious"
python3 -c 'import socket,sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "`+out+`/sock"
true`)
	w.write(filepath.Join(w.home, "precious"), "kept", 0o644)
	h, err := w.supervisor().Tool(context.Background(), "touchy")
	if err != nil {
		t.Fatal(err)
	}
	f := strings.Fields(h.Essence)
	if len(f) != 5 || f[1] != f[2] || f[1] != f[3] || f[4] != "0" || exists(f[1]) {
		t.Errorf("essence %q: cwd, HOME and TMPDIR must be one empty folder that is gone now", h.Essence)
	}
	if h.Usage != "usage wrote" {
		t.Errorf("the probe's own folder cannot be written: %q", h.Usage)
	}
	left, _ := os.ReadDir(out)
	if len(left) != 1 || !exists(filepath.Join(w.home, "precious")) {
		t.Errorf("the probe left %v", left)
	}
	if st, err := os.Stat(out); err != nil || st.Mode().Perm() == 0o777 {
		t.Errorf("the probe changed a mode: %v %v", st.Mode(), err)
	}
	listener.Close()
	if <-reached {
		t.Error("the probe reached a socket")
	}
}

// What the prober says of each end is what discovery makes a cause of.
func TestProbeEnds(t *testing.T) {
	w := newWorld(t)
	w.probed("fine", "echo does things; echo 'fine [x]'; exit 1")
	w.probed("silent", "exit 3")
	w.probed("dies", "kill -SEGV $$")
	w.probed("leaves", "sleep 1000 & echo leaves a child; echo usage")
	s := w.supervisor()
	for name, want := range map[string]string{
		"fine": "", "leaves": "", "silent": "3", "dies": "SIGSEGV",
	} {
		_, err := s.Tool(context.Background(), name)
		var q *supervisor.QuarantinedError
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case want != "" && (!errors.As(err, &q) || !strings.Contains(q.Cause, want)):
			t.Errorf("%s: %v, want a cause with %q", name, err, want)
		}
	}
	var missing *supervisor.NotFoundError
	if _, err := s.Tool(context.Background(), "fin"); !errors.As(err, &missing) || len(missing.Near) == 0 || missing.Near[0] != "fine" {
		t.Errorf("a missing tool: %v", err)
	}
}

func TestPathFolderOfACall(t *testing.T) {
	w := newWorld(t)
	w.tool("mine", `echo "first=${PATH%%:*}"; "${PATH%%:*}/other"; command -v snens; command -v ls`)
	w.tool("other", "echo other was here")
	w.tool("ls", "echo not the system's")
	r := w.call("mine", `{}`)
	dir := line(r, "first")
	if !strings.HasPrefix(dir, w.home) {
		t.Fatalf("PATH begins with %q", dir)
	}
	if want := "first=" + dir + "\nother was here\n" + dir + "/snens\n/usr/bin/ls\n"; *r.Stdout != want {
		t.Errorf("%q, want %q", *r.Stdout, want)
	}
}

// Another snens with other tools folders does not change what a running call
// finds, and what a call started does not find its caller's tools.
func TestEachSetOfToolsHasItsPathFolder(t *testing.T) {
	w := newWorld(t)
	w.tool("mine", `echo "path=$PATH"; echo "dirs=$SNENS_TOOLS_DIR"; command -v other; command -v theirs`)
	w.tool("other", ":")
	r := w.call("mine", `{}`)
	mine := line(r, "path")
	dir, _, _ := strings.Cut(mine, ":")
	if line(r, "dirs") != "" || !strings.HasSuffix(*r.Stdout, dir+"/other\n") {
		t.Fatalf("%q", r.Content)
	}
	inner := newWorld(t)
	inner.home, inner.env = w.home, []string{"HOME=" + w.home, "PATH=" + mine} // the same state
	inner.toolsDir, inner.opt.ToolsDirGiven = filepath.Join(w.home, "tools2"), true
	inner.tool("theirs", `echo "path=$PATH"; echo "dirs=$SNENS_TOOLS_DIR"; command -v other; command -v theirs`)
	r = inner.call("theirs", `{}`)
	theirs, rest, _ := strings.Cut(line(r, "path"), ":")
	if theirs == dir || !exists(filepath.Join(dir, "other")) || strings.Contains(rest, w.home) {
		t.Errorf("theirs %q, mine %q, rest of PATH %q", theirs, dir, rest)
	}
	if line(r, "dirs") != inner.toolsDir || !strings.HasSuffix(*r.Stdout, theirs+"/theirs\n") || strings.Contains(*r.Stdout, "/other\n") {
		t.Errorf("%q", r.Content)
	}
}

// PATH folders do not pile up: the old ones go when a new one is made.
func TestOldPathFoldersGo(t *testing.T) {
	w := newWorld(t)
	w.tool("mine", `echo "first=${PATH%%:*}"`)
	all := filepath.Join(w.home, ".local", "state", "snens", "path")
	for i := range 60 {
		dir := filepath.Join(all, fmt.Sprintf("%016x", i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		age := time.Duration(i) * time.Hour
		if i == 59 {
			age = 8 * 24 * time.Hour
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(dir, then, then); err != nil {
			t.Fatal(err)
		}
	}
	for d := all; d != w.home; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r := w.call("mine", `{}`)
	left, err := os.ReadDir(all)
	if err != nil || len(left) != 32 || !exists(line(r, "first")) {
		t.Errorf("%d folders are left, want 32; %v; %q", len(left), err, r.Content)
	}
	for i := range 31 { // the newest, and the call's own
		if !exists(filepath.Join(all, fmt.Sprintf("%016x", i))) {
			t.Errorf("folder %d is gone", i)
		}
	}
}

func TestDoctor(t *testing.T) {
	w := newWorld(t)
	for _, f := range w.supervisor().Doctor(context.Background()) {
		if f.Name == "" || f.Text == "" || f.Required {
			t.Errorf("%+v", f)
		}
	}
}

// A probe's folder may have served others before it: it is empty all the same,
// and in the end none is left.
func TestProbesFindAnEmptyFolder(t *testing.T) {
	w := newWorld(t)
	calls := filepath.Join(w.home, ".local", "state", "snens", "calls")
	const tools = 24
	for i := range tools {
		litter := []string{"", "echo x >file", "mkdir -p .deep/er", "ln -s / link"}[i%4]
		w.probed(fmt.Sprintf("tool-%d", i), `echo "finds $(ls -A | wc -l) in $PWD"; `+litter)
	}
	list, err := w.supervisor().Tools(context.Background(), false)
	if err != nil || len(list.Tools) != tools {
		t.Fatalf("%d tools, quarantined %v, %v", len(list.Tools), list.Quarantined, err)
	}
	folders := map[string]bool{}
	for _, tool := range list.Tools {
		f := strings.Fields(tool.Essence)
		if len(f) != 4 || f[1] != "0" || filepath.Dir(filepath.Dir(f[3])) != calls {
			t.Errorf("%s: %q", tool.Name, tool.Essence)
			continue
		}
		folders[f[3]] = true
	}
	if len(folders) == tools {
		t.Error("every probe had a folder of its own: nothing is used twice")
	}
	for dir := range folders {
		if exists(dir) {
			t.Errorf("%s is left", dir)
		}
	}
}
