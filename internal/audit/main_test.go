package audit_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"snens/broker/action"
	"snens/internal/audit"
)

// With AUDIT_TEST_DIR the test binary is a broker that writes to the log there,
// prints the number of each record after it was recorded, and goes on until it
// is killed.
func TestMain(m *testing.M) {
	dir := os.Getenv("AUDIT_TEST_DIR")
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := writeForEver(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func writeForEver(dir string) error {
	w, err := audit.Open(options(dir, 8<<10), now)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		write := w.Append
		if i%7 == 0 {
			write = w.AppendSync
		}
		if err := write(now, spent(i)); err != nil {
			return err
		}
		fmt.Println(w.Head().Count)
	}
}

var now = time.Date(2030, 1, 2, 3, 4, 5, 678901000, time.UTC)

// options keep the log and the head in two folders below dir.
func options(dir string, size int64) audit.Options {
	return audit.Options{Dir: filepath.Join(dir, "log"), StateDir: filepath.Join(dir, "state"), MaxSegment: size}
}

func open(t testing.TB, o audit.Options) *audit.Writer {
	t.Helper()
	w, err := audit.Open(o, now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// spent is a short record that is different for each i.
func spent(i int) audit.Entry {
	return audit.Entry{Kind: audit.Spent, ID: action.RequestID{1}, Digest: action.DigestOf(fmt.Sprint(i))}
}

// written makes a closed log of n short records and returns its folder.
func written(t testing.TB, n int, size int64) string {
	t.Helper()
	dir := t.TempDir()
	w := open(t, options(dir, size))
	for i := range n {
		must(t, w.Append(now, spent(i)))
	}
	must(t, w.Close())
	return dir
}

// image copies a log as a crash would leave it, and returns the new folder.
func image(t testing.TB, dir string) string {
	t.Helper()
	to := t.TempDir()
	must(t, os.CopyFS(to, os.DirFS(dir)))
	for _, sub := range []struct {
		name string
		mode os.FileMode
	}{{"log", 0o750}, {"state", 0o700}, {"state/audit-head", 0o600}} {
		must(t, os.Chmod(filepath.Join(to, sub.name), sub.mode))
	}
	for _, s := range segments(t, to) {
		must(t, os.Chmod(s, 0o640))
	}
	return to
}

// segments are the paths of the files of a log.
func segments(t testing.TB, dir string) (paths []string) {
	t.Helper()
	all, err := audit.Segments(filepath.Join(dir, "log"))
	must(t, err)
	for _, s := range all {
		paths = append(paths, filepath.Join(dir, "log", s.Name))
	}
	return paths
}

// verify holds the log in dir against its head.
func verify(t testing.TB, dir string) (audit.Report, error) {
	t.Helper()
	head, err := audit.ReadHead(filepath.Join(dir, "state"))
	must(t, err)
	return audit.Verify(filepath.Join(dir, "log"), &head)
}

// sound demands that the log has no fault.
func sound(t testing.TB, dir string) audit.Report {
	t.Helper()
	report, err := verify(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// records reads every record of a log.
func records(t testing.TB, dir string) (all []audit.Record) {
	t.Helper()
	for _, path := range segments(t, dir) {
		data, err := os.ReadFile(path)
		must(t, err)
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, audit.MaxLine)
		for lines.Scan() {
			r, err := audit.ParseRecord(lines.Bytes())
			if err != nil {
				t.Fatalf("%v: %s", err, lines.Text())
			}
			all = append(all, r)
		}
		must(t, lines.Err())
	}
	return all
}

// kinds are the kinds of records, in order.
func kinds(all []audit.Record) (out []audit.Kind) {
	for _, r := range all {
		out = append(out, r.Kind)
	}
	return out
}
