package engine

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snens/supervisor/call"
)

// A status that cannot be had is never taken for a success.
func TestLostStatusIsNoSuccess(t *testing.T) {
	child := exec.Command("true")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	l := &loop{
		spec: Spec{Mode: Pass, Stdin: os.Stdin}, pid: child.Process.Pid, // waited for already
		tree: &sessionTree{orph: &orphanage{}}, out: &stream{}, err: &stream{},
	}
	l.reap()
	r := l.record()
	if r.OK || r.Class != call.ClassError || r.ExitCode != nil || r.ExitStatus() != call.ExitOurs || !r.Ours() {
		t.Errorf("%+v", r)
	}
	if want := "how the program ended is not known: no child processes"; r.Content != want {
		t.Errorf("content %q, want %q", r.Content, want)
	}
}

// A supervisor that was held up until after the time limit finds a tool that
// had ended before it: that is no time-out.
func TestEndedInTimeIsNotTimedOut(t *testing.T) {
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, refused := e.prepare(Spec{
		Tool: "true", CallID: call.ID("HELD-UP"), Path: "/bin/true", Argv: []string{"true"}, Dir: "/", Timeout: time.Hour,
	})
	if refused != nil {
		t.Fatal(refused.Content)
	}
	l.commands = func() []command { return nil }
	defer l.close()
	if err := l.begin(); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.Poll([]unix.PollFd{{Fd: int32(l.pidfd), Events: unix.POLLIN}}, -1); err != nil {
		t.Fatal(err)
	}
	l.deadline = time.Now().Add(-time.Second)
	l.turn()
	defer l.reap()
	if !l.exited || l.timedOut {
		t.Errorf("exited %v, timed out %v", l.exited, l.timedOut)
	}
}

// A time limit of a month or a century is none that the kernel's 32 bits of
// milliseconds turn into no limit at all.
func TestPollTime(t *testing.T) {
	for d, want := range map[time.Duration]int{
		-1: -1, 0: 0, 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2,
		30 * 24 * time.Hour: 3_600_000, 1<<63 - 1: 3_600_000,
	} {
		if got := pollTime(d); got != want {
			t.Errorf("pollTime(%s) = %d, want %d", d, got, want)
		}
	}
}
