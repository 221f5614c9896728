package client_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/broker/client"
	"snens/internal/peer"
	"snens/internal/testneed"
	"snens/internal/wire"
)

// listenAs listens as another uid: the kernel keeps who called listen. Only a
// thread that ends afterwards changes its uid.
func listenAs(t *testing.T, path string, uid int) net.Listener {
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
	return r.l
}

// Not a byte goes to a socket that another user serves.
func TestAFakeBrokerHearsNothing(t *testing.T) {
	testneed.Root(t)
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ is, want int }{{65534, 0}, {0, 65534}} {
		path := filepath.Join(dir, peer.UID(c.is).String())
		l := listenAs(t, path, c.is)
		_, err := client.Dial(context.Background(), client.Options{Socket: path, Listener: uint32(c.want)})
		var refused *client.Refused
		if !errors.As(err, &refused) || refused.Reason != action.ReasonUntrustedBroker || refused.ExitStatus() != action.ExitUnreachable {
			t.Errorf("%+v: %v", c, err)
		}
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if heard, err := io.ReadAll(conn); len(heard) != 0 || err != nil {
			t.Errorf("it heard %q, %v", heard, err)
		}
		conn.Close()
	}
}

func TestNobodyIsThere(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, "left")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: left, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{left, file, filepath.Join(dir, "none"), filepath.Join(dir, string(make([]byte, 200))), ""} {
		_, err := client.Dial(context.Background(), client.Options{Socket: path})
		var refused *client.Refused
		if !errors.As(err, &refused) || refused.Reason != action.ReasonUnreachable {
			t.Errorf("%q: %v", path, err)
		}
	}
}

// A broker whose queue is full is waited for, and not longer than ctx lasts.
func TestAFullQueue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrUnix{Name: path}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	first, err := net.Dial("unix", path) // fills the queue
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	var refused *client.Refused
	if _, err := client.Dial(ended, client.Options{Socket: path, Listener: uint32(os.Getuid())}); !errors.As(err, &refused) || !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
	done := make(chan error)
	go func() {
		c, err := client.Dial(context.Background(), client.Options{Socket: path, Listener: uint32(os.Getuid())})
		if err == nil {
			c.Close()
		}
		done <- err
	}()
	for range 2 {
		served, _, err := unix.Accept4(fd, unix.SOCK_CLOEXEC)
		if err != nil {
			t.Fatal(err)
		}
		f := os.NewFile(uintptr(served), "served")
		defer f.Close()
		_, _ = f.WriteString(`{"hello":{"version":1,"capabilities":[]}}` + "\n")
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// What a server can answer in place of a greeting.
func TestGreetings(t *testing.T) {
	for said, want := range map[string]int{
		`{"hello":{"version":2,"capabilities":[]}}`:                 action.ExitUnreachable,
		`{"id":null,"error":{"code":"busy","message":"too many"}}`:  action.ExitTryLater,
		`{"id":null,"error":{"code":"denied","message":"not you"}}`: action.ExitDenied,
		`220 mail.example.org ESMTP`:                                action.ExitUnreachable,
		``:                                                          action.ExitUnreachable,
	} {
		path := filepath.Join(t.TempDir(), "s")
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			_, _ = conn.Read(make([]byte, wire.MaxLineGreeting))
			_, _ = conn.Write([]byte(said + "\n"))
		}()
		if _, err := client.Dial(context.Background(), client.Options{Socket: path, Listener: uint32(os.Getuid())}); client.ExitStatus(err) != want {
			t.Errorf("%q: %v, exit status %d, want %d", said, err, client.ExitStatus(err), want)
		}
		l.Close()
		<-done
	}
}
