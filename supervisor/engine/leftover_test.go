package engine_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"snens/supervisor/call"
	"snens/supervisor/engine"
)

// inKilledGroup is what the test binary becomes to sit in a cgroup that was
// killed once: it says what a call came to.
func inKilledGroup(home string, probe bool) {
	pid := []byte(strconv.Itoa(os.Getpid()))
	if err := os.WriteFile(filepath.Join(home, "cgroup.procs"), pid, 0); err != nil {
		panic(err)
	}
	e, err := engine.New(engine.Options{Probe: probe})
	if err != nil {
		panic(err)
	}
	for range 2 {
		r := e.Run(engine.Spec{
			Tool: "sh", CallID: call.ID(fmt.Sprintf("K%d-%s", os.Getpid(), rand.Text())), Path: "/bin/sh",
			Argv: []string{"sh", "-c", "cat; echo alive"}, StdinBytes: []byte("fed "), Dir: "/",
		})
		fmt.Print(r.Content)
	}
	_, exact := e.Supervision()
	fmt.Println(exact)
	dir, err := os.MkdirTemp("", "snens-ran-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	e.Run(engine.Spec{
		Tool: "sh", CallID: call.ID(fmt.Sprintf("K%d-%s", os.Getpid(), rand.Text())), Path: "/bin/sh",
		Argv: []string{"sh", "-c", "echo ran >>ran; kill -KILL $$"}, Dir: dir,
	})
	ran, _ := os.ReadFile(filepath.Join(dir, "ran"))
	fmt.Printf("%s", ran)
}

// A supervisor in a group that was killed before it came there: the kernel
// kills what it starts in fresh groups at birth. Its calls run all the same, once:
// one that is killed later, by whomever, is not taken for another of those.
func TestSupervisorInAKilledGroup(t *testing.T) {
	needGroups(t)
	e := newEngine(t)
	for _, probe := range []string{"", "probe"} {
		home, err := os.MkdirTemp(e.Groups(), "snens-home-")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, "cgroup.kill"), []byte("1"), 0); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/proc/self/exe", "-test.run=^$")
		cmd.Env = append(os.Environ(), "ENGINE_TEST_HOME="+home, "ENGINE_TEST_PROBE="+probe)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if want := "fed alive\nfed alive\ntrue\nran\n"; err != nil || string(out) != want {
			t.Errorf("probe %q: %q %v, want %q", probe, out, err, want)
		}
		until(t, "the home to be empty", func() bool { return os.Remove(home) == nil })
	}
}

// supervisorOfOne is what the test binary becomes to be killed: it starts the
// deaf tree, writes the identities it is told, and waits.
func supervisorOfOne(noCgroup bool, dir string) {
	e, err := engine.New(engine.Options{NoCgroup: noCgroup})
	if err != nil {
		panic(err)
	}
	id := "LEFT" + filepath.Base(dir)
	e.Run(engine.Spec{
		Tool: "sh", CallID: call.ID(id), Path: "/bin/sh", Argv: []string{"sh", "-c", deafTree},
		Env: []string{"PATH=/usr/bin:/bin", "SNENS_CALL_ID=" + id}, Dir: dir,
		Leftover: func(i engine.Identity) error {
			b, err := json.Marshal(i)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "identity"), b, 0o600)
		},
	})
}

// killedSupervisor runs the deaf tree under a supervisor of its own, kills that
// and returns what it had written down.
func killedSupervisor(t *testing.T, mode, dir string) (id engine.Identity) {
	t.Helper()
	sup := exec.Command("/proc/self/exe", "-test.run=^$")
	sup.Env = append(os.Environ(), "ENGINE_TEST_SUPERVISOR="+mode, "ENGINE_TEST_DIR="+dir)
	sup.Stderr = os.Stderr
	if err := sup.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the tree", func() bool { return exists(filepath.Join(dir, "ready")) })
	if err := sup.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = sup.Wait()
	b, err := os.ReadFile(filepath.Join(dir, "identity"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &id); err != nil {
		t.Fatal(err)
	}
	return id
}

// What a supervisor killed in mid-call leaves behind is ended by its identity,
// every process of it, and nobody else's.
func TestEndOfALeftover(t *testing.T) {
	both(t, func(t *testing.T, e *engine.Engine) {
		dir, mode := t.TempDir(), "fallback"
		_, exact := e.Supervision()
		if exact {
			mode = "cgroup"
		}
		id := killedSupervisor(t, mode, dir)
		if (id.Cgroup != "") != exact {
			t.Fatalf("identity %+v", id)
		}
		bystander := exec.Command("sleep", "1000")
		if err := bystander.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = bystander.Process.Kill(); _ = bystander.Wait() }()

		earlier := id
		earlier.BootID = "another boot"
		if err := e.End(earlier); err != nil {
			t.Fatal(err)
		}
		if !alive(pidIn(t, filepath.Join(dir, "a"))) {
			t.Fatal("an identity of another boot ended a process")
		}
		if err := e.End(id); err != nil {
			t.Fatal(err)
		}
		for _, f := range []string{"a", "b", "c"} {
			mustBeGone(t, pidIn(t, filepath.Join(dir, f)))
		}
		if !alive(bystander.Process.Pid) {
			t.Error("a bystander was ended")
		}
		if id.Cgroup != "" && exists(id.Cgroup) {
			t.Error("the cgroup is still there")
		}
		if err := e.End(id); err != nil {
			t.Errorf("ending it twice: %v", err)
		}
	})
}

// A pid that was written down may be another program's by now, and so may the
// session it led: nothing is ended for its number alone.
func TestEndTrustsNoNumber(t *testing.T) {
	e, err := engine.New(engine.Options{NoCgroup: true})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	leader := exec.Command("setsid", "sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $! >pid")
	leader.Dir = dir
	if err := leader.Run(); err != nil {
		t.Fatal(err)
	}
	pid := pidIn(t, filepath.Join(dir, "pid"))
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	session, err := unix.Getsid(pid)
	if err != nil || session != leader.Process.Pid {
		t.Fatalf("session %d of the leader %d: %v", session, leader.Process.Pid, err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []engine.Identity{
		{PID: pid},
		{PID: pid, StartTime: 1},
		{PID: session},
		{PID: session, StartTime: 1},
	} {
		id.BootID, id.CallID = strings.TrimSpace(string(boot)), "GONE"
		if err := e.End(id); err != nil {
			t.Errorf("%+v: %v", id, err)
		}
		if !alive(pid) {
			t.Fatalf("%+v: somebody else's process was ended", id)
		}
	}
}
