package prepare_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/broker/policy"
	"snens/broker/prepare"
	"snens/internal/testneed"
)

// mute mounts a file system that never answers and belongs to alice. The
// returned function ends its silence: all who wait get an error.
func (w *world) mute(name, options string) (end func()) {
	w.t.Helper()
	must(w.t, os.Mkdir(w.path(name), 0o755))
	return w.mount(name, "rootmode=40000", options)
}

// muteFile mounts one of a single file.
func (w *world) muteFile(name string) {
	w.t.Helper()
	must(w.t, os.WriteFile(w.path(name), nil, 0o644))
	w.mount(name, "rootmode=100644", "")
}

func (w *world) mount(name, mode, options string) (end func()) {
	w.t.Helper()
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	testneed.Kernel(w.t, err == nil, "FUSE")
	err = unix.Mount("fuse", w.path(name), "fuse", unix.MS_NOSUID|unix.MS_NODEV,
		fmt.Sprintf("fd=%d,%s,user_id=%d,group_id=%d%s", fd, mode, alice, alice, options))
	if err != nil {
		unix.Close(fd)
		testneed.Kernel(w.t, false, "FUSE mounts")
	}
	end = sync.OnceFunc(func() { unix.Close(fd) })
	w.t.Cleanup(func() {
		must(w.t, unix.Unmount(w.path(name), unix.MNT_DETACH))
		end()
	})
	return end
}

// A file whose file system is a program is not opened, not even to refuse it
// later: what hangs there would be in our table meanwhile.
func TestAFileOfAProgram(t *testing.T) {
	w := newWorld(t, rule("read", reads))
	w.muteFile("home/file")
	a := prepare.Ask{From: asAlice, Argv: w.tool("read", w.path("home/file"))}
	p, err := w.m.Make(t.Context(), a, w.m.Judge(a), noon)
	var no *prepare.Refusal
	if p != nil || !errors.As(err, &no) || no.Reason != action.ReasonBadRequest || !strings.Contains(no.Why, "FUSE") {
		t.Errorf("%v, %v", p, err)
	}
}

// Files on a FUSE file system of the requester's that is his alone are not
// opened even for him, because the thread that opens is still ours. Where all
// may use it, one that does not answer costs its owner's uid some time.
func TestAFileSystemThatDoesNotAnswer(t *testing.T) {
	w := newWorld(t, rule("read", reads))
	ask := func(limit time.Duration, dir string) *prepare.Refusal {
		t.Helper()
		a := prepare.Ask{From: asAlice, Argv: w.tool("read", w.path(dir+"/file"))}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		p, err := w.m.Make(ctx, a, w.m.Judge(a), noon)
		var no *prepare.Refusal
		if errors.Is(err, context.DeadlineExceeded) {
			return nil // before it came to the open
		}
		if p != nil || !errors.As(err, &no) {
			t.Fatalf("%v, %v", p, err)
		}
		return no
	}
	w.mute("home/own", "")
	if no := ask(time.Minute, "home/own"); no.Reason != action.ReasonBadRequest || !strings.Contains(no.Why, "permission denied") {
		t.Error(no)
	}

	release := w.mute("home/shared", ",allow_other")
	for {
		no := ask(10*time.Millisecond, "home/shared")
		if no == nil {
			continue
		}
		if no.Reason == action.ReasonBusy {
			break // as many hang as may
		}
		if no.Reason != action.ReasonBadRequest || !strings.Contains(no.Why, "does not answer") {
			t.Fatal(no)
		}
	}
	// Others are served meanwhile, and he again when it is over.
	if _, err := w.m.As(t.Context(), asBob, func() (*os.File, error) { return nil, nil }); err != nil {
		t.Error(err)
	}
	release()
	for {
		_, err := w.m.As(t.Context(), policy.Subject{UID: alice, GID: alice}, func() (*os.File, error) { return nil, nil })
		if err == nil {
			break
		}
		if !errors.Is(err, prepare.ErrBusy) {
			t.Fatal(err)
		}
	}
}
