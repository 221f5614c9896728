package execute_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snens/broker/action"
	"snens/broker/execute"
)

func TestEndings(t *testing.T) {
	both(t, func(w *world) {
		for script, want := range map[string]execute.Ending{
			"exit 0":        {Reason: action.ReasonExited},
			"exit 7":        {Reason: action.ReasonExited, Code: 7},
			"exit 255":      {Reason: action.ReasonExited, Code: 255},
			"kill -9 $$":    {Reason: action.ReasonSignalled, Signal: 9},
			"kill -15 $$":   {Reason: action.ReasonSignalled, Signal: 15},
			"kill -SEGV $$": {Reason: action.ReasonSignalled, Signal: 11},
		} {
			j := w.sh(script, nil)
			if got := j.run(context.Background()); got != want || !j.ran() {
				w.t.Errorf("%s: %+v, want %+v", script, got, want)
			}
		}
	})
}

func TestTimeLimit(t *testing.T) {
	both(t, func(w *world) {
		j := w.sh("exec sleep 1000", func(q *action.Request) { q.Timeout = 50 * time.Millisecond })
		e := j.run(context.Background())
		if e.Reason != action.ReasonTimedOut || e.Code != 0 || e.Signal != 0 || !strings.Contains(e.Detail, "signal 15") || !j.ran() {
			w.t.Errorf("%+v", e)
		}
	})
}

// stubborn leaves processes behind that hide: forked twice, in sessions of their
// own, deaf to TERM. Each writes its pid into the folder.
const stubborn = `trap '' TERM
( setsid sh -c 'trap "" TERM; echo $$ > "$D/one"; while :; do sleep 1000; done' & )
( ( setsid sh -c 'trap "" TERM; ( echo $$ > "$D/two"; while :; do sleep 1000; done ) & wait' & ) & )
while [ ! -s "$D/one" ] || [ ! -s "$D/two" ]; do sleep 0.01; done
echo $$ > "$D/all"
while :; do sleep 1000; done`

func TestRequesterGoneEndsTheTree(t *testing.T) {
	both(t, func(w *world) {
		for _, why := range []action.Reason{action.ReasonRequesterGone, action.ReasonKilled, action.ReasonShutdown, action.ReasonCancelled} {
			dir := w.t.TempDir()
			j := w.sh(stubborn, func(q *action.Request) {
				q.Env = append([]action.Var{{Name: "D", Value: dir}}, q.Env...)
			})
			ctx, leave := because(why)
			got := make(chan execute.Ending, 1)
			go func() { got <- j.run(ctx) }()
			var pids []string
			eventually(w.t, "the tree", func() bool {
				b, err := os.ReadFile(filepath.Join(dir, "all"))
				return err == nil && len(b) > 1
			})
			for _, name := range []string{"one", "two", "all"} {
				b, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					w.t.Fatal(err)
				}
				pids = append(pids, string(b))
			}
			leave()
			if e := <-got; e.Reason != why || e.Code != 0 || e.Signal != 0 || !strings.Contains(e.Detail, "signal 9") {
				w.t.Errorf("%+v, want %s", e, why)
			}
			for _, pid := range pids {
				if alive(pid) {
					w.t.Errorf("%s: process %s lives", why, pid)
				}
			}
		}
	})
}

func TestSurvivorsAreNamed(t *testing.T) {
	both(t, func(w *world) {
		j := w.sh("sleep 1000 & exit 4", nil)
		e := j.run(context.Background())
		if e.Reason != action.ReasonExited || e.Code != 4 || !strings.HasPrefix(e.Detail, "ended after the command: 1 processes (") {
			w.t.Errorf("%+v", e)
		}
	})
}

func TestNothingRunsWhenTheRequesterHasLeft(t *testing.T) {
	w := groups(t)
	for why, want := range map[action.Reason]action.Reason{
		action.ReasonRequesterGone: action.ReasonRequesterGone, action.ReasonKilled: action.ReasonCannotStart,
	} {
		ctx, leave := because(why)
		leave()
		j := w.sh("exit 0", nil)
		if e := j.run(ctx); e.Reason != want || !strings.Contains(e.Detail, why.String()) || j.ran() {
			t.Errorf("%+v", e)
		}
	}
}

func TestCannotStart(t *testing.T) {
	w := groups(t)
	dir := t.TempDir()
	script := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		path   string
		change func(*action.Request)
		words  string
	}{
		{"/bin/sh", func(q *action.Request) { q.Cwd = "/nowhere" }, "cannot enter the folder"},
		{script("none", "no program", 0o755), nil, "neither a program"},
		{"/bin/sh", func(q *action.Request) { q.Modes.Terminal = true }, "terminals are not built"},
		{script("mode", "#!/bin/sh\n", 0o644), func(q *action.Request) { q.RunAs.UID = 54321 }, "may not execute"},
	} {
		p := w.open(c.path)
		q := w.request(p, "x")
		if c.change != nil {
			c.change(&q)
		}
		j := w.keep(q, p, nil)
		if e := j.run(context.Background()); e.Reason != action.ReasonCannotStart || !strings.Contains(e.Detail, c.words) || j.ran() {
			t.Errorf("%s: %+v, want %q", c.path, e, c.words)
		}
	}
}

func TestAnotherProgramIsStale(t *testing.T) {
	w := groups(t)
	p, other := w.open("/bin/sh"), w.open("/bin/cat")
	q := w.request(p, "sh", "-c", "exit 0")
	p.Close()
	j := w.keep(q, other, nil) // what is kept is not what was sealed
	if e := j.run(context.Background()); e.Reason != action.ReasonStaleFile || j.ran() {
		t.Errorf("%+v", e)
	}
	q.Executable.SHA256[0]++
	j = w.keep(q, w.open("/bin/sh"), nil)
	if e := j.run(context.Background()); e.Reason != action.ReasonStaleFile || j.ran() {
		t.Errorf("%+v", e)
	}
}

// A script is opened again by its interpreter, so it is looked at once more
// right before.
func TestChangedScriptIsStale(t *testing.T) {
	w := groups(t)
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexit 0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := w.open(path)
	j := w.keep(w.request(p, path), p, nil)
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexit 9\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if e := j.run(context.Background()); e.Reason != action.ReasonStaleFile || j.ran() {
		t.Errorf("%+v", e)
	}
}

// A binary that was replaced after the request is not what runs.
func TestReplacedBinaryIsNotWhatRuns(t *testing.T) {
	w := groups(t)
	path := filepath.Join(t.TempDir(), "program")
	for _, from := range []string{"/bin/true", "/bin/false"} {
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+".new", b, 0o755); err != nil {
			t.Fatal(err)
		}
		if from == "/bin/true" {
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		}
	}
	p := w.open(path)
	j := w.keep(w.request(p, "program"), p, nil)
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	if e := j.run(context.Background()); e.Reason != action.ReasonExited || e.Code != 0 {
		t.Errorf("%+v", e)
	}
}
