package engine_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"snens/supervisor/call"
	"snens/supervisor/engine"
)

func TestMain(m *testing.M) {
	if mode := os.Getenv("ENGINE_TEST_SUPERVISOR"); mode != "" {
		supervisorOfOne(mode == "fallback", os.Getenv("ENGINE_TEST_DIR"))
		return
	}
	if home := os.Getenv("ENGINE_TEST_HOME"); home != "" {
		inKilledGroup(home, os.Getenv("ENGINE_TEST_PROBE") != "")
		return
	}
	goleak.VerifyTestMain(m)
}

// both runs f under every way of supervision this machine has: a cgroup per
// call and the fallback.
func both(t *testing.T, f func(t *testing.T, e *engine.Engine)) {
	t.Helper()
	for _, no := range []bool{false, true} {
		name := "cgroup"
		if no {
			name = "fallback"
		}
		t.Run(name, func(t *testing.T) {
			e, err := engine.New(engine.Options{NoCgroup: no})
			if err != nil {
				t.Fatal(err)
			}
			if _, exact := e.Supervision(); exact == no {
				if !no {
					needGroups(t)
				}
				t.Fatalf("supervision is exact: %v", exact)
			}
			f(t, e)
		})
	}
}

var ids int

// sh is a call of a shell command in a folder of its own.
func sh(t *testing.T, script string) engine.Spec {
	t.Helper()
	ids++
	return engine.Spec{
		Tool: "sh", CallID: call.ID(fmt.Sprintf("T%d-%d", os.Getpid(), ids)),
		Path: "/bin/sh", Argv: []string{"sh", "-c", script},
		Env: []string{"PATH=/usr/bin:/bin", "SNENS_CALL_ID=" + fmt.Sprintf("T%d-%d", os.Getpid(), ids)},
		Dir: t.TempDir(), Timeout: time.Minute, Grace: time.Minute, SpillMax: 1 << 30,
	}
}

// until waits for cond, which something outside this process brings about.
func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(30 * time.Second)
	for !cond() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited 30 s for: %s", what)
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// pidIn reads a pid that a script wrote, waiting for it.
func pidIn(t *testing.T, path string) int {
	t.Helper()
	pid := 0
	until(t, "a pid in "+filepath.Base(path), func() bool {
		b, _ := os.ReadFile(path)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
		return pid > 0 && bytes.HasSuffix(b, []byte("\n"))
	})
	return pid
}

func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	return f[0] != "Z" && f[0] != "X"
}

func mustBeGone(t *testing.T, pid int) {
	t.Helper()
	if alive(pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Errorf("process %d is still alive", pid)
	}
}

func TestEndings(t *testing.T) {
	both(t, func(t *testing.T, e *engine.Engine) {
		for _, c := range []struct {
			script, stdout, stderr, content string
			class                           call.Class
			exit                            int
		}{
			{"echo hi", "hi\n", "", "hi\n", call.ClassOK, 0},
			{"echo hi; echo oops >&2", "hi\n", "oops\n", "hi\n", call.ClassOK, 0},
			{"echo oops >&2", "", "oops\n", "[stderr]\noops\n", call.ClassOK, 0},
			{"echo hi; echo oops >&2; exit 2", "hi\n", "oops\n", "hi\n[stderr]\noops\nexit 2", call.ClassError, 2},
			{"printf hi; exit 255", "hi", "", "hi\nexit 255", call.ClassError, 255},
			{"kill -9 $$", "", "", "killed by SIGKILL", call.ClassSignal, 137},
			{"echo a; kill -TERM $$", "a\n", "", "a\nkilled by SIGTERM", call.ClassSignal, 143},
			{"kill -35 $$", "", "", "killed by SIG35", call.ClassSignal, 163},
		} {
			r := e.Run(sh(t, c.script))
			if *r.Stdout != c.stdout || *r.Stderr != c.stderr || r.Content != c.content || r.Class != c.class || r.ExitStatus() != c.exit {
				t.Errorf("%s: stdout %q stderr %q content %q class %s exit %d, want %q %q %q %s %d",
					c.script, *r.Stdout, *r.Stderr, r.Content, r.Class, r.ExitStatus(), c.stdout, c.stderr, c.content, c.class, c.exit)
			}
			if r.OK != (c.class == call.ClassOK) || r.OutputOpen || r.TimedOut || r.Cancelled || len(r.Survivors) != 0 || r.Ours() {
				t.Errorf("%s: record %+v", c.script, r)
			}
			if (r.Signal == nil) == (r.ExitCode == nil) {
				t.Errorf("%s: exactly one of exit_code and signal must be set", c.script)
			}
		}
	})
}

func TestClassify(t *testing.T) {
	e := newEngine(t)
	s := sh(t, "exit 1")
	s.Classify = func(code int) call.Class {
		if code == 1 {
			return call.ClassEmpty
		}
		return call.ClassError
	}
	if r := e.Run(s); !r.OK || r.Class != call.ClassEmpty || r.Content != "" || r.ExitStatus() != 1 {
		t.Errorf("ok=%v class=%s content=%q exit=%d", r.OK, r.Class, r.Content, r.ExitStatus())
	}
}

func newEngine(t *testing.T) *engine.Engine {
	t.Helper()
	e, err := engine.New(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The shape of the child: its own session, no terminal, three descriptors, the
// exact argv and environment.
func TestWhatTheChildGets(t *testing.T) {
	stray, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer stray.Close()
	both(t, func(t *testing.T, e *engine.Engine) {
		// A descriptor inherited without close-on-exec, as from a shell's 9>file.
		if _, _, errno := syscall.Syscall(syscall.SYS_DUP3, stray.Fd(), 57, 0); errno != 0 {
			t.Fatal(errno)
		}
		defer syscall.Close(57)
		e2, err := engine.New(engine.Options{NoCgroup: true}) // marks what is open
		if err != nil {
			t.Fatal(err)
		}
		_ = e2
		s := sh(t, `echo /proc/self/fd/*; ps -o sid=,tty= -p $$; echo $$; (: </dev/tty) 2>/dev/null && echo tty; env; pwd; readlink /proc/self/fd/0`)
		r := e.Run(s)
		lines := strings.Split(*r.Stdout, "\n")
		// the shell's glob itself opens the folder: one more descriptor, 3
		if lines[0] != "/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3" {
			t.Errorf("descriptors %q", lines[0])
		}
		if f := strings.Fields(lines[1]); len(f) != 2 || f[0] != strings.TrimSpace(lines[2]) || f[1] != "?" {
			t.Errorf("session and terminal %q of pid %s", lines[1], lines[2])
		}
		if strings.Contains(*r.Stdout, "\ntty\n") {
			t.Error("the child could open a terminal")
		}
		want := append(slices.Clone(s.Env), "PWD="+s.Dir)
		for _, l := range lines[3:] {
			if strings.Contains(l, "=") && !slices.Contains(want, l) {
				t.Errorf("environment has %q", l)
			}
		}
		if got := lines[len(lines)-3:]; got[0] != s.Dir || got[1] != "/dev/null" {
			t.Errorf("cwd and stdin %q", got)
		}
	})
}

func TestStdin(t *testing.T) {
	e := newEngine(t)
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB
	for _, c := range []struct {
		name, script string
		in           []byte
		out          string
	}{
		{"read to the end", "wc -c", big, "1048576\n"},
		{"empty is not the null file", "wc -c; [ -p /proc/self/fd/0 ] && echo pipe", []byte{}, "0\npipe\n"},
		{"never read", "echo done", big, "done\n"},
		{"closed early", "head -c 4; exec <&-; echo; echo done", big, "0123\ndone\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := sh(t, c.script)
			s.StdinBytes = c.in
			if r := e.Run(s); !r.OK || *r.Stdout != c.out {
				t.Errorf("ok=%v stdout %q, want %q", r.OK, *r.Stdout, c.out)
			}
		})
	}
}

func TestPassMode(t *testing.T) {
	e := newEngine(t)
	in, out := filepath.Join(t.TempDir(), "in"), filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(in, []byte("from the caller\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fin, _ := os.Open(in)
	defer fin.Close()
	fout, _ := os.Create(out)
	defer fout.Close()
	s := sh(t, "cat; echo err >&2; exit 3")
	s.Mode, s.Stdin, s.Stdout, s.Stderr = engine.Pass, fin, fout, fout
	r := e.Run(s)
	if b, _ := os.ReadFile(out); string(b) != "from the caller\nerr\n" {
		t.Errorf("output %q", b)
	}
	if r.ExitStatus() != 3 || r.Capture || r.Stdout != nil || r.Stderr != nil || r.Truncated != nil || r.Spill != nil {
		t.Errorf("record %+v", r)
	}
}

func TestJSONAndBinaryOutput(t *testing.T) {
	e := newEngine(t)
	s := sh(t, `echo '{"n": 12345678901234567890}'`)
	s.JSONOutput = true
	if r := e.Run(s); string(r.Data) != `{"n": 12345678901234567890}` {
		t.Errorf("data %s", r.Data)
	}
	s = sh(t, `echo nonsense`)
	s.JSONOutput = true
	if r := e.Run(s); r.Data != nil || !strings.Contains(r.Content, "[stdout was to be JSON of at most 64 levels and is not]") {
		t.Errorf("data %s content %q", r.Data, r.Content)
	}
	for _, odd := range []string{
		`printf '"\377"'`, // not UTF-8
		`printf '[%.0s' $(seq 65); printf ']%.0s' $(seq 65)`,
	} {
		s = sh(t, odd)
		s.JSONOutput = true
		if r := e.Run(s); r.Data != nil || !r.OK {
			t.Errorf("%s: data %s", odd, r.Data)
		}
	}
	s = sh(t, `printf '{"[": "[[\\"[["}'; for i in $(seq 64); do printf ' '; done`)
	s.JSONOutput = true
	if r := e.Run(s); string(r.Data) != `{"[": "[[\"[["}` {
		t.Errorf("data %s", r.Data)
	}
	s = sh(t, `head -c 1000000 /dev/zero`)
	s.HeadTail, s.SpillDir, s.SpillMax = 10, filepath.Join(s.Dir, "none"), 0
	if r := e.Run(s); r.Spill != nil || exists(s.SpillDir) || r.Truncated.Stdout != 1000000 {
		t.Errorf("spill_max 0: %+v", r.Spill)
	}
	s = sh(t, `printf 'a\0b'`)
	s.Binary, s.SpillDir = true, filepath.Join(s.Dir, "spill")
	r := e.Run(s)
	if b, _ := os.ReadFile(r.Spill.Stdout); string(b) != "a\x00b" || *r.Stdout != "" || r.Truncated.Stdout != 3 {
		t.Errorf("file %q record %+v", b, r)
	}
}

func TestSecretsAreRedactedEverywhere(t *testing.T) {
	e := newEngine(t)
	s := sh(t, `for i in $(seq 2000); do echo "key is $KEY now"; echo "and $KEY" >&2; done; exit 1`)
	s.Env = append(s.Env, "KEY=hunter2hunter2")
	s.Secrets, s.HeadTail, s.SpillDir = [][]byte{[]byte("hunter2hunter2")}, 64, filepath.Join(s.Dir, "spill")
	r := e.Run(s)
	out, _ := os.ReadFile(r.Spill.Stdout)
	errs, _ := os.ReadFile(r.Spill.Stderr)
	if strings.Count(string(out), "key is [redacted] now\n") != 2000 || strings.Count(string(errs), "and [redacted]\n") != 2000 {
		t.Error("the spill files are not the streams with the secret replaced")
	}
	for _, text := range []string{r.Content, *r.Stdout, *r.Stderr, string(out), string(errs)} {
		if strings.Contains(text, "hunter2") {
			t.Errorf("a secret is left in %q", text)
		}
	}
}
