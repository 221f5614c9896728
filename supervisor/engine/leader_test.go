package engine_test

import (
	"testing"
	"time"

	"snens/internal/testneed"
	"snens/supervisor/call"
	"snens/supervisor/engine"
)

// A program that gives itself another uid is ended at its time limit all the
// same: whatever else is left alone, this one is the call's own child.
func TestProgramOfAnotherUIDIsEnded(t *testing.T) {
	testneed.Root(t)
	testneed.Program(t, "setpriv", "util-linux")
	both(t, func(t *testing.T, e *engine.Engine) {
		s := sh(t, "exec setpriv --reuid=65534 --clear-groups sleep 20")
		s.Timeout = 300 * time.Millisecond
		r := e.Run(s)
		if r.Class != call.ClassTimeout || r.Signal == nil || *r.Signal != "SIGTERM" {
			t.Errorf("class %q, exit %v, signal %v", r.Class, r.ExitCode, r.Signal)
		}
	})
}

// What is written down before each start names the group the child is started
// in: with that of an attempt that failed nothing would ever be found.
func TestWrittenDownBeforeEveryStart(t *testing.T) {
	both(t, func(t *testing.T, e *engine.Engine) {
		s := sh(t, "")
		s.Path = s.Dir + "/none"
		var groups []bool
		s.Leftover = func(id engine.Identity) error {
			groups = append(groups, id.Cgroup != "")
			return nil
		}
		if r := e.Run(s); r.Class != call.ClassStart {
			t.Fatalf("class %q", r.Class)
		}
		if len(groups) == 0 || groups[len(groups)-1] {
			t.Errorf("written down, with a group or not: %v; the last start had none", groups)
		}
	})
}
