package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"snens/supervisor/call"
	"snens/supervisor/engine"
)

// A grandchild that holds the output pipe holds up nothing: what was written is
// kept, the record says that the pipe was open and the grandchild is ended.
func TestGrandchildHoldsThePipe(t *testing.T) {
	both(t, func(t *testing.T, e *engine.Engine) {
		for _, c := range []struct {
			name, script string
			exit         int
		}{
			{"success", "sleep 1000 & until grep -q sleep /proc/$!/comm; do :; done; echo $! >pid; echo hi", 0},
			{"failure", "sleep 1000 & until grep -q sleep /proc/$!/comm; do :; done; echo $! >pid; echo hi; exit 7", 7},
			{"own session", "setsid sleep 1000 & echo hi; until pgrep -s $! sleep >pid; do :; done", 0},
		} {
			t.Run(c.name, func(t *testing.T) {
				s := sh(t, c.script)
				r := e.Run(s)
				if *r.Stdout != "hi\n" || r.ExitStatus() != c.exit || !r.OutputOpen || r.TimedOut {
					t.Errorf("stdout %q exit %d output_open %v timed_out %v", *r.Stdout, r.ExitStatus(), r.OutputOpen, r.TimedOut)
				}
				pid := pidIn(t, filepath.Join(s.Dir, "pid"))
				if len(r.Survivors) != 1 || r.Survivors[0] != (call.Survivor{PID: pid, Name: "sleep"}) {
					t.Errorf("survivors %+v, want the sleep %d", r.Survivors, pid)
				}
				mustBeGone(t, pid)
			})
		}
	})
}

func TestSurvivorsMayBeLeft(t *testing.T) {
	both(t, func(t *testing.T, e *engine.Engine) {
		s := sh(t, "sleep 1000 >/dev/null 2>&1 & until grep -q sleep /proc/$!/comm; do :; done; echo $! >pid")
		s.Survivors = engine.LeaveSurvivors
		r := e.Run(s)
		pid := pidIn(t, filepath.Join(s.Dir, "pid"))
		if len(r.Survivors) != 1 || r.Survivors[0].PID != pid || r.OutputOpen {
			t.Errorf("survivors %+v, output_open %v", r.Survivors, r.OutputOpen)
		}
		if !alive(pid) {
			t.Error("the survivor was ended though it was to be left")
		}
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
		until(t, "the survivor's end", func() bool { return !alive(pid) })
		until(t, "the group to be removed", func() bool {
			e.Tidy(0)
			groups, _ := filepath.Glob("/sys/fs/cgroup/*/snens-" + string(s.CallID))
			return len(groups) == 0
		})
	})
}

// tree is a shell script: a tree three deep, one branch in a session of its
// own, every process deaf to TERM, each pid in a file.
const deafTree = `trap "" TERM HUP INT
sh -c 'echo $$ >a; trap "" TERM; while :; do sleep 1000; done' &
setsid sh -c 'echo $$ >b; trap "" TERM; (setsid sh -c "echo \$\$ >c; while :; do sleep 1000; done" &) ; while :; do sleep 1000; done' &
until [ -s a ] && [ -s b ] && [ -s c ]; do sleep 0.01; done
echo ready; echo >ready
while :; do sleep 1000; done
`

func TestWholeTreeIsKilledAfterTheGrace(t *testing.T) {
	both(t, func(t *testing.T, e *engine.Engine) {
		s := sh(t, deafTree)
		s.Grace = 50 * time.Millisecond
		run := start(t, e, s)
		until(t, "the tree", func() bool { return exists(filepath.Join(s.Dir, "ready")) })
		run.Stop()
		r := run.Wait()
		if !r.Cancelled || r.Class != call.ClassCancelled || *r.Stdout != "ready\n" || r.Content != "ready\ncancelled" || r.ExitStatus() != 137 {
			t.Errorf("record %+v", r)
		}
		for _, f := range []string{"a", "b", "c"} {
			mustBeGone(t, pidIn(t, filepath.Join(s.Dir, f)))
		}
	})
}

func TestTimeLimitKeepsWhatWasWritten(t *testing.T) {
	both(t, func(t *testing.T, e *engine.Engine) {
		r, limit := limited(t, e, sh(t, "echo partial; echo err >&2; exec sleep 1000"))
		if !r.TimedOut || r.Cancelled || r.Class != call.ClassTimeout || r.ExitStatus() != 124 || !r.Ours() {
			t.Errorf("record %+v", r)
		}
		want := fmt.Sprintf("partial\n[stderr]\nerr\ntimed out after %g s", limit.Seconds())
		if r.Content != want {
			t.Errorf("content %q, want %q", r.Content, want)
		}
	})
}

// limited runs s under the shortest of growing time limits that lets it write
// to both streams first.
func limited(t *testing.T, e *engine.Engine, s engine.Spec) (*call.Record, time.Duration) {
	t.Helper()
	for s.Timeout = 100 * time.Millisecond; s.Timeout < time.Minute; s.Timeout *= 2 {
		if r := e.Run(s); *r.Stdout != "" && *r.Stderr != "" {
			return r, s.Timeout
		}
	}
	t.Fatal("nothing was written within a minute")
	return nil, 0
}

// TERM lets a tree clean up, the first process and the others alike.
func TestGraceIsGivenToTheWholeTree(t *testing.T) {
	both(t, func(t *testing.T, e *engine.Engine) {
		// Both loops fork nothing: dash loses a signal that arrives during its vfork.
		s := sh(t, `sh -c 'trap "sleep 0.1; echo >cleaned; exit" TERM; echo >ready; while :; do :; done' &
trap "exit 9" TERM; until [ -e ready ]; do :; done; echo >both; while :; do :; done`)
		run := start(t, e, s)
		until(t, "both traps", func() bool { return exists(filepath.Join(s.Dir, "both")) })
		run.Stop()
		if r := run.Wait(); r.ExitStatus() != 9 || !r.Cancelled {
			t.Errorf("record %+v", r)
		}
		if !exists(filepath.Join(s.Dir, "cleaned")) {
			t.Error("the second process was not given the grace")
		}
	})
}

func TestKillIsAtOnce(t *testing.T) {
	both(t, func(t *testing.T, e *engine.Engine) {
		s := sh(t, deafTree) // the grace of a minute would show
		run := start(t, e, s)
		until(t, "the tree", func() bool { return exists(filepath.Join(s.Dir, "ready")) })
		run.Stop()
		run.Kill()
		if r := run.Wait(); r.ExitStatus() != 137 || !r.Cancelled {
			t.Errorf("record %+v", r)
		}
		for _, f := range []string{"a", "b", "c"} {
			mustBeGone(t, pidIn(t, filepath.Join(s.Dir, f)))
		}
		run.Stop() // after the end: nothing
		run.Suspend()
	})
}

// What may outlive a call is not left frozen by the call's end.
func TestSurvivorsAreNotLeftFrozen(t *testing.T) {
	both(t, func(t *testing.T, e *engine.Engine) {
		s := sh(t, "(while :; do echo >>count; done) >/dev/null 2>&1 & echo $! >child; echo $$ >pid; while :; do :; done")
		s.Survivors = engine.LeaveSurvivors
		run := start(t, e, s)
		main, child := pidIn(t, filepath.Join(s.Dir, "pid")), pidIn(t, filepath.Join(s.Dir, "child"))
		t.Cleanup(func() { _ = syscall.Kill(child, syscall.SIGKILL) })
		until(t, "the count", func() bool { return size(s, "count") > 0 })
		run.Suspend()
		if err := syscall.Kill(main, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if r := run.Wait(); r.SignalNumber != 9 || r.Cancelled {
			t.Errorf("record %+v", r)
		}
		at := size(s, "count")
		until(t, "the survivor to go on", func() bool { return size(s, "count") > at })
	})
}

// size is that of a file in the call's folder, 0 while there is none.
func size(s engine.Spec, name string) int64 {
	if st, err := os.Stat(filepath.Join(s.Dir, name)); err == nil {
		return st.Size()
	}
	return 0
}

func TestSuspendStopsTheClockAndTheTree(t *testing.T) {
	both(t, func(t *testing.T, e *engine.Engine) {
		s := sh(t, "while :; do echo >>count; done")
		run := start(t, e, s)
		until(t, "the count", func() bool { return size(s, "count") > 0 })
		run.Suspend()
		run.Suspend() // twice is once
		at := int64(-1)
		until(t, "the count to stand still", func() bool {
			last := at
			at = size(s, "count")
			return last == at
		})
		run.Resume()
		until(t, "the count to go on", func() bool { return size(s, "count") > at })
		run.Suspend()
		run.Stop() // a stopped tree must see TERM
		if r := run.Wait(); !r.Cancelled || r.SignalNumber != 15 {
			t.Errorf("record %+v", r)
		}
	})
}

// The storm is bounded (2^8 processes at most) so that a fault here cannot take
// the machine with it; it is stopped while it grows.
func TestForkStormIsEnded(t *testing.T) {
	both(t, func(t *testing.T, e *engine.Engine) {
		s := sh(t, `trap "" TERM
storm() { : >ready; [ "$1" -ge 7 ] || { (storm $(($1+1))) & (storm $(($1+1))) & }; sleep 1000; }
storm 0`)
		s.Grace = time.Millisecond
		run := start(t, e, s)
		until(t, "the storm", func() bool { return exists(filepath.Join(s.Dir, "ready")) })
		run.Stop()
		if r := run.Wait(); !r.Cancelled {
			t.Errorf("record %+v", r)
		}
		if left := withEnv(t, string(s.CallID)); len(left) != 0 {
			t.Errorf("processes %v are left", left)
		}
	})
}

// withEnv lists the live processes that carry the call's id.
func withEnv(t *testing.T, id string) (pids []string) {
	t.Helper()
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range all {
		b, err := os.ReadFile(f)
		if err == nil && strings.Contains(string(b), "SNENS_CALL_ID="+id+"\x00") {
			pids = append(pids, f)
		}
	}
	return pids
}

func TestFlood(t *testing.T) {
	e := newEngine(t)
	s := sh(t, "head -c 50000000 /dev/zero | tr '\\0' x; head -c 20000000 /dev/zero | tr '\\0' y >&2")
	s.HeadTail, s.SpillDir, s.SpillMax = 1000, filepath.Join(s.Dir, "spill"), 1<<20
	r := e.Run(s)
	if !r.OK || r.Truncated == nil || r.Truncated.Stdout != 50000000 || r.Truncated.Stderr != 20000000 {
		t.Fatalf("ok %v truncated %+v", r.OK, r.Truncated)
	}
	x := strings.Repeat("x", 1000)
	if want := x + "\n[... 49998000 bytes left out ...]\n" + x; *r.Stdout != want {
		t.Errorf("stdout has %d bytes", len(*r.Stdout))
	}
	for _, f := range []string{r.Spill.Stdout, r.Spill.Stderr} {
		if st, err := os.Stat(f); err != nil || st.Size() != 1<<20 {
			t.Errorf("%s: %v %v, want 1 MiB", f, st, err)
		}
	}
	if !r.Spill.StdoutCapped || !r.Spill.StderrCapped {
		t.Error("the record does not say that the files are cut")
	}
	if want := "[stdout: 50000000 bytes in all, the middle is left out; the first 1048576 are in " + r.Spill.Stdout + "]"; !strings.Contains(r.Content, want) {
		t.Errorf("content lacks %q", want)
	}
}

// A flood that never ends is ended by the time limit.
func TestEndlessFlood(t *testing.T) {
	both(t, func(t *testing.T, e *engine.Engine) {
		s := sh(t, "yes & yes >&2")
		s.HeadTail, s.Grace = 100, 10*time.Millisecond
		if r, _ := limited(t, e, s); !r.TimedOut || r.Truncated == nil {
			t.Errorf("record %+v", r)
		}
	})
}

// What the tool deletes under itself makes no difference to the end.
func TestToolDeletesItsFolderAndItself(t *testing.T) {
	e := newEngine(t)
	s := sh(t, `rm -r "$PWD"; rm "$0" 2>/dev/null; echo done`)
	prog := filepath.Join(s.Dir, "prog")
	if err := os.WriteFile(prog, []byte("#!/bin/sh\nrm -rf \"$PWD\" \"$0\"\necho done\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.Path, s.Argv = prog, []string{"prog"}
	if r := e.Run(s); !r.OK || *r.Stdout != "done\n" {
		t.Errorf("record %+v", r)
	}
	if r := e.Run(s); r.Class != call.ClassRefused || r.ExitStatus() != 125 || !strings.Contains(r.Content, "does not exist") {
		t.Errorf("in a deleted folder: %+v", r)
	}
}
