package pathdir_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"snens/supervisor/pathdir"
	"snens/supervisor/tool"
)

// asChild holds the options of a test that runs this program again.
const asChild = "PATHDIR_TEST_OPTIONS"

func TestMain(m *testing.M) {
	if text := os.Getenv(asChild); text != "" {
		os.Exit(child(text))
	}
	os.Exit(m.Run())
}

// child builds two different folders in turn.
func child(text string) int {
	var o pathdir.Options
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for i := range 6 {
		if _, _, err := pathdir.Ensure(o, pathdir.Take(o), variant(i)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if _, err := os.Readlink(o.Dir() + "/snens"); err != nil {
			fmt.Fprintln(os.Stderr, "the folder that was just ensured lacks snens:", err)
			return 1
		}
	}
	return 0
}

func variant(i int) []tool.Ref {
	if i%2 == 0 {
		return []tool.Ref{ref("a"), ref("b")}
	}
	return []tool.Ref{ref("c")}
}

func TestManyAtOnce(t *testing.T) {
	w := newWorld(t)
	var work sync.WaitGroup
	for range 50 {
		work.Go(func() {
			dir, _, err := pathdir.Ensure(w.opts, pathdir.Take(w.opts), variant(0))
			if err != nil || dir != w.opts.Dir() {
				t.Errorf("%q, %v", dir, err)
			}
		})
	}
	work.Wait()
	wantLinks(t, w.opts.Dir(), map[string]string{
		"snens": w.opts.Self, "a": ref("a").Path, "b": ref("b").Path,
	})
	entries, err := os.ReadDir(w.opts.Base)
	must(t, err)
	if len(entries) != 3 { // path, path.lock, the one generation
		t.Errorf("built more than once: %v", entries)
	}
}

func TestManyProcessesAtOnce(t *testing.T) {
	w := newWorld(t)
	text, err := json.Marshal(w.opts)
	must(t, err)
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), asChild+"="+string(text))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	work.Wait()
	dir, _ := w.ensure(variant(1)...)
	wantLinks(t, dir, map[string]string{"snens": w.opts.Self, "c": ref("c").Path})
}
