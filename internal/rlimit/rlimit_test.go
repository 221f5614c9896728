package rlimit_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"snens/internal/confine"
	"snens/internal/rlimit"
	"snens/internal/testneed"
)

const modeVar = "SNENS_TEST_RLIMIT_MODE"

// TestMain is also the program that acts as another user, and the one that
// dies in the middle of a start.
func TestMain(m *testing.M) {
	switch os.Getenv(modeVar) {
	case "storm":
		os.Exit(stormAsNobody())
	case "dies":
		os.Exit(diesWhileStopped(os.Args[1]))
	}
	os.Exit(m.Run())
}

// run starts a shell script under the limits and gives its output and end.
func run(t *testing.T, l rlimit.Limits, script string) (string, unix.WaitStatus) {
	t.Helper()
	pid, out, err := start(t, l, &syscall.SysProcAttr{}, "/bin/sh", "-c", script)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	ws, err := rlimit.WallWait(pid)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), ws
}

func start(t *testing.T, l rlimit.Limits, sys *syscall.SysProcAttr, argv ...string) (int, *os.File, error) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	t.Cleanup(func() { r.Close() })
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	pid, err := rlimit.Start(argv[0], argv, &syscall.ProcAttr{
		Dir: "/", Env: []string{"PATH=/usr/bin:/bin"},
		Files: []uintptr{null.Fd(), w.Fd(), w.Fd()}, Sys: sys,
	}, l)
	return pid, r, err
}

func TestLimitsHoldFromTheFirstInstruction(t *testing.T) {
	l := rlimit.Limits{
		Memory: 64 << 20, CPU: 1500 * time.Millisecond, OpenFiles: 20,
		FileSize: 4096, NoCore: true,
	}
	out, ws := run(t, l, "exec cat /proc/self/limits")
	if ws.ExitStatus() != 0 {
		t.Fatalf("cat ended with %v: %s", ws, out)
	}
	for name, want := range map[string]string{
		"Max data size":      "67108864 67108864 bytes",
		"Max cpu time":       "2 3 seconds",
		"Max open files":     "20 20 files",
		"Max file size":      "4096 4096 bytes",
		"Max core file size": "0 0 bytes",
	} {
		if got := limitLine(out, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func limitLine(limits, name string) string {
	for line := range strings.Lines(limits) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			return strings.Join(strings.Fields(rest), " ")
		}
	}
	return ""
}

// Each script ends well without the limit and as said with it.
func TestLimitsBite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	exit := func(code int) func(unix.WaitStatus) bool {
		return func(ws unix.WaitStatus) bool { return ws.Exited() && ws.ExitStatus() == code }
	}
	signal := func(s unix.Signal) func(unix.WaitStatus) bool {
		return func(ws unix.WaitStatus) bool { return ws.Signaled() && ws.Signal() == s }
	}
	cases := []struct {
		name, script string
		limits       rlimit.Limits
		want         func(unix.WaitStatus) bool
	}{
		{"memory", "exec dd if=/dev/zero of=/dev/null bs=64M count=1", rlimit.Limits{Memory: 32 << 20}, exit(1)},
		{"open files", "exec 3</dev/null 4</dev/null 5</dev/null", rlimit.Limits{OpenFiles: 5}, exit(2)},
		{"file size", "exec dd if=/dev/zero of=" + file + " bs=8192 count=1", rlimit.Limits{FileSize: 4096}, signal(unix.SIGXFSZ)},
		{"processor time", "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; [ -z \"$ENDLESS\" ] || while :; do :; done", rlimit.Limits{CPU: time.Millisecond}, signal(unix.SIGXCPU)},
		{"processor time, signal ignored", "trap '' XCPU; [ -z \"$ENDLESS\" ] || while :; do :; done", rlimit.Limits{CPU: time.Millisecond}, signal(unix.SIGKILL)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if out, ws := run(t, rlimit.Limits{}, c.script); !exit(0)(ws) {
				t.Fatalf("control without limit: %#x, output %s", ws, out)
			}
			if out, ws := run(t, c.limits, "ENDLESS=1; "+c.script); !c.want(ws) {
				t.Errorf("ended with %#x, output %s", ws, out)
			}
		})
	}
}

func TestNeverAboveOurOwnLimit(t *testing.T) {
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &own); err != nil {
		t.Fatal(err)
	}
	out, _ := run(t, rlimit.Limits{OpenFiles: own.Max + 1}, "exec cat /proc/self/limits")
	if got, want := limitLine(out, "Max open files"), fmt.Sprintf("%d %d files", own.Max, own.Max); got != want {
		t.Errorf("open files %q, want %q", got, want)
	}
}

func TestSettings(t *testing.T) {
	for _, c := range []struct {
		l    rlimit.Limits
		name string
		want [2]uint64
	}{
		{rlimit.Limits{CPU: 1}, "processor time", [2]uint64{1, 2}},
		{rlimit.Limits{CPU: time.Second}, "processor time", [2]uint64{1, 2}},
		{rlimit.Limits{CPU: time.Second + 1}, "processor time", [2]uint64{2, 3}},
		{rlimit.Limits{Processes: 7}, "processes", [2]uint64{7, 7}},
		{rlimit.Limits{NoCore: true}, "core dumps", [2]uint64{0, 0}},
	} {
		got := rlimit.Settings(c.l)
		if v, ok := got[c.name]; !ok || v != c.want || len(got) != 1 {
			t.Errorf("%+v: %v, want only %s %v", c.l, got, c.name, c.want)
		}
		if c.l.IsZero() {
			t.Errorf("%+v counts as nothing to do", c.l)
		}
	}
	if !(rlimit.Limits{}).IsZero() {
		t.Error("the zero Limits ask for something")
	}
}

func TestAttributesHonoured(t *testing.T) {
	pidfd := -1
	sys := &syscall.SysProcAttr{Setsid: true, PidFD: &pidfd}
	pid, out, err := start(t, rlimit.Limits{NoCore: true}, sys, "/bin/sh", "-c", "cut -d' ' -f6 /proc/$$/stat; echo $$; pwd; echo $PATH; exit 3")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%d\n%d\n/\n/usr/bin:/bin\n", pid, pid)
	if string(text) != want {
		t.Errorf("session, pid, cwd, PATH: %q, want %q", text, want)
	}
	if pidfd < 0 {
		t.Fatal("no pidfd")
	}
	defer unix.Close(pidfd)
	var info unix.Siginfo
	if err := unix.Waitid(unix.P_PIDFD, pidfd, &info, unix.WEXITED, nil); err != nil {
		t.Errorf("cannot wait by the pidfd: %v", err)
	}
	if sys.Ptrace {
		t.Error("the caller's attributes were changed")
	}
}

// The program stands before its first instruction, and an error ends it.
func TestStoppedHook(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "ran")
	mine := errors.New("mine")
	pidfd := -1
	var seen int
	l := rlimit.Limits{FileSize: 4096, Stopped: func(pid int) error {
		seen = pid
		if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err != nil || filepath.Base(exe) != "touch" {
			t.Errorf("the stopped child is %q (%v), want touch", exe, err)
		}
		limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
		if got := limitLine(string(limits), "Max file size"); err != nil || got != "4096 4096 bytes" {
			t.Errorf("limit while stopped: %q (%v)", got, err)
		}
		return mine
	}}
	_, _, err := start(t, l, &syscall.SysProcAttr{PidFD: &pidfd}, "/usr/bin/touch", mark)
	if err != mine {
		t.Errorf("error %v, want the hook's", err)
	}
	if pidfd != -1 {
		t.Errorf("pidfd %d, want -1", pidfd)
	}
	if err := unix.Kill(seen, 0); err != unix.ESRCH {
		t.Errorf("the child is still there: %v", err)
	}
	if _, err := os.Stat(mark); !os.IsNotExist(err) {
		t.Error("the program has run")
	}
	l.Stopped = func(int) error { return nil }
	pid, _, err := start(t, l, nil, "/usr/bin/touch", mark)
	if err != nil {
		t.Fatal(err)
	}
	if ws, err := rlimit.WallWait(pid); err != nil || ws != 0 {
		t.Errorf("touch: %v %v", ws, err)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Errorf("control: the program has not run: %v", err)
	}
}

// Fail closed: with the starter gone the program must not run, limited or not.
func TestStarterKilledWhileStopped(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(t.TempDir(), "ran")
	c := exec.Command(self, mark)
	c.Env = append(os.Environ(), modeVar+"=dies")
	// Output ends when the starter and its child, who holds it too, are gone.
	out, err := c.CombinedOutput()
	if ws, ok := c.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != unix.SIGKILL {
		t.Fatalf("the starter ended with %v: %s", err, out)
	}
	if string(out) != "stopped" {
		t.Errorf("output %q, want stopped", out)
	}
	if _, err := os.Stat(mark); !os.IsNotExist(err) {
		t.Error("the program has run")
	}
}

func diesWhileStopped(mark string) int {
	_, err := rlimit.Start("/usr/bin/touch", []string{"touch", mark}, &syscall.ProcAttr{Files: []uintptr{0, 1, 2}}, rlimit.Limits{
		NoCore: true,
		Stopped: func(int) error {
			fmt.Print("stopped")
			return unix.Kill(os.Getpid(), unix.SIGKILL)
		},
	})
	fmt.Println("still alive:", err)
	return 1
}

func TestChildEndedWhileStopped(t *testing.T) {
	for name, end := range map[string]func(int) error{
		"dead":   func(pid int) error { return unix.Kill(pid, unix.SIGKILL) },
		"reaped": func(pid int) error { _ = unix.Kill(pid, unix.SIGKILL); _, err := rlimit.WallWait(pid); return err },
	} {
		var seen int
		_, _, err := start(t, rlimit.Limits{Stopped: func(pid int) error { seen = pid; return end(pid) }}, nil, "/bin/true")
		if !errors.Is(err, unix.ESRCH) {
			t.Errorf("%s: error %v, want ESRCH", name, err)
		}
		if _, err := rlimit.WallWait(seen); err != unix.ECHILD {
			t.Errorf("%s: a child is left to reap: %v", name, err)
		}
	}
}

func TestExecErrorsArePlain(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	garbage := filepath.Join(dir, "garbage")
	if err := os.WriteFile(garbage, []byte("\x00\x01"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		"/no/such": unix.ENOENT, plain: unix.EACCES, garbage: unix.ENOEXEC,
	} {
		pidfd := -1
		if _, _, err := start(t, rlimit.Limits{NoCore: true}, &syscall.SysProcAttr{PidFD: &pidfd}, path); err != want {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		if pidfd != -1 {
			t.Errorf("%s: pidfd %d left", path, pidfd)
		}
	}
}

// A signal that came during the exec must neither be lost nor set the program
// free. It is stood in for by queueing it together with a second SIGTRAP; the
// kernel hands out SIGILL before it, SIGHUP behind it.
func TestSignalsDuringTheExecReachTheProgram(t *testing.T) {
	for _, sig := range []unix.Signal{unix.SIGHUP, unix.SIGILL} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			runtime.LockOSThread() // the tracer must be one thread
			pid := stoppedWith(t, unix.SIGTRAP, sig)
			if err := rlimit.Release(pid, rlimit.Limits{NoCore: true}); err != nil {
				t.Errorf("%v: release: %v", sig, err)
				return
			}
			if ws, err := rlimit.WallWait(pid); err != nil || !ws.Signaled() || ws.Signal() != sig {
				t.Errorf("ended with %#x (%v), want %v", ws, err, sig)
			}
		}()
		<-done
	}
}

// stoppedWith starts a traced sleep, past its own stop, with signals queued.
func stoppedWith(t *testing.T, queue ...unix.Signal) int {
	pid, err := syscall.ForkExec("/bin/sleep", []string{"sleep", "60"}, &syscall.ProcAttr{Sys: &syscall.SysProcAttr{Ptrace: true}})
	if err != nil {
		t.Error(err)
		return 0
	}
	if _, err := rlimit.WallWait(pid); err != nil {
		t.Error(err)
	}
	for _, s := range queue {
		if err := unix.Kill(pid, s); err != nil {
			t.Error(err)
		}
	}
	if err := unix.PtraceCont(pid, 0); err != nil {
		t.Error(err)
	}
	return pid
}

func TestWithinARestrictedThread(t *testing.T) {
	s := confine.Supported()
	testneed.Kernel(t, s.OK(), "Landlock and seccomp: "+s.String())
	mark := filepath.Join(t.TempDir(), "ran")
	rules := confine.Rules{ReadOnly: true, NoNetwork: true, NoUnix: true}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var pid int
	err = confine.Run(rules, func() error {
		var err error
		pid, err = rlimit.Start("/bin/sh", []string{"sh", "-c", "cat /proc/self/limits; echo x >" + mark}, &syscall.ProcAttr{
			Env: []string{"PATH=/usr/bin:/bin"}, Files: []uintptr{w.Fd(), w.Fd(), w.Fd()},
		}, rlimit.Limits{OpenFiles: 33})
		return err
	})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if ws, err := rlimit.WallWait(pid); err != nil || ws.ExitStatus() != 2 {
		t.Errorf("the forbidden write ended with %#x (%v)", ws, err)
	}
	if got := limitLine(string(text), "Max open files"); got != "33 33 files" {
		t.Errorf("open files %q, want 33", got)
	}
	if _, err := os.Stat(mark); !os.IsNotExist(err) {
		t.Error("the restricted child has written")
	}
}

func TestStatusNumber(t *testing.T) {
	status := []byte("Name:\tx\nUid:\t1000\t0\t0\t0\nThreads:\t4\nBad:\nWorse:\tx\n")
	for key, want := range map[string]uint64{"Uid:": 1000, "Threads:": 4} {
		if got, ok := rlimit.StatusNumber(status, key); !ok || got != want {
			t.Errorf("%s %d %v, want %d", key, got, ok, want)
		}
	}
	for _, key := range []string{"Bad:", "Worse:", "None:"} {
		if got, ok := rlimit.StatusNumber(status, key); ok {
			t.Errorf("%s gives %d, want none", key, got)
		}
	}
}
