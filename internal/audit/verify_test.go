package audit_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snens/internal/audit"
)

// faultOf demands a fault and returns it.
func faultOf(t *testing.T, dir string) *audit.Fault {
	t.Helper()
	_, err := verify(t, dir)
	var fault *audit.Fault
	if !errors.As(err, &fault) {
		t.Fatalf("got %v, want a fault", err)
	}
	return fault
}

// Whatever byte is changed, the record that it belongs to is named.
func TestEveryByteIsWatched(t *testing.T) {
	dir := written(t, 4, 1000)
	files := segments(t, dir)
	if len(files) < 2 {
		t.Fatalf("%d files", len(files))
	}
	seq := uint64(0)
	for _, path := range files {
		data, err := os.ReadFile(path)
		must(t, err)
		line, column := uint64(1), 0
		for i := range data {
			if column == 0 {
				seq++
			}
			changed := bytes.Clone(data)
			changed[i] ^= 1
			must(t, os.WriteFile(path, changed, 0o640))
			fault := faultOf(t, dir)
			if fault.Seq != seq || fault.File != filepath.Base(path) || fault.Line != line {
				t.Fatalf("byte %d of %s, in record %d, line %d: %v", i, path, seq, line, fault)
			}
			if column++; data[i] == '\n' {
				line, column = line+1, 0
			}
		}
		must(t, os.WriteFile(path, data, 0o640))
	}
	sound(t, dir)
}

// Wherever the log is cut, the first record that is not whole any more is named.
func TestEveryCutIsNoticed(t *testing.T) {
	dir := written(t, 6, 1500)
	files := segments(t, dir)
	last := files[len(files)-1]
	data, err := os.ReadFile(last)
	must(t, err)
	before := uint64(len(records(t, dir)) - bytes.Count(data, []byte("\n")))
	head := uint64(len(records(t, dir)))
	for n := range data {
		must(t, os.WriteFile(last, data[:n], 0o640))
		fault := faultOf(t, dir)
		whole := uint64(bytes.Count(data[:n], []byte("\n")))
		if fault.Seq != before+whole+1 || fault.Line != whole+1 || fault.To > head {
			t.Fatalf("cut at byte %d, after %d lines: %v", n, whole, fault)
		}
	}
}

func TestDeletedRecordsAreNamed(t *testing.T) {
	for k := range 6 {
		dir := written(t, 6, 1<<20)
		path := segments(t, dir)[0]
		data, err := os.ReadFile(path)
		must(t, err)
		lines := bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
		must(t, os.WriteFile(path, bytes.Join(lines[:k], nil), 0o640))
		if f := faultOf(t, dir); f.Seq != uint64(k+1) || f.To != 6 || f.Line != uint64(k+1) || !strings.Contains(f.Error(), "missing") {
			t.Errorf("with the last %d gone: %v", 6-k, f)
		}
		// Without the head nobody can know; it is said.
		report, err := audit.Verify(filepath.Dir(path), nil)
		if err != nil || report.Head.Count != uint64(k) || len(report.Notes) != 1 {
			t.Errorf("without a head: %+v, %v", report, err)
		}
		if k == 5 {
			continue
		}
		without := append(bytes.Join(lines[:k], nil), bytes.Join(lines[k+1:], nil)...)
		must(t, os.WriteFile(path, append(without, '\n'), 0o640))
		if f := faultOf(t, dir); f.Seq != uint64(k+1) || f.To != f.Seq {
			t.Errorf("without record %d: %v", k+1, f)
		}
	}
}

func TestOtherForgeries(t *testing.T) {
	dir := written(t, 40, 4<<10)
	other := t.TempDir()
	w := open(t, options(other, 4<<10))
	for i := range 40 {
		must(t, w.Append(now, spent(1000+i)))
	}
	from := func(seq int) []byte { return bytes.SplitAfter(read(t, segments(t, other)[0]), []byte("\n"))[seq-1] }
	for _, c := range []struct {
		name string
		do   func(t *testing.T, files []string)
		want string
	}{
		{"the first file is gone", func(t *testing.T, f []string) { must(t, os.Remove(f[0])) }, "records 1 to "},
		{"a file in the middle is gone", func(t *testing.T, f []string) { must(t, os.Remove(f[1])) }, "missing: no file"},
		{"the last file is gone", func(t *testing.T, f []string) { must(t, os.Remove(f[len(f)-1])) }, "cut off at the end"},
		{"all files are gone", func(t *testing.T, f []string) {
			for _, p := range f {
				must(t, os.Remove(p))
			}
		}, "audit-00000000000000000001.jsonl:1: records 1 to "},
		{"a file is there twice", func(t *testing.T, f []string) { rename(t, f[0], "audit-00000000000000000002.jsonl") }, "missing"},
		{"two lines have changed places", func(t *testing.T, f []string) {
			edit(t, f[0], func(l [][]byte) [][]byte { l[1], l[2] = l[2], l[1]; return l })
		}, ":2: record 2 missing"},
		{"a line is there twice", func(t *testing.T, f []string) {
			edit(t, f[0], func(l [][]byte) [][]byte { return append(l[:2:2], l[1:]...) })
		}, ":3: record 2 stands where record 3 should be"},
		{"a line of another log", func(t *testing.T, f []string) {
			edit(t, f[0], func(l [][]byte) [][]byte { l[3] = from(4); return l })
		}, ":4: record 4 was replaced"},
		{"the first line of another log", func(t *testing.T, f []string) {
			edit(t, f[0], func(l [][]byte) [][]byte { l[0] = from(1); return l })
		}, ":1: record 1 was replaced"},
		{"a line with the right hash before it", func(t *testing.T, f []string) {
			edit(t, f[0], func(l [][]byte) [][]byte { l[2] = rehashed(l[2], "spent", "stale"); return l })
		}, ":3: record 3 was replaced"},
		{"the last line with the right hash before it", func(t *testing.T, f []string) {
			edit(t, f[len(f)-1], func(l [][]byte) [][]byte {
				l[len(l)-1] = rehashed(l[len(l)-1], "spent", "stale")
				return l
			})
		}, "was replaced: the head names another hash"},
		{"an empty line", func(t *testing.T, f []string) {
			edit(t, f[0], func(l [][]byte) [][]byte { return append([][]byte{[]byte("\n")}, l...) })
		}, ":1: record 1 was changed"},
		{"a line without end", func(t *testing.T, f []string) {
			edit(t, f[0], func(l [][]byte) [][]byte { l[2] = bytes.Repeat([]byte("x"), 2*audit.MaxLine); return l[:3] })
		}, ":3: record 3 was changed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			copied := image(t, dir)
			c.do(t, segments(t, copied))
			if f := faultOf(t, copied); !strings.Contains(f.Error(), c.want) {
				t.Errorf("got %v, want %q", f, c.want)
			}
		})
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return data
}

// rehashed is a changed line with a hash that fits it.
func rehashed(line []byte, from, to string) []byte {
	body, _, _ := bytes.Cut(bytes.Replace(line, []byte(from), []byte(to), 1), []byte(`,"hash"`))
	return fmt.Appendf(bytes.Clone(body), `,"hash":"%x"}`+"\n", sha256.Sum256(body))
}

func rename(t *testing.T, path, to string) {
	t.Helper()
	must(t, os.Rename(path, filepath.Join(filepath.Dir(path), to)))
}

// edit changes the lines of a file.
func edit(t *testing.T, path string, do func([][]byte) [][]byte) {
	t.Helper()
	lines := bytes.SplitAfter(bytes.TrimSuffix(read(t, path), []byte("\n")), []byte("\n"))
	lines[len(lines)-1] = append(lines[len(lines)-1], '\n')
	must(t, os.WriteFile(path, bytes.Join(do(lines), nil), 0o640))
}

func TestOfTheHead(t *testing.T) {
	dir := written(t, 3, 1<<20)
	path := filepath.Join(dir, "state", "audit-head")
	data := read(t, path)
	for i := range data {
		changed := bytes.Clone(data)
		changed[i] ^= 1
		must(t, os.WriteFile(path, changed, 0o600))
		if _, err := audit.ReadHead(filepath.Dir(path)); err == nil {
			t.Errorf("byte %d was changed", i)
		}
	}
	must(t, os.Remove(path))
	if _, err := audit.ReadHead(filepath.Dir(path)); !errors.Is(err, audit.ErrNoHead) {
		t.Errorf("got %v", err)
	}
}

// A log that is being written verifies at every moment.
func TestALiveLogVerifies(t *testing.T) {
	dir := t.TempDir()
	w := open(t, options(dir, 4<<10))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 400 {
			if err := w.Append(now, spent(i)); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for rounds := 0; ; rounds++ {
		sound(t, dir)
		select {
		case <-done:
			if sound(t, dir); rounds == 0 {
				t.Log("the writer was faster than one verification")
			}
			return
		default:
		}
	}
}
