package sockets_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
	"snens/internal/sockets"
)

// jobVar makes the test binary a program that plays another process.
const jobVar = "SNENS_TEST_SOCKETS_JOB"

type job struct {
	Do    string // "crowd", "own", "passed"
	Path  string
	UID   int
	Times int
	Say   string   // what each of a crowd says
	Names []string // that "passed" expects
	Owner string   // LISTEN_PID, for "passed"; "self" for the process itself
}

func TestMain(m *testing.M) {
	if text := os.Getenv(jobVar); text != "" {
		if err := play(text); err != nil {
			fmt.Println("cannot play:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func play(text string) error {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	if j.UID != 0 {
		if err := syscall.Setgroups(nil); err != nil {
			return err
		}
		if err := syscall.Setgid(j.UID); err != nil {
			return err
		}
		if err := syscall.Setuid(j.UID); err != nil {
			return err
		}
	}
	return jobs[j.Do](j)
}

var jobs = map[string]func(job) error{
	"crowd": crowd,
	"own": func(j job) error {
		s, err := sockets.Listen(j.Path, sockets.Perm{Mode: 0o600})
		if err != nil {
			return err
		}
		defer s.Close()
		fmt.Println("ready")
		return waitForStdin()
	},
	"passed": func(j job) error {
		if j.Owner == "self" {
			j.Owner = strconv.Itoa(os.Getpid())
		}
		os.Setenv("LISTEN_PID", j.Owner)
		found, err := sockets.Passed(j.Names...)
		for name, l := range found {
			fmt.Println(name, l.Addr())
			l.Close()
		}
		fmt.Println("error:", err)
		for _, v := range os.Environ() {
			if strings.HasPrefix(v, "LISTEN_") {
				fmt.Println("left:", v)
			}
		}
		for fd := 3; fd < 6; fd++ {
			if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
				fmt.Println("inherited:", fd)
			}
		}
		return nil
	},
}

// crowd connects many times and keeps as many open as it may.
func crowd(j job) error {
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
		return err
	}
	keep := make([]int, min(j.Times, int(lim.Cur)-100))
	for i := range j.Times {
		if i >= len(keep) {
			unix.Close(keep[i%len(keep)])
		}
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		keep[i%len(keep)] = fd
		// Blocking, so that a full queue is waited for.
		for err = unix.EINTR; err == unix.EINTR; {
			err = unix.Connect(fd, &unix.SockaddrUnix{Name: j.Path})
		}
		if err != nil {
			return err
		}
		_ = unix.Sendto(fd, []byte(j.Say), unix.MSG_NOSIGNAL, nil)
	}
	fmt.Println("ready")
	return waitForStdin()
}

func waitForStdin() error {
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

func command(t *testing.T, j job) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), jobVar+"="+string(text), "GORACE=atexit_sleep_ms=0")
	c.Stderr = os.Stderr
	return c
}

// start starts a job and waits until it is ready; end ends it.
func start(t *testing.T, j job) (c *exec.Cmd, end func()) {
	t.Helper()
	c = command(t, j)
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	end = func() { stdin.Close(); _ = c.Wait() }
	t.Cleanup(end)
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	return c, end
}

// folder is one that the rules trust and every uid may enter.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sockets")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func dial(t *testing.T, path string) *net.UnixConn {
	t.Helper()
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func contains(t *testing.T, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("got %v, want an error with %q", err, words)
	}
}

// entries are the names in a folder.
func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	must(t, err)
	names := []string{}
	for _, e := range list {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	return names
}

// openFDs counts what this process has open.
func openFDs(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(list)
}
