package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"snens/cmd/snens-tools/internal/cli"
	"snens/internal/testneed"
)

const toolsDir = "../../tools"

// shipped lists the tools that are shipped, sorted.
func shipped(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(toolsDir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		if e.IsDir() {
			all = append(all, e.Name())
		}
	}
	if len(all) == 0 {
		t.Fatal("no tool is shipped")
	}
	return all
}

// install puts a freshly built program and a copy of tools/ into a new folder,
// laid out as in the repository.
func install(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(root, "bin", "snens-tools"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("cannot build: %v\n%s", err, out)
	}
	if out, err := exec.Command("cp", "-a", toolsDir, filepath.Join(root, "tools")).CombinedOutput(); err != nil {
		t.Fatalf("cannot copy tools/: %v\n%s", err, out)
	}
	return root
}

func selftest(root, name string) ([]byte, error) {
	cmd := exec.Command(filepath.Join(root, "tools", name, "selftest.sh"))
	cmd.Dir = root
	return cmd.CombinedOutput()
}

func TestSelftestsPass(t *testing.T) {
	root := install(t)
	for _, name := range shipped(t) {
		if out, err := selftest(root, name); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	left, err := os.ReadDir(root)
	if err != nil || len(left) != 2 {
		t.Errorf("the self-tests left %v behind, %v", left, err)
	}
}

// A self-test that passes on any program is none.
func TestSelftestsFailOnTheWrongProgram(t *testing.T) {
	root := install(t)
	for _, name := range shipped(t) {
		path := filepath.Join(root, "tools", name, name)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(testneed.Program(t, "true", "coreutils"), path); err != nil {
			t.Fatal(err)
		}
		if out, err := selftest(root, name); err == nil || !bytes.Contains(out, []byte("selftest of "+name+": ")) {
			t.Errorf("%s passes on /bin/true: %v\n%s", name, err, out)
		}
	}
}

// The first lines of the shell tool come from its comments as well as from --help.
func TestWcLinesDescribesItself(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(toolsDir, "wc-lines", "wc-lines"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	out, err := exec.Command(filepath.Join(toolsDir, "wc-lines", "wc-lines"), "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	if "# "+cli.Essence(string(out)) != lines[1] || "# "+cli.UsageLine(string(out)) != lines[2] || !strings.HasPrefix(lines[1], "# wc-lines — ") {
		t.Errorf("comments %q, help %q", lines[1:3], out)
	}
}

func TestShellIsClean(t *testing.T) {
	shellcheck := testneed.Program(t, "shellcheck")
	files, err := filepath.Glob(filepath.Join(toolsDir, "*", "*.sh"))
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, filepath.Join(toolsDir, "wc-lines", "wc-lines"))
	if out, err := exec.Command(shellcheck, files...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// schema is what these tests need of a schema.json.
type schema struct {
	Properties map[string]struct {
		Description string `json:"description"`
	} `json:"properties"`
	XSnens struct {
		Examples []struct {
			In   map[string]any `json:"in"`
			Argv []string       `json:"argv"`
		} `json:"examples"`
		Hints map[string]bool   `json:"hints"`
		Exit  map[string]string `json:"exit"`
	} `json:"x-snens"`
}

func readSchema(t *testing.T, name string) schema {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(toolsDir, name, "schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s schema
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return s
}

// Every field is described and stands in an example, and the hints are complete.
func TestSchemasAreComplete(t *testing.T) {
	for _, name := range shipped(t) {
		s := readSchema(t, name)
		used := map[string]bool{}
		for _, e := range s.XSnens.Examples {
			for field := range e.In {
				used[field] = true
			}
		}
		for field, p := range s.Properties {
			if p.Description == "" || !used[field] {
				t.Errorf("%s: field %s: description %q, in an example: %v", name, field, p.Description, used[field])
			}
		}
		for _, hint := range []string{"read_only", "destructive", "idempotent", "network"} {
			if _, ok := s.XSnens.Hints[hint]; !ok {
				t.Errorf("%s: no hint %s", name, hint)
			}
		}
		if s.XSnens.Exit["2"] != "usage" || s.XSnens.Exit["0"] != "ok" {
			t.Errorf("%s: exit is %v", name, s.XSnens.Exit)
		}
	}
}

// The arguments of the examples are understood by the tools' own option readers.
func TestExamplesAreUnderstood(t *testing.T) {
	parsers := map[string]func([]string) error{
		"read":    func(a []string) error { _, _, err := parseRead(a); return err },
		"write":   func(a []string) error { _, err := parseWrite(a); return err },
		"edit":    func(a []string) error { _, _, err := parseEdit(a); return err },
		"grep":    func(a []string) error { _, err := parseGrep(a); return err },
		"sysinfo": func(a []string) error { _, err := parseSysinfo(a); return err },
		"logs":    func(a []string) error { _, err := parseLogs(a); return err },
		"package": func(a []string) error { _, err := parsePackage(a); return err },
		"priv":    func(a []string) error { _, err := parsePriv(a); return err },
		"service": func(a []string) error { _, err := parseService(a); return err },
	}
	for _, name := range names() {
		if !slices.Contains(shipped(t), name) || parsers[name] == nil {
			t.Errorf("%s is not shipped, or not tested here", name)
			continue
		}
		for _, e := range readSchema(t, name).XSnens.Examples {
			if err := parsers[name](e.Argv); err != nil {
				t.Errorf("%s %q: %v", name, e.Argv, err)
			}
		}
	}
}

// The links lead to the built program relative to themselves.
func TestLinks(t *testing.T) {
	for _, name := range names() {
		if to, err := os.Readlink(filepath.Join(toolsDir, name, name)); err != nil || to != "../../bin/snens-tools" {
			t.Errorf("%s leads to %q, %v", name, to, err)
		}
	}
}

// A reader that has seen enough ends the tool without a word.
func TestAClosedPipeEndsQuietly(t *testing.T) {
	root := install(t)
	file := filepath.Join(root, "big")
	if err := os.WriteFile(file, []byte(strings.Repeat("x y z\n", 100_000)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"tools/read/read --limit 20000 big", "tools/grep/grep --limit 10000 x big",
	} {
		cmd := exec.Command("sh", "-c", command+" | head -n 1")
		cmd.Dir = root
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil || stderr.Len() > 0 || bytes.Count(out, []byte("\n")) != 1 {
			t.Errorf("%s: %v, stdout %q, stderr %q", command, err, out, stderr.String())
		}
	}
}
