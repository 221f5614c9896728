package peer_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
	"snens/internal/peer"
)

// jobVar makes the test binary a program that plays the other side.
const jobVar = "SNENS_TEST_PEER_JOB"

// job is what the program is to do, as whom.
type job struct {
	Do       string // "stay", "bound", "fork", "storm", "listen", "identify"
	Path     string // of the socket
	UID, GID int
	Groups   []int
	Login    string // its audit login, when not empty
	Local    string // the name of the client's own socket, for "bound"
	Times    int    // for "storm"
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
		if err := syscall.Setgroups(j.Groups); err != nil {
			return err
		}
		if err := syscall.Setgid(j.GID); err != nil {
			return err
		}
		if err := syscall.Setuid(j.UID); err != nil {
			return err
		}
	}
	return jobs[j.Do](j)
}

var jobs = map[string]func(job) error{
	"stay":  func(j job) error { return connect(j, nil, waitForStdin) },
	"bound": func(j job) error { return connect(j, &net.UnixAddr{Name: j.Local, Net: "unix"}, waitForStdin) },
	// A child keeps the connection and stdin, we are gone.
	"fork": func(j job) error {
		return connect(j, nil, func(c *net.UnixConn) error {
			f, err := c.File()
			if err != nil {
				return err
			}
			child := exec.Command("/bin/cat")
			child.Stdin = os.Stdin
			child.ExtraFiles = []*os.File{f}
			return child.Start()
		})
	},
	"storm": func(j job) error {
		for range j.Times {
			// Blocking, so that a full queue is waited for.
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			for err = unix.EINTR; err == unix.EINTR; {
				err = unix.Connect(fd, &unix.SockaddrUnix{Name: j.Path})
			}
			if err != nil {
				return err
			}
			_, _ = unix.Write(fd, []byte("x"))
			unix.Close(fd)
		}
		return nil
	},
	"listen": func(j job) error {
		l, err := net.Listen("unix", j.Path)
		if err != nil {
			return err
		}
		defer l.Close()
		fmt.Println("ready")
		return waitForStdin(nil)
	},
	// Identifies the peer of descriptor 3 and prints what came of it.
	"identify": func(job) error {
		c, err := net.FileConn(os.NewFile(3, "conn"))
		if err != nil {
			return err
		}
		p, err := peer.Identify(c.(*net.UnixConn))
		fmt.Println(p, err)
		return nil
	},
}

func connect(j job, local *net.UnixAddr, then func(*net.UnixConn) error) error {
	c, err := net.DialUnix("unix", local, &net.UnixAddr{Name: j.Path, Net: "unix"})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	return then(c)
}

func waitForStdin(*net.UnixConn) error {
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// player is a running job. It ends when its stdin is closed.
type player struct {
	*exec.Cmd
	stdin io.Closer
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
	if j.Login != "" {
		// Only a process's first thread may write it; a shell has no other.
		c = exec.Command("/bin/sh", "-c", `echo "$1" >/proc/self/loginuid && exec "$0"`, self, j.Login)
	}
	c.Env = append(os.Environ(), jobVar+"="+string(text), "GORACE=atexit_sleep_ms=0")
	c.Stderr = os.Stderr
	return c
}

// start starts a job and waits until it says that it is ready.
func start(t *testing.T, j job) *player {
	t.Helper()
	p := &player{Cmd: command(t, j)}
	stdin, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdin = stdin
	stdout, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close(); _ = p.Wait() })
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the other side says %q, %v", line, err)
	}
	return p
}

// listen makes a socket that every uid can reach.
func listen(t *testing.T) (*net.UnixListener, string) {
	t.Helper()
	path := openDir(t) + "/s"
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	return l, path
}

// openDir is a folder of the test that every uid may use.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "peer")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

func accept(t *testing.T, l *net.UnixListener) *net.UnixConn {
	t.Helper()
	c, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func identify(t *testing.T, l *net.UnixListener) *peer.Peer {
	t.Helper()
	p, err := peer.Identify(accept(t, l))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// ended waits until the process is a zombie or gone.
func ended(t *testing.T, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err == unix.ESRCH {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(p, 10_000)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			t.Fatalf("process %d does not end: %v", pid, err)
		}
		return
	}
}

func contains(t *testing.T, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("got %v, want an error with %q", err, words)
	}
}
