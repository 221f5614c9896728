package audit_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"snens/broker/action"
	"snens/internal/audit"
	"snens/internal/safefile"
)

func TestALogGoesOnWhereItEnded(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		w := open(t, options(dir, 1<<20))
		if got := w.Head(); got.Count != uint64(2*i) || got.Synced != got.Count {
			t.Errorf("opened at %+v", got)
		}
		must(t, w.Append(now, spent(i)))
		must(t, w.AppendSync(now, spent(i)))
		if got := w.Head(); got.Synced != got.Count {
			t.Errorf("after AppendSync: %+v", got)
		}
		must(t, w.Close())
		if err := w.Append(now, spent(i)); err == nil {
			t.Error("appended after Close")
		}
		if _, err := w.Reserve(); err == nil {
			t.Error("reserved after Close")
		}
		must(t, w.Close())
	}
	if report := sound(t, dir); report.Head.Count != 6 || report.Files != 1 || report.Notes != nil {
		t.Errorf("%+v", report)
	}
}

func TestModesOfTheFiles(t *testing.T) {
	dir := t.TempDir()
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	w := open(t, options(dir, 4<<10))
	for i := range 40 {
		must(t, w.Append(now, spent(i)))
	}
	for path, want := range map[string]os.FileMode{
		filepath.Join(dir, "log"): 0o750, filepath.Join(dir, "state"): 0o700, filepath.Join(dir, "state", "audit-head"): 0o600,
		segments(t, dir)[0]: 0o640, segments(t, dir)[1]: 0o640,
	} {
		info, err := os.Stat(path)
		must(t, err)
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
	}
}

func TestRotation(t *testing.T) {
	dir := written(t, 200, 4<<10)
	files := segments(t, dir)
	if len(files) < 11 {
		t.Fatalf("%d files: rotated less than 10 times", len(files))
	}
	all := records(t, dir)
	rotated := 0
	for i, r := range all {
		if r.Seq != uint64(i+1) {
			t.Fatalf("record %d has the number %d", i+1, r.Seq)
		}
		if r.Kind == audit.Rotated {
			rotated++
			if want := filepath.Base(files[rotated-1]); r.File != want {
				t.Errorf("record %d says it comes after %s, want %s", r.Seq, r.File, want)
			}
		}
	}
	if rotated != len(files)-1 || len(all) != 200+rotated {
		t.Errorf("%d rotated records in %d files, %d records", rotated, len(files), len(all))
	}
	for _, path := range files {
		info, err := os.Stat(path)
		must(t, err)
		if info.Size() > 4<<10 {
			t.Errorf("%s has %d bytes", path, info.Size())
		}
	}
	if report := sound(t, dir); report.Files != len(files) || report.Head.Count != uint64(len(all)) || report.Notes != nil {
		t.Errorf("%+v", report)
	}
}

func TestManyWritersAtOnce(t *testing.T) {
	dir := t.TempDir()
	w := open(t, options(dir, 4<<10))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 25 {
				r, err := w.Reserve()
				if err == nil {
					err = errors.Join(w.Append(now, spent(i)), r.Append(now, spent(i)))
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	must(t, w.Close())
	count := 0
	for _, r := range records(t, dir) {
		if r.Kind == audit.Spent {
			count++
		}
	}
	if sound(t, dir); count != 400 {
		t.Errorf("%d records", count)
	}
}

// The longest final record fits into what is reserved for it.
func TestFinalRecordsFitTheReservation(t *testing.T) {
	dir := t.TempDir()
	w := open(t, options(dir, 1<<20))
	for _, e := range samples(t) {
		if e.Result == nil {
			continue
		}
		for _, fill := range []string{"\x00", "\x80", "\"", "x"} {
			e.Detail = strings.Repeat(fill, 3000)
			before := size(t, dir)
			must(t, w.Append(now, e))
			if n := size(t, dir) - before; n > audit.MaxFinal {
				t.Errorf("%s takes %d bytes", e.Kind, n)
			}
		}
	}
}

func size(t testing.TB, dir string) (sum int64) {
	t.Helper()
	for _, path := range segments(t, dir) {
		info, err := os.Stat(path)
		must(t, err)
		sum += info.Size()
	}
	return sum
}

func TestAReservationIsUsedOnce(t *testing.T) {
	dir := t.TempDir()
	w := open(t, options(dir, 1<<20))
	r, err := w.Reserve()
	must(t, err)
	if err := r.Append(now, audit.Entry{Kind: audit.Exited}); err == nil {
		t.Error("a bad record was taken")
	}
	must(t, r.Append(now, spent(1)))
	r.Release()
	must(t, r.Append(now, spent(2))) // as any other
	must(t, w.Close())
	if sound(t, dir).Head.Count != 2 {
		t.Error("a record is missing")
	}
}

// What was allocated ahead is given back, so that the files say how big they are.
func TestCloseGivesSpaceBack(t *testing.T) {
	dir := written(t, 1, 1<<20)
	var st syscall.Stat_t
	must(t, syscall.Stat(segments(t, dir)[0], &st))
	if got := st.Blocks * 512; got > 16<<10 {
		t.Errorf("%d bytes of disk for one record", got)
	}
}

func TestFoldersThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		name, want string
		make       func(t *testing.T, dir string)
	}{
		{"a link", "symbolic link", func(t *testing.T, dir string) {
			must(t, os.Mkdir(filepath.Join(dir, "real"), 0o750))
			must(t, os.Symlink("real", filepath.Join(dir, "log")))
		}},
		{"a file", "no folder", func(t *testing.T, dir string) { must(t, os.WriteFile(filepath.Join(dir, "log"), nil, 0o640)) }},
		{"writable by a group", "writable by", func(t *testing.T, dir string) {
			must(t, os.Mkdir(filepath.Join(dir, "log"), 0o750))
			must(t, os.Chmod(filepath.Join(dir, "log"), 0o770))
		}},
		{"writable by all, sticky", "log", func(t *testing.T, dir string) {
			must(t, os.Mkdir(filepath.Join(dir, "log"), 0o750))
			must(t, os.Chmod(filepath.Join(dir, "log"), 0o777|os.ModeSticky))
		}},
		{"below a folder that others write", "writable by", func(t *testing.T, dir string) { must(t, os.Chmod(dir, 0o777)) }},
		{"a state folder that others read", "state", func(t *testing.T, dir string) {
			must(t, os.Mkdir(filepath.Join(dir, "state"), 0o755))
			must(t, os.Chmod(filepath.Join(dir, "state"), 0o755))
		}},
		{"a file of the log is a link", "open the audit log", func(t *testing.T, dir string) {
			must(t, os.Mkdir(filepath.Join(dir, "log"), 0o750))
			must(t, os.Symlink("/etc/passwd", filepath.Join(dir, "log", "audit-00000000000000000001.jsonl")))
		}},
		{"a file of the log has a second name", "one name", func(t *testing.T, dir string) {
			must(t, os.Mkdir(filepath.Join(dir, "log"), 0o750))
			must(t, os.WriteFile(filepath.Join(dir, "x"), nil, 0o640))
			must(t, os.Link(filepath.Join(dir, "x"), filepath.Join(dir, "log", "audit-00000000000000000001.jsonl")))
		}},
		{"a file of the log is a FIFO", "plain file", func(t *testing.T, dir string) {
			must(t, os.Mkdir(filepath.Join(dir, "log"), 0o750))
			must(t, syscall.Mkfifo(filepath.Join(dir, "log", "audit-00000000000000000001.jsonl"), 0o640))
		}},
		{"the head is a link", "head", func(t *testing.T, dir string) {
			must(t, os.Mkdir(filepath.Join(dir, "state"), 0o700))
			must(t, os.Symlink("/etc/passwd", filepath.Join(dir, "state", "audit-head")))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.make(t, dir)
			w, err := audit.Open(options(dir, 0), now)
			if err == nil {
				w.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestOneWriterAtATime(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	w := open(t, options(a, 0))
	for _, o := range []audit.Options{
		options(a, 0),
		{Dir: options(a, 0).Dir, StateDir: options(b, 0).StateDir},
		{Dir: options(b, 0).Dir, StateDir: options(a, 0).StateDir},
	} {
		if _, err := audit.Open(o, now); !errors.Is(err, safefile.ErrLocked) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	must(t, w.Close())
	must(t, open(t, options(a, 0)).Close())
}

func TestABoundaryIsAWord(t *testing.T) {
	o := options(t.TempDir(), 0)
	o.Boundary = "some"
	if _, err := audit.Open(o, now); err == nil || !strings.Contains(err.Error(), "boundary") {
		t.Errorf("got %v", err)
	}
}

// The names by which records of a request and its events go are the same.
func TestKindsAreNamedLikeEvents(t *testing.T) {
	for _, s := range action.States() {
		if !slices.Contains(audit.Kinds(), audit.Kind(s.Event().String())) {
			t.Errorf("there is no kind for the event %v", s.Event())
		}
	}
	for _, bad := range []string{"", "Spent", "allowed"} {
		if _, err := audit.ParseKind(bad); err == nil {
			t.Errorf("%q is a kind", bad)
		}
	}
}
