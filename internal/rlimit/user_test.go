package rlimit_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"snens/internal/rlimit"
	"snens/internal/testneed"
)

const nobody = 65534

func TestProcessesRefusedWhereNotEnforced(t *testing.T) {
	testneed.Root(t)
	_, _, err := start(t, rlimit.Limits{Processes: 10}, nil, "/bin/true")
	if !errors.Is(err, rlimit.ErrProcesses) {
		t.Errorf("as root: %v, want ErrProcesses", err)
	}
}

// Another user's child can only be limited with CAP_SYS_RESOURCE; without it
// the start fails with words and leaves nothing.
func TestOtherUsersChild(t *testing.T) {
	testneed.Root(t)
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&head, &data[0]); err != nil {
		t.Fatal(err)
	}
	sys := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	pid, _, err := start(t, rlimit.Limits{OpenFiles: 20, Processes: 100}, sys, "/bin/true")
	if data[0].Effective&(1<<unix.CAP_SYS_RESOURCE) != 0 {
		if err != nil {
			t.Fatal(err)
		}
		if ws, err := rlimit.WallWait(pid); err != nil || ws != 0 {
			t.Errorf("true: %#x %v", ws, err)
		}
		return
	}
	if !errors.Is(err, unix.EPERM) || !strings.Contains(err.Error(), "lacks CAP_SYS_RESOURCE") {
		t.Errorf("error %v, want EPERM with the reason", err)
	}
}

// An unprivileged user's fork storm ends at the limit.
func TestForkStormOfAnotherUser(t *testing.T) {
	testneed.Root(t) // to become another user
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), modeVar+"=storm", "GORACE=atexit_sleep_ms=0")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := strings.TrimSpace(string(out)); got != "without 20, with at most 5" {
		t.Errorf("%q", got)
	}
}

// stormAsNobody gives up root, starts twenty background processes without and
// with a limit of five and says how many came about.
func stormAsNobody() int {
	if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
		fmt.Println(err)
		return 1
	}
	without, err := storm(rlimit.Limits{})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	have, err := rlimit.UserTasks(nobody)
	if err != nil || have == 0 {
		fmt.Println("tasks of this user:", have, err)
		return 1
	}
	with, err := storm(rlimit.Limits{Processes: have + 5})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if with > 5 || with == 0 {
		fmt.Println("with the limit", with)
		return 1
	}
	fmt.Printf("without %d, with at most 5\n", without)
	return 0
}

// storm counts the dots of background processes that wait for the end of input.
func storm(l rlimit.Limits) (int, error) {
	in, hold, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	out, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	script := `exec 3<&0; i=0; while [ $i -lt 20 ]; do i=$((i+1)); { printf .; read x <&3; } & done; printf !; wait`
	pid, err := rlimit.Start("/bin/sh", []string{"sh", "-c", script}, &syscall.ProcAttr{
		Env: []string{"PATH=/usr/bin:/bin"}, Files: []uintptr{in.Fd(), w.Fd(), w.Fd()},
		Sys: &syscall.SysProcAttr{Setsid: true},
	}, l)
	in.Close()
	w.Close()
	if err != nil {
		return 0, err
	}
	defer rlimit.WallWait(pid)
	defer hold.Close()
	var text strings.Builder
	dots := func() int { return strings.Count(text.String(), ".") }
	for buf := make([]byte, 512); !strings.Contains(text.String(), "!") || dots() < 20; {
		n, err := out.Read(buf)
		if err != nil {
			break // all are gone
		}
		text.Write(buf[:n])
		if strings.Contains(text.String(), "fork") {
			hold.Close() // the shell gave up; what it started may end
		}
	}
	return dots(), nil
}
