package supervisor_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"snens/supervisor"
	"snens/supervisor/call"
	"snens/supervisor/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a home with a tools folder of its own.
type world struct {
	t    *testing.T
	home string
	env  []string
	conf string // content of snens.toml beside tools_dir
	opt  supervisor.Options
	log  bytes.Buffer // what -v would show

	toolsDir string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	home := t.TempDir()
	return &world{
		t: t, home: home, toolsDir: filepath.Join(home, "tools"),
		env: []string{"HOME=" + home, "PATH=/usr/bin:/bin", "SECRET_OF_THE_SERVICE=hunter2"},
	}
}

// tool makes a shell tool that describes itself, with further files beside it
// given as name and content.
func (w *world) tool(name, script string, files ...string) {
	w.t.Helper()
	dir := filepath.Join(w.toolsDir, name)
	w.write(filepath.Join(dir, name), "#!/bin/sh\n# "+name+" — made for a test.\n# "+name+" [WORD...]\n"+script+"\n", 0o755)
	for i := 0; i < len(files); i += 2 {
		w.write(filepath.Join(dir, files[i]), files[i+1], 0o644)
	}
}

func (w *world) write(path, content string, mode os.FileMode) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) supervisor() *supervisor.Supervisor {
	w.t.Helper()
	file := filepath.Join(w.home, "snens.toml")
	w.write(file, "tools_dir = [\""+w.toolsDir+"\"]\n"+w.conf, 0o644)
	cfg, err := config.Load(file, w.env)
	if err != nil {
		w.t.Fatal(err)
	}
	o := w.opt
	o.Config, o.Version, o.Env, o.Exe = cfg, "test", w.env, "/proc/self/exe"
	o.Log = hclog.New(&hclog.LoggerOptions{Level: hclog.Debug, Output: &w.log})
	s, err := supervisor.New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// call calls a tool with JSON arguments, its output captured.
func (w *world) call(name, args string, more ...func(*supervisor.Request)) *call.Record {
	w.t.Helper()
	s := w.supervisor()
	h, err := s.Tool(context.Background(), name)
	if err != nil {
		w.t.Fatal(err)
	}
	req := supervisor.Request{Handle: h, Args: []byte(args)}
	for _, f := range more {
		f(&req)
	}
	return s.Start(context.Background(), req).Wait()
}

// line is the value a tool printed as NAME=VALUE.
func line(r *call.Record, name string) string {
	if r.Stdout == nil {
		return ""
	}
	for l := range strings.Lines(*r.Stdout) {
		if v, ok := strings.CutPrefix(l, name+"="); ok {
			return strings.TrimSuffix(v, "\n")
		}
	}
	return ""
}

func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(30 * time.Second)
	for !cond() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited 30 s for: %s", what)
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
