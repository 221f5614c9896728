package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"snens/internal/testneed"
)

// TestScripts runs testdata/script. In a script snens is the built program,
// its tools folder is tools/ of the script, in which tools/NAME/NAME is executable,
// its configuration names that folder, and the commands are testscript's and:
//
//	idle	no process that the script started is left
func TestScripts(t *testing.T) {
	testneed.Program(t, "jq")
	testscript.Run(t, testscript.Params{
		Dir:      "testdata/script",
		Deadline: time.Now().Add(deadline),
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			for _, v := range [][2]string{
				{"HOME", home},
				{"XDG_CONFIG_HOME", filepath.Join(home, "config")},
				{"XDG_CACHE_HOME", filepath.Join(home, "cache")},
				{"XDG_STATE_HOME", filepath.Join(home, "state")},
				{"LANG", "C.UTF-8"},
				{"GORACE", raceOptions()},
				{"PATH", filepath.Dir(built.snens) + ":/usr/bin:/bin:/usr/sbin:/sbin"},
			} {
				env.Setenv(v[0], v[1])
			}
			config := filepath.Join(home, "config", "snens", "snens.toml")
			if err := os.MkdirAll(filepath.Dir(config), 0o755); err != nil {
				return err
			}
			programs, err := filepath.Glob(filepath.Join(env.WorkDir, "*", "*", "*"))
			if err != nil {
				return err
			}
			for _, path := range programs { // an archive has no modes
				if filepath.Base(path) == filepath.Base(filepath.Dir(path)) {
					if err := os.Chmod(path, 0o755); err != nil {
						return err
					}
				}
			}
			tools := "tools_dir = [\"" + filepath.Join(env.WorkDir, "tools") + "\"]\n"
			return os.WriteFile(config, []byte(tools), 0o644)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"idle": idle},
	})
}

// idle fails a script of which something still runs.
func idle(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: idle")
	}
	w := &world{t: failer{ts: ts}, root: ts.Getenv("WORK"), state: ts.Getenv("XDG_STATE_HOME")}
	w.nothingLeft()
}

// failer lets a script fail the way a test does.
type failer struct {
	testing.TB
	ts *testscript.TestScript
}

func (f failer) Helper()                        {}
func (f failer) Errorf(format string, a ...any) { f.ts.Fatalf(format, a...) }
func (f failer) Fatal(a ...any)                 { f.ts.Fatalf("%v", a) }
