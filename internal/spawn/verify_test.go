package spawn_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/spawn"
	"snens/internal/testneed"
)

// Every way in which a child can differ from what was asked for is seen.
func TestVerify(t *testing.T) {
	testneed.Root(t)
	r := fallbackRunner(t)
	s := spec(open(t, "/bin/cat"), "cat")
	s.UID, s.GID, s.Groups, s.Umask = 4242, 4243, []uint32{7, 8}, 0o027
	var in, out [2]int
	if err := errors.Join(unix.Pipe2(in[:], unix.O_CLOEXEC), unix.Pipe2(out[:], unix.O_CLOEXEC)); err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, fd := range append(in[:], out[:]...) {
			unix.Close(fd)
		}
	}()
	s.Files = []int{in[0], out[1], spawn.NullFile}
	p := start(t, r, s)
	// What comes back shows that it has opened and closed whatever it needs.
	if _, err := unix.Write(in[1], []byte("x")); err != nil {
		t.Fatal(err)
	}
	if n, err := unix.Read(out[0], make([]byte, 9)); n != 1 {
		t.Fatal(n, err)
	}
	if err := spawn.Verify(s, p.PID()); err != nil {
		t.Fatal(err)
	}
	for words, change := range map[string]func(*spawn.Spec){
		"it runs inode":        func(s *spawn.Spec) { s.Program = open(t, "/bin/true") },
		"its uids are":         func(s *spawn.Spec) { s.UID = 0 },
		"its gids are":         func(s *spawn.Spec) { s.GID = 4242 },
		"its groups are":       func(s *spawn.Spec) { s.Groups = []uint32{7} },
		"its groups are ":      func(s *spawn.Spec) { s.Groups = []uint32{7, 8, 9} },
		"its umask is":         func(s *spawn.Spec) { s.Umask = 0o022 },
		"its descriptors are":  func(s *spawn.Spec) { s.Files = append(s.Files, 0) },
		"its descriptors are ": func(s *spawn.Spec) { s.Files = s.Files[:2] },
		"its folder is":        func(s *spawn.Spec) { s.Dir = chown(t, t.TempDir()) },
	} {
		other := s
		change(&other)
		contains(t, spawn.Verify(other, p.PID()), strings.TrimSpace(words))
	}
	// Of a process that leads no session of its own.
	c := exec.Command("/bin/sleep", "1000")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{}}
	c.Dir = "/"
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	own := spec(open(t, "/bin/sleep"), "sleep")
	own.Groups = nil
	umask := unix.Umask(0o022)
	unix.Umask(umask)
	own.Umask = uint32(umask)
	contains(t, spawn.Verify(own, c.Process.Pid), "its session is")
}

// A set-id program would lose its rights under another user at the first exec;
// it is refused rather than run without them. Root's takes on its owner, and a
// script may start any.
func TestSetIDPrograms(t *testing.T) {
	testneed.Root(t)
	dir := t.TempDir()
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		t.Fatal(err)
	}
	testneed.Kernel(t, fs.Flags&unix.ST_NOSUID == 0, "a folder for temporary files without nosuid")
	prog := copyFile(t, "/bin/cat", dir+"/cat")
	if err := os.Chmod(prog, 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	r := fallbackRunner(t)
	s := spec(open(t, prog), "cat", "/proc/self/status")
	s.UID, s.GID, s.Groups = 65534, 65534, nil
	_, err := r.Start(context.Background(), s)
	contains(t, err, "has a set-id bit")

	// The folders of a test are closed to others.
	for d := dir; d != os.TempDir(); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.Program = open(t, write(t, dir+"/script", "#!/bin/sh\nexec "+prog+" /proc/self/status\n", 0o755))
	if out, _ := output(t, r, s); !strings.Contains(out, "Uid:\t65534\t0\t0\t0\n") {
		t.Errorf("from a script: %s", out)
	}

	prog = copyFile(t, "/bin/cat", dir+"/other")
	if err := errors.Join(os.Chown(prog, 4242, 0), os.Chmod(prog, 0o755|os.ModeSetuid)); err != nil {
		t.Fatal(err)
	}
	p, err := spawn.NewOpener(4242).Open(prog)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if out, _ := output(t, r, spec(p, "cat", "/proc/self/status")); !strings.Contains(out, "Uid:\t0\t4242\t4242\t4242\n") {
		t.Errorf("as root: %s", out)
	}

	prog = copyFile(t, "/bin/cat", dir+"/caps")
	// Version 2, effective, CAP_NET_RAW permitted.
	if err := unix.Setxattr(prog, "security.capability", append([]byte{1, 0, 0, 2, 0, 0x20}, make([]byte, 14)...), 0); err != nil {
		t.Fatal(err)
	}
	s.Program = open(t, prog)
	_, err = r.Start(context.Background(), s)
	contains(t, err, "or capabilities")
}

// A start that hangs is given up, tells for how long its descriptors are needed,
// and does not run afterwards.
func TestAStartThatHangs(t *testing.T) {
	both(t, func(t *testing.T, r *spawn.Runner) {
		r.SetLastWait(time.Millisecond)
		s := sh(t, "echo ran >ran")
		release := make(chan struct{})
		ctx, cancel := context.WithCancel(context.Background())
		_, err := r.StartHeld(ctx, s, func() { cancel(); <-release })
		var e *spawn.StartError
		if !errors.As(err, &e) || e.Released == nil || !errors.Is(err, context.Canceled) {
			t.Fatalf("%v, want a start that hangs", err)
		}
		select {
		case <-e.Released:
			t.Error("it is said to be over")
		default:
		}
		close(release)
		<-e.Released
		if exists(s.Dir, "ran") {
			t.Error("it ran")
		}
	})
}

// Without root, and as a process that nobody may look into, it works for oneself.
func TestPrivately(t *testing.T) {
	testneed.Root(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for how, want := range map[string]string{
		"user":       "65534 65534 7\nexited 3; only root can become that",
		"undumpable": "0 0 0\nexited 3",
	} {
		c := exec.Command(exe, how)
		c.Args[0] = private
		c.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
		out, err := c.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q %v, want %q", how, got, err, want)
		}
	}
}

// actPrivately runs an action in a process of its own and says how it fared.
func actPrivately(how string) string {
	if how == "user" {
		if err := errors.Join(syscall.Setgroups([]int{7}), syscall.Setgid(65534), syscall.Setuid(65534)); err != nil {
			return err.Error()
		}
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err.Error()
	}
	r, err := spawn.NewRunner(nil)
	if err != nil {
		return err.Error()
	}
	prog, err := spawn.NewOpener(os.Geteuid()).Open("/bin/sh")
	if err != nil {
		return err.Error()
	}
	defer prog.Close()
	s := spec(prog, "sh", "-c", "echo $(id -u) $(id -g) $(id -G | tr ' ' '\\n' | grep -vx $(id -g) || echo $(id -g)); exit 3")
	s.Files = []int{spawn.NullFile, 1, 2}
	p, err := r.Start(context.Background(), s)
	if err != nil {
		return err.Error()
	}
	res := p.Result()
	<-p.Gone()
	text := fmt.Sprint(res.Outcome, " ", res.ExitCode)
	if how != "user" {
		return text
	}
	s.UID++
	if _, err := r.Start(context.Background(), s); err != nil {
		text += "; " + err.Error()[strings.LastIndex(err.Error(), "only"):]
	}
	return text
}
