package sockets_test

import (
	"context"
	"net"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"snens/internal/sockets"
)

// systemd plays the other side of NOTIFY_SOCKET.
func systemd(t *testing.T, name string) func() string {
	t.Helper()
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return func() string {
		must(t, c.SetReadDeadline(time.Now().Add(10*time.Second)))
		b := make([]byte, 4096)
		n, err := c.Read(b)
		must(t, err)
		return string(b[:n])
	}
}

func TestNotifications(t *testing.T) {
	dir := folder(t)
	for name, socket := range map[string]string{"path": dir + "/notify", "abstract": "@snens-test" + dir} {
		t.Run(name, func(t *testing.T) {
			heard := systemd(t, socket)
			t.Setenv("NOTIFY_SOCKET", socket)
			n, err := sockets.FromEnv()
			must(t, err)
			if _, left := os.LookupEnv("NOTIFY_SOCKET"); left {
				t.Error("children would inherit NOTIFY_SOCKET")
			}
			for _, c := range []struct {
				say  error
				want string
			}{
				{n.Ready(), `^READY=1$`},
				{n.Status("serving\n2 READY=0\x00 é"), `^STATUS=serving 2 READY=0  é$`},
				{n.Reloading(), `^RELOADING=1\nMONOTONIC_USEC=[1-9][0-9]+$`},
				{n.Stopping(), `^STOPPING=1$`},
			} {
				must(t, c.say)
				if got := heard(); !regexp.MustCompile(c.want).MatchString(got) {
					t.Errorf("got %q, want %s", got, c.want)
				}
			}
		})
	}
}

func TestWatchdogIsFedWhileAlive(t *testing.T) {
	socket := folder(t) + "/notify"
	heard := systemd(t, socket)
	t.Setenv("NOTIFY_SOCKET", socket)
	t.Setenv("WATCHDOG_USEC", "2000")
	n, err := sockets.FromEnv()
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	asked := 0
	go func() {
		done <- n.Watch(ctx, func() bool {
			if asked++; asked > 3 {
				cancel()
				return false
			}
			return true
		})
	}()
	must(t, <-done)
	for range 3 {
		if got := heard(); got != "WATCHDOG=1" {
			t.Errorf("got %q", got)
		}
	}
	must(t, n.Stopping())
	if got := heard(); got != "STOPPING=1" {
		t.Errorf("fed after its end: %q", got)
	}
}

func TestNobodyToNotify(t *testing.T) {
	n, err := sockets.FromEnv()
	if n != nil || err != nil {
		t.Fatalf("got %v, %v", n, err)
	}
	must(t, n.Ready())
	must(t, n.Watch(t.Context(), func() bool { t.Error("asked"); return true }))

	t.Setenv("NOTIFY_SOCKET", folder(t)+"/none")
	n, err = sockets.FromEnv()
	must(t, err)
	contains(t, n.Ready(), "cannot notify")
	must(t, n.Watch(t.Context(), func() bool { t.Error("asked"); return true })) // no watchdog
}

func TestParseNotify(t *testing.T) {
	for _, c := range []struct{ env, want string }{
		{"", ""},
		{"NOTIFY_SOCKET=/run/x", ""},
		{"NOTIFY_SOCKET=@x,WATCHDOG_USEC=1,WATCHDOG_PID=7", ""},
		{"NOTIFY_SOCKET=@x,WATCHDOG_USEC=junk,WATCHDOG_PID=8", ""},
		{"NOTIFY_SOCKET=", "neither a path"},
		{"NOTIFY_SOCKET=@", "neither a path"},
		{"NOTIFY_SOCKET=x", "neither a path"},
		{"NOTIFY_SOCKET=vsock:2:1", "neither a path"},
		{"NOTIFY_SOCKET=/a\x00b", "neither a path"},
		{"NOTIFY_SOCKET=/" + strings.Repeat("x", 107), "neither a path"},
		{"NOTIFY_SOCKET=/x,WATCHDOG_USEC=0", "WATCHDOG_USEC"},
		{"NOTIFY_SOCKET=/x,WATCHDOG_USEC=1e6", "WATCHDOG_USEC"},
		{"NOTIFY_SOCKET=/x,WATCHDOG_USEC=86400000001", "WATCHDOG_USEC"},
		{"NOTIFY_SOCKET=/x,WATCHDOG_USEC=1,WATCHDOG_PID=", "WATCHDOG_PID"},
	} {
		_, err := sockets.ParseNotify(7, lookup(c.env))
		if c.want == "" && err != nil {
			t.Errorf("%q: %v", c.env, err)
		} else if c.want != "" {
			contains(t, err, c.want)
		}
	}
}

func FuzzStatus(f *testing.F) {
	f.Add("a\nMAINPID=1\r\x00\xff")
	f.Add(strings.Repeat("é", 200))
	f.Fuzz(func(t *testing.T, s string) {
		got := sockets.OneLine(s)
		if len(got) > 200 || !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r < ' ' }) {
			t.Fatalf("%q became %q", s, got)
		}
	})
}
