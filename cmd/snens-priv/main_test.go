package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// program is the built program, which other users can run too.
var program string

// roleName is the variable that makes the test binary a client.
const roleName = "SNENS_PRIV_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleName); role != "" {
		os.Exit(play(role, os.Args[1:]))
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "snens-priv-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	_ = os.Chmod(dir, 0o755)
	program = filepath.Join(dir, "snens-priv")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -X main.version=1.2.3", "-o", program, "snens/cmd/snens-priv")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "cannot build the program to test: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// folder is a fresh folder that everybody can pass through.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "snens-priv-test-")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	return dir
}

func write(t testing.TB, path, text string) string {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// do runs the program within this process.
func do(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(append([]string{"snens-priv"}, args...), strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}
