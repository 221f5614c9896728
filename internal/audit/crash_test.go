package audit_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"snens/broker/action"
	"snens/internal/audit"
)

// A writer that is killed in the middle of its work, over and over on the same
// log: what it said was recorded is there, and the log never gets a fault.
func TestKilledWriters(t *testing.T) {
	dir := t.TempDir()
	for round := range 16 {
		said := killedAfter(t, dir, 1+round*11)
		sound(t, dir) // as it was left
		w := open(t, options(dir, 8<<10))
		if got := w.Head().Count; got < said {
			t.Fatalf("round %d: %d records, but the writer had said %d", round, got, said)
		}
		must(t, w.Append(now, spent(round)))
		must(t, w.Close())
		if report := sound(t, dir); report.Notes != nil {
			t.Fatalf("round %d: %v", round, report.Notes)
		}
	}
	for _, r := range records(t, dir) {
		if r.Kind == audit.Gap || r.Kind == audit.Damaged || r.Kind == audit.HeadLost {
			t.Errorf("record %d is a %s", r.Seq, r.Kind)
		}
	}
}

// killedAfter runs a writer, kills it after it has said n numbers, and returns
// the last that it said before it died.
func killedAfter(t *testing.T, dir string, n int) (said uint64) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "AUDIT_TEST_DIR="+dir)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for i := 0; lines.Scan(); i++ {
		if i == n {
			must(t, cmd.Process.Kill())
		}
		// The last line may be cut off by the kill: then it is no number said.
		if got, err := strconv.ParseUint(lines.Text(), 10, 64); err == nil && got > said && got <= said+2 || said == 0 {
			said = got
		}
	}
	if err := cmd.Wait(); err == nil || errs.Len() > 0 {
		t.Fatalf("the writer ended by itself: %v %s", err, errs.String())
	}
	return said
}

// A crash in mid-write leaves any beginning of the last line, with the head of
// the record before: it is cut off, described, and the log goes on.
func TestTornLastLines(t *testing.T) {
	dir := t.TempDir()
	w := open(t, options(dir, 1<<20))
	for i := range 2 {
		must(t, w.Append(now, spent(i)))
	}
	before := image(t, dir)
	must(t, w.Append(now, spent(2)))
	whole := read(t, segments(t, dir)[0])
	good := len(read(t, segments(t, before)[0]))
	for n := good; n <= len(whole); n += 1 + n%5 {
		for _, junk := range []string{"", "\x00\x00\x00"} {
			torn := append(bytes.Clone(whole[:n]), junk...)
			if n == len(whole) && junk == "" {
				continue
			}
			crashed := image(t, before)
			must(t, os.WriteFile(segments(t, crashed)[0], torn, 0o640))
			sound(t, crashed)
			w := open(t, options(crashed, 1<<20))
			must(t, w.Append(now, spent(3)))
			must(t, w.Close())
			want := []audit.Kind{audit.Spent, audit.Spent, audit.Torn, audit.Spent}
			kept := good
			switch {
			case n == good && junk == "":
				want = slices.Delete(want, 2, 3)
			case n == len(whole):
				want, kept = slices.Insert(want, 2, audit.Spent), n
			}
			all := records(t, crashed)
			if !reflect.DeepEqual(kinds(all), want) {
				t.Fatalf("cut at %d: %v, want %v", n, kinds(all), want)
			}
			for _, r := range all {
				fragment := string(torn[kept:])
				if r.Kind == audit.Torn && (r.Offset != uint64(kept) || r.Bytes != uint64(len(fragment)) || r.Digest != action.DigestOf(fragment) || r.Detail != fragment) {
					t.Fatalf("cut at %d: %+v", n, r)
				}
			}
			if report := sound(t, crashed); report.Notes != nil {
				t.Fatalf("cut at %d: %v", n, report.Notes)
			}
		}
	}
}

// A crash between the record and the head, between the new file and its first
// record, and in the middle of that one.
func TestCrashesAroundTheHeadAndARotation(t *testing.T) {
	dir := t.TempDir()
	w := open(t, options(dir, 1<<20))
	must(t, w.Append(now, spent(0)))
	before := image(t, dir)
	must(t, w.Append(now, spent(1)))

	late := image(t, dir)
	must(t, os.WriteFile(filepath.Join(late, "state", "audit-head"), read(t, filepath.Join(before, "state", "audit-head")), 0o600))
	if report := sound(t, late); len(report.Notes) != 1 || !strings.Contains(report.Notes[0], "1 records are newer") {
		t.Errorf("%+v", report)
	}
	must(t, open(t, options(late, 1<<20)).Close())
	if report := sound(t, late); report.Head.Count != 2 || report.Notes != nil {
		t.Errorf("%+v", report)
	}

	for _, torn := range []string{"", `{"seq":3,"ti`} {
		rotating := image(t, dir)
		next := filepath.Join(rotating, "log", "audit-00000000000000000003.jsonl")
		must(t, os.WriteFile(next, []byte(torn), 0o640))
		sound(t, rotating)
		w := open(t, options(rotating, 1<<20))
		must(t, w.Append(now, spent(2)))
		must(t, w.Close())
		want := []audit.Kind{audit.Spent, audit.Spent, audit.Spent}
		if torn != "" {
			want = slices.Insert(want, 2, audit.Torn)
		}
		if got := kinds(records(t, rotating)); !reflect.DeepEqual(got, want) || len(segments(t, rotating)) != 2 || len(read(t, next)) == 0 {
			t.Errorf("after %q: %v", torn, got)
		}
		sound(t, rotating)
	}
}

// A power cut can take records that were not yet on the disk; what was there
// by Sync cannot go without a fault.
func TestRecordsLostInAPowerCut(t *testing.T) {
	dir := t.TempDir()
	w := open(t, options(dir, 1<<20))
	for i := range 3 {
		must(t, w.AppendSync(now, spent(i)))
	}
	for i := range 3 {
		must(t, w.Append(now, spent(i)))
	}
	lines := bytes.SplitAfter(read(t, segments(t, dir)[0]), []byte("\n"))
	for keep := range 6 {
		crashed := image(t, dir)
		must(t, os.WriteFile(segments(t, crashed)[0], bytes.Join(lines[:keep], nil), 0o640))
		if f := faultOf(t, crashed); f.Seq != uint64(keep+1) || f.To != 6 {
			t.Errorf("%d kept, before the start: %v", keep, f)
		}
		w := open(t, options(crashed, 1<<20))
		must(t, w.Append(now, spent(7)))
		must(t, w.Close())
		report, err := verify(t, crashed)
		if keep >= 3 {
			if err != nil || len(report.Notes) != 1 || !strings.Contains(report.Notes[0], "lost in a crash") || report.Head.Count != 8 {
				t.Errorf("%d kept: %+v, %v", keep, report, err)
			}
			continue
		}
		if f := faultOf(t, crashed); f.Seq != uint64(keep+1) || f.To != 6 {
			t.Errorf("%d kept, after the start: %v", keep, f)
		}
	}
}

// What no crash can have done stays a fault for ever, and the log goes on.
func TestADamagedLogGoesOn(t *testing.T) {
	clean := written(t, 6, 1<<20)
	for _, c := range []struct {
		name string
		do   func(l [][]byte) [][]byte
		want string
	}{
		{"a changed record", func(l [][]byte) [][]byte { l[2][20] ^= 1; return l }, ":3: record 3 was changed"},
		{"the last record changed", func(l [][]byte) [][]byte { l[5][20] ^= 1; return l }, ":6: record 6 was changed"},
		{"a record in the middle gone", func(l [][]byte) [][]byte { return slices.Delete(l, 2, 3) }, ":3: record 3 missing"},
		{"all rewritten from the third on", func(l [][]byte) [][]byte {
			prev := ""
			for i := 2; i < 6; i++ {
				if i > 2 {
					at := bytes.Index(l[i], []byte(`"prev":"`)) + 8
					copy(l[i][at:], prev)
				}
				l[i] = rehashed(l[i], `"spent"`, `"stale"`)
				prev = string(l[i][len(l[i])-67 : len(l[i])-3])
			}
			return l
		}, ":6: record 6 was replaced"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := image(t, clean)
			edit(t, segments(t, dir)[0], c.do)
			if f := faultOf(t, dir); !strings.Contains(f.Error(), c.want) {
				t.Errorf("before: %v, want %q", f, c.want)
			}
			damaged := read(t, segments(t, dir)[0])
			for range 3 {
				w := open(t, options(dir, 1<<20))
				must(t, w.Append(now, spent(7)))
				must(t, w.Close())
			}
			if f := faultOf(t, dir); !strings.Contains(f.Error(), c.want) && !strings.Contains(f.Error(), "record 6 was replaced") {
				t.Errorf("after: %v, want %q", f, c.want)
			}
			if !bytes.HasPrefix(read(t, segments(t, dir)[0]), damaged) {
				t.Error("the evidence was changed")
			}
			last := segments(t, dir)
			if !bytes.Contains(read(t, last[len(last)-1]), []byte(`"kind":"spent"`)) {
				t.Error("the log did not go on")
			}
		})
	}
}

func TestALostHeadIsSaid(t *testing.T) {
	for name, do := range map[string]func(t *testing.T, path string){
		"gone":    func(t *testing.T, path string) { must(t, os.Remove(path)) },
		"garbage": func(t *testing.T, path string) { must(t, os.WriteFile(path, []byte("x\n"), 0o600)) },
	} {
		dir := written(t, 3, 1<<20)
		do(t, filepath.Join(dir, "state", "audit-head"))
		w := open(t, options(dir, 1<<20))
		must(t, w.Append(now, spent(3)))
		must(t, w.Close())
		want := []audit.Kind{audit.Spent, audit.Spent, audit.Spent, audit.HeadLost, audit.Spent}
		if got := kinds(records(t, dir)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v", name, got)
		}
		if report := sound(t, dir); len(report.Notes) != 1 {
			t.Errorf("%s: %v", name, report.Notes)
		}
	}
	// One damaged line of the head is what a crash can leave: the other counts.
	dir := written(t, 3, 1<<20)
	path := filepath.Join(dir, "state", "audit-head")
	for _, at := range []int{5, 130} {
		data := read(t, path)
		data[at] ^= 1
		must(t, os.WriteFile(path, data, 0o600))
		must(t, open(t, options(dir, 1<<20)).Close())
		if report := sound(t, dir); report.Head.Count != 3 || report.Notes != nil {
			t.Errorf("%+v", report)
		}
	}
}
