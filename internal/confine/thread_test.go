package confine_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"snens/internal/confine"
)

// One thread starts several children, each of them restricted, and nothing of
// it stays behind.
func TestThreadServesManyStarts(t *testing.T) {
	needSupport(t)
	inside, outside := t.TempDir(), t.TempDir()
	r := strict
	r.WriteBeneath = []string{inside}
	thread, err := confine.NewThread(r)
	if err != nil {
		t.Fatal(err)
	}
	var tids []int
	for range 3 {
		status := runIn(t, thread, &tids, `(echo >"$1/new") && rm "$1/new" && ! (echo >"$2/new") 2>/dev/null`, inside, outside)
		if status != 0 {
			t.Errorf("a child ended with %d: it may write in %s and must not in %s", status, inside, outside)
		}
	}
	if tids[0] != tids[1] || tids[1] != tids[2] || tids[0] == os.Getpid() {
		t.Errorf("the starts ran on the threads %v, want one that is not the main one (%d)", tids, os.Getpid())
	}
	thread.Close()
	if err := os.WriteFile(filepath.Join(outside, "new"), nil, 0o600); err != nil {
		t.Errorf("this process is restricted: %v", err)
	}
	if status, err := os.ReadFile("/proc/self/status"); err != nil || restricted(status) {
		t.Errorf("the main thread is restricted: %v", err)
	}
}

func runIn(t *testing.T, thread *confine.Thread, tids *[]int, script string, args ...string) int {
	t.Helper()
	var pid int
	err := thread.Run(func() (err error) {
		*tids = append(*tids, unix.Gettid())
		pid, err = syscall.ForkExec("/bin/sh", append([]string{"sh", "-c", script, "sh"}, args...), &syscall.ProcAttr{Files: []uintptr{0, 1, 2}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		t.Fatal(err)
	}
	return status.ExitStatus()
}

func TestThreadReturnsErrors(t *testing.T) {
	needSupport(t)
	var setup *confine.SetupError
	r := strict
	r.WriteBeneath = []string{"/no/such/folder"}
	if _, err := confine.NewThread(r); !errors.As(err, &setup) {
		t.Errorf("a wrong rule: %v, want a SetupError", err)
	}
	thread, err := confine.NewThread(strict)
	if err != nil {
		t.Fatal(err)
	}
	defer thread.Close()
	mine := errors.New("of f")
	for _, want := range []error{mine, nil} {
		if err := thread.Run(func() error { return want }); err != want {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}

func TestThreadIsNeverTheMainOne(t *testing.T) {
	needSupport(t)
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			thread, err := confine.NewThread(strict)
			if err != nil {
				t.Error(err)
				return
			}
			defer thread.Close()
			_ = thread.Run(func() error {
				if unix.Gettid() == os.Getpid() {
					t.Error("f runs on the main thread")
				}
				return nil
			})
		})
	}
	group.Wait()
}
