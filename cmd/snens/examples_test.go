package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"snens/approval/prompt"
	"snens/internal/manual"
	"snens/internal/testneed"
)

// Every example in the help works as it stands, with the shipped tools and the
// link that the help speaks of.
func TestExamplesInTheHelp(t *testing.T) {
	testneed.Program(t, "jq")
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	if err := os.CopyFS(filepath.Join(work, "tools"), os.DirFS(filepath.Join(top, "tools"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(work, "tools", "uname"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/bin/uname", filepath.Join(work, "tools", "uname", "uname")); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", filepath.Join(work, "bin", "snens-tools"), "snens/cmd/snens-tools")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("cannot build the shipped tools: %v\n%s", err, out)
	}
	readme, err := os.ReadFile(filepath.Join(top, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	p := waits(t, 1, nil)
	asks := (&desk{pending: []prompt.Pending{p}}).serve(t)
	b.env = append(b.env, "SNENS_PRIV="+obliging(t), "SNENS_APPROVAL_SOCK="+asks, "SNENS_CONFIG="+userConfig(t))
	ours := strings.NewReplacer("aaaqeayeaudaocajbifqydiob4", p.ID.String(), "fe54a05b434e", p.Request.Digest().Short())
	b.dir = work
	b.file("README.md", string(readme), 0o644)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, c := range manual.Commands((&app{}).root("")) {
		for line := range strings.Lines(c.Long + "\n" + c.Example) {
			if !strings.HasPrefix(line, "  ") || !strings.Contains(line, " snens ") || strings.Contains(line, "completion") {
				continue
			}
			cmd := exec.Command("bash", "-euo", "pipefail", "-c", `snens() { command "$0" --tools-dir tools "$@"; }`+"\n"+ours.Replace(line), exe)
			cmd.Dir, cmd.Env = work, b.env
			var errs strings.Builder
			cmd.Stderr = &errs
			if out, err := cmd.Output(); err != nil || len(out) == 0 || errs.Len() > 0 {
				t.Errorf("%s%v, stdout %q, stderr %q", line, err, out, errs.String())
			}
			tried++
		}
	}
	if tried < 9 {
		t.Errorf("only %d examples were found", tried)
	}
}

// Even its own name may be missing from the arguments (the kernel puts an
// empty one there since Linux 5.18).
func TestNoArgumentsAtAll(t *testing.T) {
	b := newBench(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := newRunner(t)
	p, err := os.StartProcess(exe, nil, &os.ProcAttr{Env: b.env, Files: []*os.File{r.stdin, r.stdout, r.stderr}})
	if err != nil {
		t.Fatal(err)
	}
	state, err := p.Wait()
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr := r.drain(r.stdout), r.drain(r.stderr)
	if state.ExitCode() != 2 || stdout != "" || !strings.HasPrefix(stderr, "snens: cannot tell what to do: ") {
		t.Errorf("got %v, %q, %q", state, stdout, stderr)
	}
}
