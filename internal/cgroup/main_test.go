package cgroup_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"snens/internal/cgroup"
	"snens/internal/testneed"
)

const (
	modeVar = "SNENS_TEST_CGROUP_MODE"
	nobody  = 65534
)

// TestMain is also the program for what must happen in a process of its own.
func TestMain(m *testing.M) {
	mode := os.Getenv(modeVar)
	if mode == "" {
		os.Exit(m.Run())
	}
	out, err := modes[mode](os.Args[1:])
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(out)
	os.Exit(0)
}

var modes = map[string]func(a []string) (string, error){
	"unprivileged": unprivileged,
	"once-killed":  onceKilled,
	"delegate":     delegate,
}

// helper runs this binary in a mode and gives what it printed.
func helper(t *testing.T, mode string, args ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, args...)
	c.Env = append(os.Environ(), modeVar+"="+mode, "GORACE=atexit_sleep_ms=0")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", mode, err, out)
	}
	return strings.TrimSpace(string(out))
}

// newTree is a Tree whose groups a test can make; with nothing of it left over.
func newTree(t *testing.T) *cgroup.Tree {
	t.Helper()
	testneed.CgroupV2(t)
	tree, err := cgroup.Detect()
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Probe(); err != nil {
		t.Fatal(err)
	}
	return tree
}

// name makes a group name from the test's.
func name(t *testing.T, i int) string {
	clean := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}
	n := strings.Map(clean, t.Name())
	return "test-" + n[:min(len(n), 40)] + "-" + strconv.Itoa(os.Getpid()) + "-" + strconv.Itoa(i)
}

func newGroup(t *testing.T, tree *cgroup.Tree, l cgroup.Limits) *cgroup.Group {
	t.Helper()
	g, err := tree.New(name(t, 0), l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end(t, g) })
	return g
}

// end kills and removes a group and sees that nothing of it is left.
func end(t *testing.T, g *cgroup.Group) {
	t.Helper()
	if err := g.Kill(); err != nil {
		t.Error(err)
	}
	waitEmpty(t, g)
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
	for _, folder := range []string{g.Path(), g.PIDs1()} {
		if folder == "" {
			continue
		}
		if _, err := os.Stat(folder); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", folder, err)
		}
	}
}

func waitEmpty(t *testing.T, g *cgroup.Group) {
	t.Helper()
	if empty, err := g.WaitEmpty(20 * time.Second); err != nil || !empty {
		pids, _ := g.PIDs()
		t.Fatalf("the group is not empty (%v): %v", err, pids)
	}
}

// startIn runs a shell script in the group and waits for it to print "ready".
func startIn(t *testing.T, g *cgroup.Group, script string) int {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", script}, &syscall.ProcAttr{
		Env:   []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "GROUP=" + g.Path()},
		Files: []uintptr{null.Fd(), w.Fd(), 2},
		Sys:   &syscall.SysProcAttr{Setsid: true, UseCgroupFD: true, CgroupFD: g.FD()},
	})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Kill(); waitFor(pid) })
	line, err := bufio.NewReader(r).ReadString('\n')
	if line != "ready\n" {
		t.Fatalf("the script says %q (%v), want ready", line, err)
	}
	return pid
}

// waitFor reaps a child, once.
func waitFor(pid int) syscall.WaitStatus {
	var ws syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(pid, &ws, 0, nil); err != syscall.EINTR {
			return ws
		}
	}
}

func unprivileged([]string) (string, error) {
	if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
		return "", err
	}
	_, err := cgroup.Detect()
	var why *cgroup.UnavailableError
	if !errors.As(err, &why) {
		return "", fmt.Errorf("Detect as another user: %v", err)
	}
	return why.Error(), nil
}

// onceKilled moves itself into the group a[0] and says how starts fare from there.
func onceKilled(a []string) (string, error) {
	if err := os.WriteFile(filepath.Join(a[0], "cgroup.procs"), []byte("0"), 0); err != nil {
		return "", err
	}
	tree, err := cgroup.Detect()
	if err != nil {
		return "", err
	}
	if tree.Parent() != a[0] {
		return "", fmt.Errorf("groups are made in %s, want %s", tree.Parent(), a[0])
	}
	var tries []string
	for kills := range 3 {
		alive, err := tree.TryStart(kills)
		if err != nil {
			return "", err
		}
		tries = append(tries, strconv.FormatBool(alive))
	}
	if err := tree.Probe(); err != nil {
		return "", err
	}
	g, err := tree.New("call", cgroup.Limits{})
	if err != nil {
		return "", err
	}
	pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", "exit 7"}, &syscall.ProcAttr{
		Sys: &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: g.FD()},
	})
	if err != nil {
		return "", err
	}
	ws := waitFor(pid)
	return fmt.Sprintf("%s; after Probe: exit %d", strings.Join(tries, " "), ws.ExitStatus()), g.Remove()
}

// delegate moves itself into the group a[0], delegates and starts a child.
func delegate(a []string) (string, error) {
	if err := os.WriteFile(filepath.Join(a[0], "cgroup.procs"), []byte("0"), 0); err != nil {
		return "", err
	}
	tree, err := cgroup.Detect()
	if err != nil {
		return "", err
	}
	if err := tree.Delegate(); err != nil {
		return err.Error(), nil
	}
	if err := tree.Probe(); err != nil {
		return "", err
	}
	again, err := cgroup.Detect()
	if err != nil {
		return "", err
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("here %s, groups in %s and %s", filepath.Base(cgroup.Membership(string(own))[""]), tree.Parent(), again.Parent()), nil
}
