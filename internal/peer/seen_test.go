package peer_test

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
	"snens/internal/peer"
)

func TestHandleByPIDAndPIDReuse(t *testing.T) {
	cat := exec.Command("/bin/cat")
	stdin, err := cat.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cat.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cat.Process.Pid
	fd, how, err := peer.ByPID(pid)
	if err != nil || how != peer.BestEffort || how.String() != "best effort" {
		t.Fatalf("got %d, %v, %v", fd, how, err)
	}
	defer unix.Close(fd)
	s, err := peer.See(pid, fd)
	if err != nil || s.Exe == "" {
		t.Errorf("seen %+v, %v", s, err)
	}
	stdin.Close()
	if err := cat.Wait(); err != nil {
		t.Fatal(err)
	}
	// The pid is another's now (ours stands for it): the handle tells.
	if s, err := peer.See(os.Getpid(), fd); !errors.Is(err, peer.ErrGone) || s != (peer.Seen{}) {
		t.Errorf("seen of another process: %+v, %v", s, err)
	}
	if s, err := peer.See(pid, fd); !errors.Is(err, peer.ErrGone) || s != (peer.Seen{}) {
		t.Errorf("seen of none: %+v, %v", s, err)
	}
	if _, _, err := peer.ByPID(pid); !errors.Is(err, peer.ErrGone) {
		t.Errorf("opened again: %v", err)
	}
}

func TestParseLogin(t *testing.T) {
	for _, c := range []struct {
		text string
		uid  peer.UID
		has  bool
		ok   bool
	}{
		{"1000", 1000, true, true},
		{"0\n", 0, true, true},
		{"4294967295", 0, false, true},
		{"4294967294", 4294967294, true, true},
		{"4294967296", 0, false, false},
		{"-1", 0, false, false},
		{"", 0, false, false},
		{"1000 ", 0, false, false},
		{"1000\n0", 0, false, false},
	} {
		uid, has, err := peer.ParseLogin(c.text)
		if uid != c.uid || has != c.has || (err == nil) != c.ok {
			t.Errorf("%q: got %d, %t, %v", c.text, uid, has, err)
		}
	}
}

func TestParseCgroup(t *testing.T) {
	for _, c := range []struct {
		text, want string
		ok         bool
	}{
		{"0::/\n", "/", true},
		{"12:cpu,cpuacct:/x\n1:name=systemd:/y\n0::/system.slice/a:b.service (deleted)\n", "/system.slice/a:b.service (deleted)", true},
		{"1:name=systemd:0::/y\n", "", true},
		{"", "", true},
		{"0::/a\n0::/b\n", "", false},
		{"0::\n", "", false},
		{"0::relative\n", "", false},
	} {
		got, err := peer.ParseCgroup(c.text)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("%q: got %q, %v", c.text, got, err)
		}
	}
}

func TestFullMap(t *testing.T) {
	for text, want := range map[string]bool{
		"         0          0 4294967295\n": true,
		"0 1000 1\n":                         false,
		"0 0 1\n1 100000 65536\n":            false,
		"0 0 4294967294\n":                   false,
		"":                                   false,
	} {
		if got := peer.FullMap(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
