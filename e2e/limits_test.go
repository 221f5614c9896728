package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"snens/internal/testneed"
)

// doctorSays is what the doctor finds about one thing.
func (w *world) doctorSays(name string) (ok bool, text string) {
	w.t.Helper()
	var found []struct {
		Name, Text string
		OK         bool
	}
	must(w.t, json.Unmarshal([]byte(w.run("doctor", "--json").stdout), &found))
	for _, f := range found {
		if f.Name == name {
			return f.OK, f.Text
		}
	}
	w.t.Fatalf("the doctor says nothing about %s", name)
	return false, ""
}

// A tool that wants more memory than it may have fails or is killed, alone.
func TestMemoryLimit(t *testing.T) {
	modes(t, func(t *testing.T, w *world) {
		testneed.Program(t, "perl")
		w.zoo(isCalled)
		w.config(zooConfig)
		status, r := w.call("glutton")
		w.nothingLeft()
		if status == 0 || r.OK || !strings.HasPrefix(r.Content, "began\n") || strings.Contains(r.Content, "had ") {
			t.Errorf("exit status %d, %+v", status, r)
		}
		if r.Signal != nil && (!r.OOM || !strings.HasSuffix(r.Content, "killed by SIGKILL (out of memory)")) {
			t.Errorf("killed, and the record does not say why: %+v", r)
		}
		w.config("")
		if status, r = w.call("glutton"); status != 0 || r.Content != "began\nhad 400000000\n" {
			t.Errorf("without the limit: %d, %+v", status, r)
		}
	})
}

// The storm gets as many processes as its limit leaves, not one more; where
// nothing can hold the limit the call is refused.
func TestProcessLimit(t *testing.T) {
	modes(t, func(t *testing.T, w *world) {
		testneed.Program(t, "perl")
		w.zoo(isCalled)
		w.config(zooConfig)
		status, r := w.call("storm")
		w.nothingLeft()
		_, can := w.doctorSays("limits")
		switch {
		case strings.Contains(can, "pids of the tree"):
			if status != 0 || r.out() != "19\n" || len(r.Survivors) != 19 {
				t.Errorf("%d, %d survivors, %q", status, len(r.Survivors), r.Content)
			}
		case strings.Contains(can, "pids cannot be limited"):
			if status != 125 || r.Class != "refused" || !strings.Contains(r.Content, `the limit "pids" cannot be held on this machine`) {
				t.Errorf("%d, %+v", status, r)
			}
		default: // of the user: others of the same user count
			if status != 0 || number(t, r.out()) > 19 {
				t.Errorf("%d, %q", status, r.Content)
			}
		}
	})
}
