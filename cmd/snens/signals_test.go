package main

import (
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// fakeTree notes what the watch does with a process tree.
type fakeTree struct{ done []string }

func (f *fakeTree) Stop()    { f.done = append(f.done, "stop") }
func (f *fakeTree) Kill()    { f.done = append(f.done, "kill") }
func (f *fakeTree) Suspend() { f.done = append(f.done, "suspend") }
func (f *fakeTree) Resume()  { f.done = append(f.done, "resume") }

func TestWatch(t *testing.T) {
	for _, c := range []struct {
		name    string
		signals []unix.Signal
		want    string
		asked   unix.Signal
	}{
		{"interrupt", []unix.Signal{unix.SIGINT}, "stop", unix.SIGINT},
		{"second interrupt", []unix.Signal{unix.SIGINT, unix.SIGINT}, "stop kill", unix.SIGINT},
		{"interrupt after term", []unix.Signal{unix.SIGTERM, unix.SIGINT}, "stop kill", unix.SIGTERM},
		{"two terms", []unix.Signal{unix.SIGTERM, unix.SIGTERM}, "stop stop", unix.SIGTERM},
		{"hang-up and quit", []unix.Signal{unix.SIGHUP, unix.SIGQUIT}, "stop stop", unix.SIGHUP},
		{"stop and continue", []unix.Signal{unix.SIGTSTP, unix.SIGCONT}, "suspend self resume", 0},
		{"stopped where nobody continues", []unix.Signal{unix.SIGTSTP}, "", 0},
		{"interrupt after continue", []unix.Signal{unix.SIGTSTP, unix.SIGCONT, unix.SIGINT}, "suspend self resume stop", unix.SIGINT},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, ctx := newWatch()
			tree := &fakeTree{}
			w.suspend = func() { tree.done = append(tree.done, "self") }
			w.alone = func() bool { return c.name == "stopped where nobody continues" }
			w.runs(tree, nil)
			for _, sig := range c.signals {
				w.signals <- sig
			}
			w.close()
			if got := strings.Join(tree.done, " "); got != c.want || w.asked() != c.asked {
				t.Errorf("got %q, asked %v; want %q, %v", got, w.asked(), c.want, c.asked)
			}
			if ctx.Err() == nil {
				t.Error("the context outlives the watch")
			}
		})
	}
}

func TestASignalBeforeTheTreeRuns(t *testing.T) {
	w, ctx := newWatch()
	w.signals <- unix.SIGINT
	<-ctx.Done()
	tree := &fakeTree{}
	w.runs(tree, nil)
	w.close()
	if !slices.Equal(tree.done, []string{"stop"}) {
		t.Errorf("got %q", tree.done)
	}
}

func TestIgnoredSignalsAreSeen(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGWINCH)
	if ignored(unix.SIGWINCH) {
		t.Error("a signal that is waited for is seen as ignored")
	}
	signal.Ignore(unix.SIGWINCH)
	if !ignored(unix.SIGWINCH) {
		t.Error("an ignored signal is not seen as ignored")
	}
}

// catches says whether a process has a handler for a signal.
func catches(pid int, sig unix.Signal) bool {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(status), "\nSigCgt:\t")
	mask, err := strconv.ParseUint(strings.TrimSpace(rest[:16]), 16, 64)
	return err == nil && mask&(1<<(sig-1)) != 0
}
