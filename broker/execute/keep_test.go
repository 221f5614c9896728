package execute_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/broker/execute"
	"snens/internal/spawn"
	"snens/internal/testneed"
	"snens/internal/wire"
)

// table is how many descriptors this process has, and how many lead to path.
func table(t *testing.T, path string) (all, to int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if link, _ := os.Readlink("/proc/self/fd/" + e.Name()); link == path {
			to++
		}
	}
	return len(entries), to
}

func TestKeptDescriptorsAreNotInOurTable(t *testing.T) {
	w := groups(t)
	path := filepath.Join(t.TempDir(), "theirs")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = w.sh("exit 0", nil).run(context.Background()) // whatever is opened once
	w.settled()
	base, _ := table(t, path)
	for _, end := range []string{"dropped", "run", "failed"} {
		f, opened := openFile(t, path)
		p := w.open("/bin/true")
		q := w.request(p, "true")
		q.Opened = []action.OpenedFile{opened}
		if end == "failed" {
			q.Cwd = "/nowhere"
		}
		theirs, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		j := w.keep(q, p, []*os.File{f}, int(theirs.Fd()), int(theirs.Fd()))
		theirs.Close()
		w.settled()
		if all, to := table(t, path); to != 0 || all != base+2 || w.Kept() != 1 { // the program and the socket
			t.Errorf("kept: %d descriptors, %d of them theirs; before it were %d", all, to, base)
		}
		if end == "dropped" {
			w.Drop(j.id)
			w.Drop(j.id)
		} else {
			e := j.run(context.Background())
			if ok := e.Reason == action.ReasonExited && e.Code == 0; ok != (end == "run") {
				t.Errorf("%s: %+v", end, e)
			}
		}
		w.settled()
		if all, _ := table(t, path); all != base || w.Kept() != 0 {
			t.Errorf("%s: %d descriptors are open, %d were", end, all, base)
		}
	}
	w.Drop(w.id()) // one that was never kept
}

// A parked descriptor is as it was: same open file, same offset.
func TestKeptDescriptorIsTheSameOpenFile(t *testing.T) {
	w := groups(t)
	path := filepath.Join(t.TempDir(), "theirs")
	if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := in.Seek(4, 0); err != nil {
		t.Fatal(err)
	}
	read, write := pipe(t)
	p := w.open("/bin/cat")
	q := w.request(p, "cat")
	q.Stdin.Mode = action.StdinPass
	j := w.keep(q, p, nil, int(in.Fd()), int(write.Fd()))
	write.Close()
	out := drain(read)
	_ = j.run(context.Background())
	if got := <-out; got != "456789" {
		t.Errorf("%q", got)
	}
}

func TestRunsOnce(t *testing.T) {
	w := groups(t)
	out := filepath.Join(t.TempDir(), "runs")
	j := w.sh("echo run >>"+out, func(q *action.Request) { q.Modes.Detached = true })
	endings := make(chan execute.Ending)
	for range 20 {
		go func() {
			endings <- w.Run(context.Background(), j.id, j.sealed, func(uint32) {})
		}()
	}
	good := 0
	for range 20 {
		switch e := <-endings; e.Reason {
		case action.ReasonExited:
			good++
		case action.ReasonInternal:
		default:
			t.Errorf("%+v", e)
		}
	}
	text, err := os.ReadFile(out)
	if good != 1 || err != nil || string(text) != "run\n" {
		t.Errorf("%d runs, %q, %v", good, text, err)
	}
	w.Drop(j.id)
}

func TestRunOfWhatIsNotKept(t *testing.T) {
	w := groups(t)
	p := w.open("/bin/true")
	q := w.request(p, "true")
	p.Close()
	started := func(uint32) { t.Error("it was started") }
	if e := w.Run(context.Background(), w.id(), seal(t, q), started); e.Reason != action.ReasonInternal {
		t.Errorf("%+v", e)
	}
	if e := w.Run(context.Background(), action.RequestID{}, seal(t, q), started); e.Reason != action.ReasonInternal {
		t.Errorf("%+v", e)
	}
	// Another uid's.
	id := w.id()
	if err := w.Keep(id, 4243, execute.Held{}); err != nil {
		t.Fatal(err)
	}
	if e := w.Run(context.Background(), id, seal(t, q), started); e.Reason != action.ReasonInternal {
		t.Errorf("%+v", e)
	}
	if err := w.Keep(id, 4243, execute.Held{}); err == nil {
		t.Error("kept twice")
	}
	if err := w.Keep(action.RequestID{}, 4243, execute.Held{}); err == nil {
		t.Error("kept without an id")
	}
	w.Drop(id)
}

func TestDetachedAfterARestart(t *testing.T) {
	w := groups(t)
	p := w.open("/bin/sh")
	q := w.request(p, "sh", "-c", "exec ls -l /proc/self/fd >&2; exit 5")
	q.Argv[2] = "[ $(readlink /proc/$$/fd/0) = /dev/null ] && [ $(readlink /proc/$$/fd/1) = /dev/null ] && exit 5"
	p.Close()
	q.Modes.Detached = true
	run := func(q action.Request) execute.Ending {
		id := w.id()
		defer w.Drop(id)
		return w.Run(context.Background(), id, seal(t, q), func(uint32) {})
	}
	if e := run(q); e.Reason != action.ReasonExited || e.Code != 5 {
		t.Errorf("%+v", e)
	}
	changed := q.Clone()
	changed.Executable.Inode++
	if e := run(changed); e.Reason != action.ReasonStaleFile {
		t.Errorf("%+v", e)
	}
	gone := q.Clone()
	gone.Executable.Path = "/nowhere/to/be/found"
	if e := run(gone); e.Reason != action.ReasonCommandMissing {
		t.Errorf("%+v", e)
	}
	// Whoever could call Drop is gone with the earlier process.
	w.Run(context.Background(), w.id(), seal(t, q), func(uint32) {})
	if n := w.Remembered(); n != 0 {
		t.Errorf("%d runs are remembered for ever", n)
	}
}

func TestDetachedWithAFileAfterARestart(t *testing.T) {
	w := groups(t)
	p := w.open("/bin/sh")
	q := w.request(p, "sh")
	p.Close()
	q.Modes.Detached = true
	run := func(q action.Request) execute.Ending {
		id := w.id()
		defer w.Drop(id)
		return w.Run(context.Background(), id, seal(t, q), func(uint32) {})
	}
	path := filepath.Join(t.TempDir(), "opened")
	if err := os.WriteFile(path, []byte("text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, opened := openFile(t, path)
	f.Close()
	withFile := q.Clone()
	withFile.Opened = []action.OpenedFile{opened}
	withFile.Argv = []string{"sh", "-c", `read x </proc/self/fd/3; [ "$x" = text ] && exit 6`}
	if e := run(withFile); e.Reason != action.ReasonCannotStart {
		t.Errorf("without Resume: %+v", e)
	}
	w = newWorld(t, w.tree, func(o *execute.Options) {
		o.Resume = func(context.Context, *action.Sealed) (execute.Held, error) {
			f, _ := openFile(t, path)
			return execute.Held{Program: w.open("/bin/sh"), Opened: []*os.File{f}}, nil
		}
	})
	if e := run(withFile); e.Reason != action.ReasonExited || e.Code != 6 {
		t.Errorf("with Resume: %+v", e)
	}
	fails := errors.New("not as it was")
	w = newWorld(t, w.tree, func(o *execute.Options) {
		o.Resume = func(context.Context, *action.Sealed) (execute.Held, error) { return execute.Held{}, fails }
	})
	if e := run(withFile); e.Reason != action.ReasonStaleFile || !strings.Contains(e.Detail, fails.Error()) {
		t.Errorf("with Resume: %+v", e)
	}
	w.Run(context.Background(), w.id(), seal(t, withFile), func(uint32) {})
	if n := w.Remembered(); n != 0 {
		t.Errorf("%d runs are remembered for ever", n)
	}
}

// Closings that hang count against their uid, and nobody else's.
func TestHungClosingsMakeBusy(t *testing.T) {
	w := groups(t)
	stop := make(chan struct{})
	for range 64 {
		w.closer.Later(4242, func() { <-stop })
	}
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	p := w.open("/bin/true")
	q := w.request(p, "true")
	if err := w.Keep(w.id(), 4242, execute.Held{Program: p, Opened: []*os.File{f}}); !errors.Is(err, execute.ErrBusy) || w.Kept() != 0 {
		t.Errorf("%v", err)
	}
	if err := p.Same([]spawn.File{}); err == nil {
		t.Error("the program is still open")
	}
	if !errors.Is(w.Room(4242), execute.ErrBusy) || w.Room(4243) != nil {
		t.Errorf("%v, %v", w.Room(4242), w.Room(4243))
	}
	// Another requester is served meanwhile.
	q.Requester.UID = 4243
	j := w.keep(q, w.open("/bin/true"), nil)
	if e := j.run(context.Background()); e.Reason != action.ReasonExited {
		t.Errorf("%+v", e)
	}
	close(stop)
	w.settled()
	if err := w.Room(4242); err != nil {
		t.Error(err)
	}
	if _, err := f.Stat(); err == nil {
		t.Error("the opened file is still open")
	}
}

// keepMany is the other process of TestTooManyInFlightIsBusy: it keeps until it
// is refused, and once more after a Drop.
func keepMany() (kept int, err error) {
	const user = 54399
	err = errors.Join(unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 64, Max: 64}), syscall.Setgroups(nil), syscall.Setgid(user), syscall.Setuid(user))
	if err != nil {
		return 0, err
	}
	runner, err := spawn.NewRunner(nil)
	if err != nil {
		return 0, err
	}
	closer := wire.NewCloser()
	x, err := execute.New(execute.Options{Opener: spawn.NewOpener(os.Geteuid()), Runner: runner, Closer: closer, Install: action.InstallID{1}})
	if err != nil {
		return 0, err
	}
	keep := func(n byte) error {
		var files []*os.File
		for range 10 {
			f, err := os.Open(os.DevNull)
			if err != nil {
				return err
			}
			files = append(files, f)
		}
		return errors.Join(x.Keep(action.RequestID{n}, 1, execute.Held{Opened: files}), closer.Wait(context.Background()))
	}
	for err == nil && kept < 100 {
		if err = keep(byte(kept + 1)); err == nil {
			kept++
		}
	}
	if !errors.Is(err, execute.ErrBusy) || !errors.Is(err, unix.ETOOMANYREFS) {
		return kept, fmt.Errorf("no ErrBusy: %w", err)
	}
	return kept, x.Close(context.Background())
}

// As a user without capabilities the kernel bounds what is in flight.
func TestTooManyInFlightIsBusy(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	testneed.Root(t)
	out, err := (&exec.Cmd{Path: exe, Args: []string{flight}, Env: []string{"GORACE=atexit_sleep_ms=0"}}).Output()
	if err != nil || string(out) != "7 <nil>\n" { // the seventh is above 64 afterwards
		t.Errorf("%q, %v", out, err)
	}
	for errno, busy := range map[unix.Errno]bool{unix.ETOOMANYREFS: true, unix.EMFILE: true, unix.ENFILE: true, unix.EBADF: false} {
		if err := execute.Crowded("x", fmt.Errorf("y: %w", errno)); errors.Is(err, execute.ErrBusy) != busy {
			t.Errorf("%v: %v", errno, err)
		}
	}
}

func TestUnkillableCountsUntilItIsGone(t *testing.T) {
	w := newWorld(t, groupTree(t), func(o *execute.Options) { o.UnkillablePerUID = 2 })
	gone := make(chan struct{})
	for range 2 {
		if err := w.Room(7); err != nil {
			t.Error(err)
		}
		w.GoStuck(7, gone)
	}
	if !errors.Is(w.Room(7), execute.ErrBusy) || w.Room(8) != nil || w.Stuck(7) != 2 {
		t.Errorf("%v, %v, %d", w.Room(7), w.Room(8), w.Stuck(7))
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if err := w.Close(ctx); err == nil {
		t.Error("closed although something is left")
	}
	close(gone)
	if err := w.Close(context.Background()); err != nil || w.Room(7) != nil {
		t.Errorf("%v, %v", err, w.Room(7))
	}
}
