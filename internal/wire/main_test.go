package wire_test

import (
	"errors"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
	"snens/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sockets is a connected pair. Both ends are closed with the test.
func sockets(t testing.TB) (*net.UnixConn, *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	return unixConn(t, fds[0]), unixConn(t, fds[1])
}

func unixConn(t testing.TB, fd int) *net.UnixConn {
	t.Helper()
	f := os.NewFile(uintptr(fd), "pair")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*net.UnixConn)
}

func newConn(t testing.TB, uc *net.UnixConn, o wire.Options) *wire.Conn {
	t.Helper()
	c, err := wire.New(uc, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.End)
	return c
}

// serverAndRaw is a greeted server's end and the bare socket of its client.
func serverAndRaw(t testing.TB, o wire.Options) (*wire.Conn, *net.UnixConn) {
	t.Helper()
	a, b := sockets(t)
	c := newConn(t, a, o)
	c.Greeted()
	return c, b
}

func write(t testing.TB, c *net.UnixConn, s string) {
	t.Helper()
	if _, err := c.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
}

func wantCode(t testing.TB, err error, code wire.Code, words string) {
	t.Helper()
	var e *wire.Error
	if !errors.As(err, &e) || e.Code != code || !strings.Contains(e.Message, words) {
		t.Errorf("got %v, want %s with %q", err, code, words)
	}
}

// eventually polls until have is true; ten seconds are the end.
func eventually(t testing.TB, what string, have func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !have(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("still not: %s", what)
		}
	}
}

// openFDs lists what this process has open.
func openFDs(t testing.TB) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		target, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && !strings.Contains(target, "/proc/") {
			out = append(out, e.Name()+" "+target)
		}
	}
	slices.Sort(out)
	return out
}

// sameFDs checks at the end of the test that nothing was left open.
func sameFDs(t testing.TB) {
	t.Helper()
	before := openFDs(t)
	t.Cleanup(func() {
		if after := openFDs(t); !slices.Equal(before, after) {
			t.Errorf("descriptors leak:\nbefore %q\nafter  %q", before, after)
		}
	})
}

// unread is how many bytes the peer of a socket has not read yet, as the
// kernel counts them for its sender: with its own overhead, 0 for none.
func unread(t testing.TB, c *net.UnixConn) int {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	n := -1
	if cerr := raw.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), unix.TIOCOUTQ) }); cerr != nil || err != nil {
		t.Fatal(cerr, err)
	}
	return n
}
