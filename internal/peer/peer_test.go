package peer_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"snens/internal/peer"
	"snens/internal/testneed"
)

func TestIdentityIsTheKernels(t *testing.T) {
	testneed.Root(t)
	many := make([]int, 300) // more than one look-up takes at first
	for i := range many {
		many[i] = 70_000 + i
	}
	for _, c := range []struct {
		name     string
		uid, gid int
		groups   []int
	}{
		{"a user", 1234, 2345, []int{7, 3, 2345, 3}},
		{"no other groups", 1235, 2346, nil},
		{"nobody", 65534, 65534, nil},
		{"a uid above 2^31", 4_000_000_000, 4_000_000_001, []int{4_294_967_294}},
		{"many groups", 1236, 1, many},
		{"root", 0, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("SUDO_UID", "0") // a claim that nobody listens to
			l, path := listen(t)
			other := start(t, job{Do: "stay", Path: path, UID: c.uid, GID: c.gid, Groups: c.groups})
			p := identify(t, l)
			if p.UID != peer.UID(c.uid) || p.GID != peer.GID(c.gid) || p.PID != other.Process.Pid {
				t.Errorf("got %s, want uid %d, gid %d, pid %d", p, c.uid, c.gid, other.Process.Pid)
			}
			if c.uid != 0 { // root keeps whatever groups the tests run with
				want := []peer.GID{peer.GID(c.gid)}
				for _, g := range c.groups {
					want = append(want, peer.GID(g))
				}
				slices.Sort(want)
				if want = slices.Compact(want); !slices.Equal(p.Groups, want) {
					t.Errorf("groups are %v, want %v", p.Groups, want)
				}
				if !p.InGroup(want[0]) || p.InGroup(999_999) {
					t.Error("InGroup is wrong")
				}
			}
			self, err := os.Executable()
			if err != nil || p.Seen.Exe != self {
				t.Errorf("exe is %q, want %q (%v)", p.Seen.Exe, self, err)
			}
			if want := cgroupOf(t, p.PID); p.Seen.Cgroup != want {
				t.Errorf("cgroup is %q, want %q", p.Seen.Cgroup, want)
			}
		})
	}
}

func cgroupOf(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	_, path, _ := strings.Cut("\n"+string(text), "\n0::")
	path, _, _ = strings.Cut(path, "\n")
	return path
}

func TestLoginUIDIsSeen(t *testing.T) {
	testneed.Root(t)
	_, err := os.Stat("/proc/self/loginuid")
	testneed.Kernel(t, err == nil, "the audit system")
	l, path := listen(t)
	start(t, job{Do: "stay", Path: path, UID: 1234, GID: 1234, Login: "4242"})
	if p := identify(t, l); !p.Seen.HasLogin || p.Seen.LoginUID != 4242 {
		t.Errorf("seen %+v", p.Seen)
	}
}

// The client's socket may have any name; nothing is read from it.
func TestNameOfTheClientsSocketSaysNothing(t *testing.T) {
	testneed.Root(t)
	l, path := listen(t)
	start(t, job{Do: "bound", Path: path, UID: 1234, GID: 1234, Local: openDir(t) + "/pid=1;uid=0;socket=\n\x01uid=0;"})
	if p := identify(t, l); p.UID != 1234 {
		t.Errorf("got %s", p)
	}
}

func TestIdentityStaysWhenTheProcessEnds(t *testing.T) {
	testneed.Root(t)
	l, path := listen(t)
	other := start(t, job{Do: "stay", Path: path, UID: 1234, GID: 1234})
	p := identify(t, l)
	if !p.Alive() {
		t.Error("it is said to have ended")
	}
	before := p.String()
	other.stdin.Close()
	if err := other.Wait(); err != nil {
		t.Fatal(err)
	}
	if p.Alive() || p.String() != before || p.UID != 1234 {
		t.Errorf("after its end: %s, alive %t", p, p.Alive())
	}
	p.Close()
	p.Close()
	if p.Alive() {
		t.Error("a closed peer is alive")
	}
}

// Who connected, passed the connection to a child and ended cannot be told any
// more: what has its pid by now is somebody else.
func TestConnectForkExitIsRefused(t *testing.T) {
	for _, reaped := range []bool{false, true} {
		t.Run("reaped "+strconv.FormatBool(reaped), func(t *testing.T) {
			l, path := listen(t)
			other := start(t, job{Do: "fork", Path: path})
			if reaped {
				other.WaitDelay = 1 // the child has the pipes
				_ = other.Wait()
			} else {
				ended(t, other.Process.Pid)
			}
			p, err := peer.Identify(accept(t, l))
			if !errors.Is(err, peer.ErrGone) || p != nil {
				t.Errorf("got %v, %v", p, err)
			}
		})
	}
}

// 10,000 clients that send and close at once: each is who it is or refused.
func TestImmediateCloseIsNeverAnotherUser(t *testing.T) {
	testneed.Root(t)
	const times = 10_000
	l, path := listen(t)
	c := command(t, job{Do: "storm", Path: path, UID: 1234, GID: 1234, Times: times})
	c.Stdout = os.Stdout
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() {
		err := c.Wait()
		if err != nil {
			l.Close() // nobody comes any more
		}
		result <- err
	}()
	defer func() {
		l.Close()
		if err := <-result; err != nil {
			t.Error(err)
		}
	}()
	refused := 0
	for i := range times {
		conn, err := l.AcceptUnix()
		if err != nil {
			t.Fatal(err)
		}
		user, uerr := peer.User(conn)
		p, err := peer.Identify(conn)
		switch {
		case err != nil && p == nil:
			refused++
		case uerr != nil || user != 1234:
			t.Fatalf("connection %d: user %s, %v", i, user, uerr)
		case err != nil || p.UID != 1234 || p.GID != 1234:
			t.Fatalf("connection %d: %v, %v", i, p, err)
		default:
			p.Close()
		}
		conn.Close()
	}
	if refused == times {
		t.Error("all were refused")
	}
}

// Seen from another namespace the peer has no user or no process: no identity.
func TestStrangersOfOtherNamespacesAreRefused(t *testing.T) {
	testneed.Root(t)
	for _, c := range []struct {
		name string
		attr syscall.SysProcAttr
		want string
	}{
		{"users", syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 1234, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 1234, Size: 1}},
		}, "stands for all that have no number"},
		{"processes", syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}, "names no process"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(fds[1])
			f := os.NewFile(uintptr(fds[0]), "pair")
			defer f.Close()
			cmd := command(t, job{Do: "identify"})
			cmd.SysProcAttr = &c.attr
			cmd.ExtraFiles = []*os.File{f}
			out, err := cmd.Output()
			var exit *exec.ExitError
			testneed.Kernel(t, err == nil || errors.As(err, &exit), "namespaces of "+c.name)
			if err != nil || !strings.Contains(string(out), c.want) || !strings.HasPrefix(string(out), "<nil>") {
				t.Errorf("got %s (%v), want %q", out, err, c.want)
			}
		})
	}
}

func TestNotConnectedIsRefused(t *testing.T) {
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: t.TempDir() + "/d", Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = peer.Identify(c)
	contains(t, err, "not connected")
	if uid, err := peer.User(c); err == nil {
		t.Errorf("its user is %s", uid)
	}
	c.Close()
	_, err = peer.Identify(c)
	contains(t, err, "closed")
}

func TestListenerIsChecked(t *testing.T) {
	testneed.Root(t)
	dial := func(path string) *net.UnixConn {
		c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	fake := openDir(t) + "/s"
	start(t, job{Do: "listen", Path: fake, UID: 1234, GID: 1234})
	// Root may make the socket look like its own: it is the listener that counts.
	if err := os.Chown(fake, 0, 0); err != nil {
		t.Fatal(err)
	}
	var e *peer.ListenerError
	err := peer.Listener(dial(fake), 0)
	if !errors.As(err, &e) || !e.Known || e.Got != 1234 || e.Want != 0 {
		t.Errorf("a fake is taken for the broker: %v", err)
	}
	contains(t, err, "uid 1234 listens on it, not uid 0")
	if err := peer.Listener(dial(fake), 1234); err != nil {
		t.Errorf("one's own: %v", err)
	}
	_, path := listen(t)
	if err := peer.Listener(dial(path), 0); err != nil {
		t.Errorf("root's: %v", err)
	}
	if err := peer.Listener(dial(path), 1234); !errors.As(err, &e) || e.Got != 0 {
		t.Errorf("root's in place of one's own: %v", err)
	}
	closed := dial(path)
	closed.Close()
	if err := peer.Listener(closed, 0); !errors.As(err, &e) || e.Known {
		t.Errorf("a closed connection: %v", err)
	}
}
