package spawn_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snens/internal/spawn"
	"snens/internal/testneed"
)

func itoa(n int) string { return strconv.Itoa(n) }

// handles says that the process has a handler for sig.
func handles(pid int, sig unix.Signal) bool {
	mask, err := strconv.ParseUint(status(pid, "SigCgt"), 16, 64)
	return err == nil && mask&(1<<(sig-1)) != 0
}

// Two folders change places again and again while programs are opened and
// started: the file that runs is the one that was opened and hashed.
func TestPathRace(t *testing.T) {
	const exchanges = 100_000
	dir := t.TempDir()
	for _, d := range []string{"a", "b"} {
		if err := os.Mkdir(dir+"/"+d, 0o755); err != nil {
			t.Fatal(err)
		}
		copyFile(t, "/usr/bin/stat", dir+"/"+d+"/prog")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range exchanges {
			if err := unix.Renameat2(unix.AT_FDCWD, dir+"/a", unix.AT_FDCWD, dir+"/b", unix.RENAME_EXCHANGE); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	r := fallbackRunner(t)
	for starts := 0; ; starts++ {
		select {
		case <-done:
			t.Logf("%d exchanges during %d starts", exchanges, starts)
			return
		default:
		}
		p := open(t, dir+"/a/prog")
		want := p.Files()[0].Inode
		out, res := output(t, r, spec(p, "stat", "-L", "-c", "%i", "/proc/self/exe"))
		if out != fmt.Sprintln(want) || res.ExitCode != 0 {
			t.Errorf("inode %q ran, want %d (%+v)", out, want, res)
		}
		p.Close()
	}
}

// What a program sees of itself when it is run from a descriptor.
func TestSeenFromInside(t *testing.T) {
	dir := t.TempDir()
	prog := copyFile(t, "/bin/cat", dir+"/prog")
	out, _ := output(t, fallbackRunner(t), spec(open(t, prog), "the-rules-name", "/proc/self/cmdline", "/proc/self/comm"))
	cmdline, comm, _ := strings.Cut(out, "/proc/self/comm\x00")
	if cmdline != "the-rules-name\x00/proc/self/cmdline\x00" {
		t.Errorf("cmdline %q", cmdline)
	}
	// The number of the descriptor; documented, not wanted.
	if _, err := strconv.Atoi(strings.TrimSpace(comm)); err != nil && comm != "prog\n" {
		t.Errorf("comm %q", comm)
	}
}

// No start, good or bad, leaves a descriptor, a child or a thread's umask.
func TestNothingIsLeakedByStarts(t *testing.T) {
	testneed.Root(t)
	count := func() int {
		d, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(d)
	}
	both(t, func(t *testing.T, r *spawn.Runner) {
		some := func() {
			s := sh(t, "exit 3")
			s.Umask = 0o077
			p := start(t, r, s)
			<-p.Gone()
			s.Dir = "/no/such"
			if _, err := r.Start(t.Context(), s); err == nil {
				t.Error("it started in a folder that is not there")
			}
			s.Program.Close()
		}
		some()
		before := count()
		for range 5 {
			some()
		}
		if after := count(); after != before {
			t.Errorf("%d descriptors before, %d after", before, after)
		}
	})
}
