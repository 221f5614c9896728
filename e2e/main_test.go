package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// built is where the programs under test lie.
var built struct {
	dir    string
	snens  string // with the race detector when the tests have it
	plain  string // as it is shipped: for memory and for hundreds at once
	traces string // folder of the race detector's reports
}

// buildBroker builds snens-priv for the first test that needs it.
var buildBroker sync.Once

// roleName is the variable that makes the test binary a helper of a test.
const roleName = "SNENS_E2E_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleName) {
	case "cannot-fork":
		execWithoutFork(os.Args[1:])
	case "listen":
		os.Exit(listenTo(os.Args[1]))
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "snens-e2e-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	// Other users run these programs too, and write reports.
	_ = os.Chmod(dir, 0o755)
	built.dir, built.traces = dir, filepath.Join(dir, "traces")
	built.plain = filepath.Join(dir, "plain", "snens")
	built.snens = built.plain
	if err = os.Mkdir(built.traces, 0o700); err == nil {
		err = os.Chmod(built.traces, 0o777|os.ModeSticky)
	}
	if err == nil {
		err = build(built.plain, "CGO_ENABLED=0")
	}
	if err == nil && raceEnabled {
		built.snens = filepath.Join(dir, "race", "snens")
		err = build(built.snens, "CGO_ENABLED=1", "-race")
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "cannot build the program to test: %v\n", err)
		return 1
	}
	code := m.Run()
	if reports, _ := filepath.Glob(filepath.Join(built.traces, "*")); len(reports) > 0 {
		for _, report := range reports {
			text, _ := os.ReadFile(report)
			fmt.Printf("--- FAIL: a data race in snens\n%s\n", text)
		}
		code = 1
	}
	return code
}

// raceOptions let snens write what the race detector finds where TestMain looks
// for it, and end without the second that it otherwise waits.
func raceOptions() string {
	return "atexit_sleep_ms=0 log_path=" + filepath.Join(built.traces, "race")
}

func build(to, cgo string, flags ...string) error {
	cmd := exec.Command("go", append(append([]string{"build", "-o", to}, flags...), "snens/cmd/snens")...)
	cmd.Env = append(os.Environ(), cgo)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}
