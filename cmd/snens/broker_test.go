package main

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snens/internal/testneed"
)

// listenAs listens on a Unix socket as uid: the kernel keeps who called listen.
// Only a thread that ends afterwards changes its uid.
func listenAs(t *testing.T, path string, uid int) {
	t.Helper()
	type result struct {
		l   net.Listener
		err error
	}
	made := make(chan result)
	go func() {
		runtime.LockOSThread()
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), uintptr(uid), ^uintptr(0)); errno != 0 {
			made <- result{nil, errno}
			return
		}
		l, err := net.Listen("unix", path)
		made <- result{l, err}
	}()
	r := <-made
	if r.err != nil {
		t.Fatal(r.err)
	}
	t.Cleanup(func() { r.l.Close() })
}

// A socket that another user listens on is no broker, wherever its path is from.
func TestAFakeBrokerIsNone(t *testing.T) {
	testneed.Root(t)
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	fake, roots := filepath.Join(dir, "fake"), filepath.Join(dir, "roots")
	listenAs(t, fake, 65534)
	listenAs(t, roots, 0)
	for path, want := range map[string]string{
		fake:                       "none: the listener at " + fake + " is not root's but uid 65534's",
		roots:                      "listening at " + roots,
		filepath.Join(dir, "gone"): "none: there is no " + filepath.Join(dir, "gone"),
	} {
		a := &app{env: []string{"SNENS_PRIV=" + path}}
		if s := a.broker(); s.Text != want || s.Reachable != strings.HasPrefix(want, "listening") || s.Socket != path {
			t.Errorf("%+v, want %q", s, want)
		}
	}
}
