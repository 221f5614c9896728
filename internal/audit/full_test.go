package audit_test

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"snens/internal/audit"
	"snens/internal/testneed"
)

// smallDisk mounts a file system of some KiB for the log of dir.
func smallDisk(t *testing.T, dir string, size string) {
	t.Helper()
	testneed.Root(t)
	log := filepath.Join(dir, "log")
	must(t, os.Mkdir(log, 0o750))
	err := unix.Mount("tmpfs", log, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0750,size="+size)
	testneed.Kernel(t, !errors.Is(err, unix.EPERM), "a mount of its own for root")
	must(t, err)
	t.Cleanup(func() {
		if err := unix.Unmount(log, unix.MNT_DETACH); err != nil {
			t.Errorf("cannot unmount %s: %v", log, err)
		}
	})
}

// fill takes all space that is left on the file system of the log.
func fill(t *testing.T, dir string) (path string) {
	t.Helper()
	path = filepath.Join(dir, "log", "filler")
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	block := make([]byte, 4096)
	for {
		if _, err := f.Write(block); errors.Is(err, unix.ENOSPC) {
			return path
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// untilFull appends until there is no space, and returns how many records went in.
func untilFull(t *testing.T, w *audit.Writer) (n int) {
	t.Helper()
	for ; ; n++ {
		before := w.Head()
		err := w.Append(now, spent(n))
		if errors.Is(err, audit.ErrFull) {
			if after := w.Head(); after.Count != before.Count || after.Hash != before.Hash {
				t.Fatal("a record that could not be written moved the head")
			}
			return n
		}
		must(t, err)
		if n > 100_000 {
			t.Fatal("the disk does not get full")
		}
	}
}

func TestAFullDisk(t *testing.T) {
	dir := t.TempDir()
	smallDisk(t, dir, "512k")
	w := open(t, options(dir, 1<<20))
	reserved := make([]*audit.Reservation, 5)
	for i := range reserved {
		r, err := w.Reserve()
		must(t, err)
		reserved[i] = r
	}
	filler := fill(t, dir)
	n := untilFull(t, w)
	for range 3 {
		if err := w.AppendSync(now, spent(n)); !errors.Is(err, audit.ErrFull) {
			t.Fatalf("got %v", err)
		}
		if _, err := w.Reserve(); !errors.Is(err, audit.ErrFull) {
			t.Fatalf("reserved on a full disk: %v", err)
		}
	}
	sound(t, dir)
	// What was reserved can be written, whatever else cannot.
	for i, r := range reserved {
		must(t, r.Append(now, longest(t, i)))
	}
	must(t, w.Sync())
	sound(t, dir)
	// And the log goes on as soon as there is space.
	must(t, os.Remove(filler))
	must(t, w.AppendSync(now, spent(n)))
	must(t, w.Close())
	if report := sound(t, dir); report.Head.Count != uint64(n+len(reserved)+1) {
		t.Errorf("%d records, want %d", report.Head.Count, n+len(reserved)+1)
	}
}

// longest is a final record of nearly what is reserved.
func longest(t testing.TB, i int) audit.Entry {
	t.Helper()
	for _, e := range samples(t) {
		if e.Kind == audit.Stale {
			e.Detail = string(make([]byte, 900+i))
			return e
		}
	}
	panic("there is no sample of a stale request")
}

// A log that should begin a new file and has no space for one goes on in the
// old file with what was reserved there.
func TestAFullDiskAtARotation(t *testing.T) {
	dir := t.TempDir()
	smallDisk(t, dir, "256k")
	w := open(t, options(dir, 16<<10))
	for range 40 {
		must(t, w.Append(now, spent(0)))
	}
	// More than a file should hold: it follows into the next one, or keeps the
	// log in the old one.
	var reserved []*audit.Reservation
	for range 8 {
		r, err := w.Reserve()
		must(t, err)
		reserved = append(reserved, r)
	}
	filler := fill(t, dir)
	must(t, os.Truncate(filler, fileSize(t, filler)-24<<10)) // enough for a file, not for what is reserved
	n := untilFull(t, w)
	for i, r := range reserved {
		must(t, r.Append(now, longest(t, i)))
	}
	sound(t, dir)
	before := len(segments(t, dir))
	must(t, os.Remove(filler))
	for i := range 60 {
		must(t, w.Append(now, spent(n+i)))
	}
	must(t, w.Close())
	sound(t, dir)
	if len(segments(t, dir)) <= before {
		t.Error("it was never rotated again")
	}
}

func fileSize(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Size()
}

// With the disk full from the start there is no log to write, and that is said.
func TestOpenOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	smallDisk(t, dir, "64k")
	fill(t, dir)
	w := open(t, options(dir, 0))
	if err := w.Append(now, spent(0)); !errors.Is(err, audit.ErrFull) {
		t.Errorf("got %v", err)
	}
	must(t, os.Remove(filepath.Join(dir, "log", "filler")))
	must(t, w.Append(now, spent(0)))
	must(t, w.Close())
	sound(t, dir)
}

// A record of which only a part could be written is taken back. The limit on
// the size of files stands for whatever can stop a write after space was found.
func TestHalfWrittenRecordsAreTakenBack(t *testing.T) {
	dir := t.TempDir()
	w := open(t, options(dir, 1<<20))
	must(t, w.Append(now, spent(0)))
	r, err := w.Reserve()
	must(t, err)
	signal.Ignore(unix.SIGXFSZ)
	defer signal.Reset(unix.SIGXFSZ)
	var limit unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_FSIZE, &limit))
	whole := size(t, dir)
	must(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: uint64(whole + 100), Max: limit.Max}))
	err = w.Append(now, spent(1))
	left := size(t, dir)
	again := r.Append(now, longest(t, 0))
	must(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &limit))
	if !errors.Is(err, audit.ErrFull) || !errors.Is(again, audit.ErrFull) || left != whole {
		t.Errorf("got %v and %v, and %d bytes are left of %d", err, again, left, whole)
	}
	sound(t, dir)
	must(t, w.Append(now, spent(2)))
	must(t, r.Append(now, longest(t, 0)))
	must(t, w.Close())
	if report := sound(t, dir); report.Head.Count != 3 || report.Notes != nil {
		t.Errorf("%+v", report)
	}
}
