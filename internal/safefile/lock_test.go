package safefile_test

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"snens/internal/safefile"
	"snens/internal/testneed"
)

// With SAFEFILE_HOLD=PATH the test binary is a program that holds a lock until
// its stdin ends.
func TestMain(m *testing.M) {
	if path := os.Getenv("SAFEFILE_HOLD"); path != "" {
		if _, err := safefile.TryLock(path); err != nil {
			os.Exit(1)
		}
		os.Stdout.WriteString("held\n")
		bufio.NewReader(os.Stdin).ReadString('\n')
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestTryLock(t *testing.T) {
	path := t.TempDir() + "/lock"
	l, err := safefile.TryLock(path)
	must(t, err)
	if _, err := safefile.TryLock(path); !errors.Is(err, safefile.ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	must(t, l.Unlock())
	must(t, l.Unlock())
	l, err = safefile.TryLock(path)
	must(t, err)
	must(t, l.Unlock())
}

func TestTryLockExisting(t *testing.T) {
	path := t.TempDir() + "/lock"
	if _, err := safefile.TryLockExisting(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	l, err := safefile.TryLock(path)
	must(t, err)
	if _, err := safefile.TryLockExisting(path); !errors.Is(err, safefile.ErrLocked) {
		t.Errorf("held: %v", err)
	}
	must(t, l.Unlock())
	l, err = safefile.TryLockExisting(path)
	must(t, err)
	must(t, l.Unlock())
}

func TestTryLockRefusesOddFiles(t *testing.T) {
	testneed.Root(t)
	root := tree(t, "open 0666 0", "foreign 0600 23456", "f 0600 0", "l 0777 0 -> f", "d/ 0700 0")
	for _, name := range []string{"open", "foreign", "l", "d", "none/lock"} {
		if _, err := safefile.TryLock(root + "/" + name); err == nil || errors.Is(err, safefile.ErrLocked) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLockEndsWithItsProcess(t *testing.T) {
	path := t.TempDir() + "/lock"
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SAFEFILE_HOLD="+path)
	in, err := cmd.StdinPipe()
	must(t, err)
	defer in.Close()
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "held\n" {
		t.Fatalf("the holder said %q, %v", line, err)
	}
	if _, err := safefile.TryLock(path); !errors.Is(err, safefile.ErrLocked) {
		t.Errorf("while it is held: %v", err)
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	l, err := safefile.TryLock(path)
	must(t, err)
	must(t, l.Unlock())
}

// A child started while the lock is held does not keep it.
func TestLockIsNotInherited(t *testing.T) {
	path := t.TempDir() + "/lock"
	l, err := safefile.TryLock(path)
	must(t, err)
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	must(t, l.Unlock())
	l, err = safefile.TryLock(path)
	must(t, err)
	must(t, l.Unlock())
	must(t, in.Close())
	must(t, cmd.Wait())
}

func TestWaitLock(t *testing.T) {
	path := t.TempDir() + "/lock"
	l, err := safefile.TryLock(path)
	must(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	_, err = safefile.WaitLock(ctx, path)
	if !errors.Is(err, safefile.ErrLocked) || !strings.Contains(err.Error(), "enough") {
		t.Errorf("cancelled: %v", err)
	}
	got := make(chan error)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		l, err := safefile.WaitLock(ctx, path)
		got <- errors.Join(err, l.Unlock())
	}()
	must(t, l.Unlock())
	must(t, <-got)
}

// Holders that remove the file on leaving never let two in at once.
func TestLockFileMayBeRemovedByItsHolder(t *testing.T) {
	path := t.TempDir() + "/lock"
	inside, rounds := 0, 0 // guarded by mu
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				l, err := safefile.WaitLock(context.Background(), path)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				inside++
				rounds++
				alone := inside == 1
				mu.Unlock()
				if !alone {
					t.Error("two holders at once")
				}
				mu.Lock()
				inside--
				mu.Unlock()
				os.Remove(path)
				if err := l.Unlock(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if rounds != 200 {
		t.Errorf("%d rounds", rounds)
	}
}
