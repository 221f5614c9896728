package spawn_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/cgroup"
	"snens/internal/spawn"
	"snens/internal/testneed"
)

func TestOutcomes(t *testing.T) {
	both(t, func(t *testing.T, r *spawn.Runner) {
		for _, c := range []struct {
			script  string
			outcome spawn.Outcome
			code    int
			signal  unix.Signal
		}{
			{"exit 0", spawn.Exited, 0, 0},
			{"exit 77", spawn.Exited, 77, 0},
			{"exit 255", spawn.Exited, 255, 0},
			{"kill -KILL $$", spawn.Signalled, -1, unix.SIGKILL},
			{"kill -TERM $$", spawn.Signalled, -1, unix.SIGTERM},
		} {
			p := start(t, r, sh(t, c.script))
			res := p.Result()
			if res.Outcome != c.outcome || res.ExitCode != c.code || res.Signal != c.signal || len(res.Survivors)+len(res.Left) != 0 {
				t.Errorf("%s: %+v, want %v, %d, %v", c.script, res, c.outcome, c.code, c.signal)
			}
			if res.Ended.Before(p.Began()) {
				t.Errorf("ended %v before it began %v", res.Ended, p.Began())
			}
			p.Cancel() // after the end: nothing
			if again := p.Result(); again.Outcome != c.outcome {
				t.Errorf("after Cancel: %+v", again)
			}
		}
	})
}

func TestTimeLimit(t *testing.T) {
	both(t, func(t *testing.T, r *spawn.Runner) {
		s := spec(open(t, "/bin/sleep"), "sleep", "1000")
		s.Timeout = time.Millisecond
		if res := start(t, r, s).Result(); res.Outcome != spawn.TimedOut || res.Signal != unix.SIGTERM || res.ExitCode != -1 {
			t.Errorf("%+v", res)
		}
		// The command may clean up, and its exit code is told.
		s = sh(t, `trap "exit 9" TERM; while :; do :; done`)
		p := start(t, r, s)
		until(t, "the trap", func() bool { return handles(p.PID(), unix.SIGTERM) })
		p.Cancel()
		if res := p.Result(); res.Outcome != spawn.Cancelled || res.ExitCode != 9 || res.Signal != 0 {
			t.Errorf("%+v", res)
		}
		// A stopped one hears TERM too.
		p = start(t, r, sh(t, "kill -STOP $$; exit 0"))
		until(t, "the stop", func() bool { return strings.HasPrefix(status(p.PID(), "State"), "T") })
		p.Cancel()
		if res := p.Result(); res.Outcome != spawn.Cancelled || res.Signal != unix.SIGTERM {
			t.Errorf("%+v", res)
		}
	})
}

// deafTree is a tree three deep, two branches in sessions of their own, one of
// them orphaned, every process deaf to TERM; each pid is in a file.
const deafTree = `trap "" TERM HUP INT
sh -c 'echo $$ >a; trap "" TERM; while :; do sleep 1000; done' &
setsid sh -c 'echo $$ >b; trap "" TERM; (setsid sh -c "echo \$\$ >c; while :; do sleep 1000; done" &) ; while :; do sleep 1000; done' &
until [ -s a ] && [ -s b ] && [ -s c ]; do sleep 0.01; done
`

// Nothing is left after the grace: not when the requester goes away, and not
// when the command itself has ended well.
func TestNothingIsLeft(t *testing.T) {
	for name, last := range map[string]string{
		"cancelled": "echo >ready; while :; do sleep 1000; done",
		"exited":    "echo >ready; exit 3",
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, r *spawn.Runner) {
				s := sh(t, deafTree+last)
				s.Grace = 20 * time.Millisecond
				p := start(t, r, s)
				until(t, "the tree", func() bool { return exists(s.Dir, "ready") })
				if name == "cancelled" {
					p.Cancel()
				}
				res := p.Result()
				switch {
				case name == "cancelled" && (res.Outcome != spawn.Cancelled || res.Signal != unix.SIGKILL):
					t.Errorf("%+v, want cancelled by KILL", res)
				case name == "exited" && (res.Outcome != spawn.Exited || res.ExitCode != 3 || len(res.Survivors) < 3):
					t.Errorf("%+v, want exit 3 with survivors", res)
				}
				<-p.Gone()
				for _, f := range []string{"a", "b", "c"} {
					pid, err := os.ReadFile(filepath.Join(s.Dir, f))
					if err != nil {
						t.Fatal(err)
					}
					if alive(strings.TrimSpace(string(pid))) {
						t.Errorf("process %s (%s) is left", pid, f)
					}
				}
			})
		})
	}
}

// Two at once: ending one leaves the other alone.
func TestEndsOnlyItsOwn(t *testing.T) {
	testneed.Root(t) // or orphans of the fallback cannot be told apart
	both(t, func(t *testing.T, r *spawn.Runner) {
		stay := sh(t, "(setsid sh -c 'echo $$ >a; sleep 1000' &); until [ -s a ]; do sleep 0.01; done; echo >ready; sleep 1000")
		other := start(t, r, stay)
		until(t, "the other", func() bool { return exists(stay.Dir, "ready") })
		s := sh(t, deafTree+"echo >ready; sleep 1000")
		s.Grace = 20 * time.Millisecond
		p := start(t, r, s)
		until(t, "the tree", func() bool { return exists(s.Dir, "ready") })
		p.Cancel()
		<-p.Gone()
		c, err := os.ReadFile(filepath.Join(s.Dir, "c"))
		if err != nil || alive(strings.TrimSpace(string(c))) {
			t.Errorf("its orphan %s is left: %v", c, err)
		}
		a, err := os.ReadFile(filepath.Join(stay.Dir, "a"))
		if err != nil || !alive(strings.TrimSpace(string(a))) || status(other.PID(), "State") == "" {
			t.Errorf("the other action was hit: %v", err)
		}
		other.Cancel()
		<-other.Gone()
		if alive(strings.TrimSpace(string(a))) {
			t.Error("the other's orphan is left")
		}
	})
}

// Root's command may leave its group; it is still ended.
func TestACommandThatLeavesItsGroup(t *testing.T) {
	testneed.Root(t)
	r := groupRunner(t)
	tree, err := cgroup.Detect()
	if err != nil {
		t.Fatal(err)
	}
	s := sh(t, `echo $$ >"`+tree.Parent()+`/cgroup.procs" && trap "" TERM && echo >ready && exec sleep 1000`)
	s.Grace = time.Millisecond
	p := start(t, r, s)
	until(t, "the move", func() bool { return exists(s.Dir, "ready") })
	p.Cancel()
	if res := p.Result(); res.Outcome != spawn.Cancelled || res.Signal != unix.SIGKILL {
		t.Errorf("%+v", res)
	}
}

// What KILL does not end is told, and the wait has an end all the same. A
// freezer of the first kind holds even a killed process.
func TestUnkillable(t *testing.T) {
	testneed.Root(t)
	const freezers = "/sys/fs/cgroup/freezer"
	_, err := os.Stat(freezers + "/cgroup.procs")
	testneed.Kernel(t, err == nil, "the freezer of cgroup v1 mounted at "+freezers)
	both(t, func(t *testing.T, r *spawn.Runner) {
		r.SetLastWait(20 * time.Millisecond)
		s := sh(t, "exec sleep 1000")
		s.Grace = time.Millisecond
		p := start(t, r, s)
		dir, err := os.MkdirTemp(freezers, "snens-test-spawn-")
		if err != nil {
			t.Fatal(err)
		}
		set := func(file, value string) {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(value), 0); err != nil {
				t.Fatal(err)
			}
		}
		set("cgroup.procs", itoa(p.PID()))
		set("freezer.state", "FROZEN")
		until(t, "the freezing", func() bool {
			b, err := os.ReadFile(filepath.Join(dir, "freezer.state"))
			return err == nil && string(b) == "FROZEN\n"
		})
		p.Cancel()
		res := p.Result()
		if res.Outcome != spawn.Unkillable || res.ExitCode != -1 || res.Signal != 0 || len(res.Left) != 1 || res.Left[0] != p.PID() {
			t.Errorf("%+v, want unkillable with %d left", res, p.PID())
		}
		select {
		case <-p.Gone():
			t.Error("it is said to be gone")
		default:
		}
		set("freezer.state", "THAWED")
		<-p.Gone()
		until(t, "the freezer to be removed", func() bool { return os.Remove(dir) == nil })
	})
}

func TestOutcomeWords(t *testing.T) {
	seen := map[string]bool{}
	for o := spawn.Outcome(0); o < 8; o++ {
		if s := o.String(); s == "" || seen[s] {
			t.Errorf("outcome %d is %q", uint8(o), s)
		} else {
			seen[s] = true
		}
	}
}

func status(pid int, key string) string {
	b, _ := os.ReadFile("/proc/" + itoa(pid) + "/status")
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, key+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
