package logs

import (
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// folder makes log files; names that end in .gz are packed.
func folder(t *testing.T, files map[string]string) Source {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".gz") {
			w := gzip.NewWriter(f)
			_, err = w.Write([]byte(content))
			err = errors.Join(err, w.Close())
		} else {
			_, err = f.WriteString(content)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return Source{Folder: dir}
}

func show(t *testing.T, s Source, r Request) (string, int, error) {
	t.Helper()
	var out strings.Builder
	n, err := s.Show(&out, r)
	return strings.ReplaceAll(out.String(), s.Folder, "LOGS"), n, err
}

func at(t *testing.T, s string) time.Time {
	t.Helper()
	when, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return when
}

const dated = "2026-01-01T10:00:00Z start\n" +
	"2026-01-01T11:00:00Z oops\n  at line 1\n  at line 2\n" +
	"2026-01-01T12:00:00Z end \x1b[31m\n"

func TestShowFiles(t *testing.T) {
	s := folder(t, map[string]string{
		"syslog": "a\nb\nc\n", "app/x.log": dated, "old.gz": dated, "open": "a\nb", "empty": "", "crlf": "a\r\nb\r\n",
	})
	since := at(t, "2026-01-01T10:30:00Z")
	until := at(t, "2026-01-01T11:30:00Z")
	for _, c := range []struct {
		name    string
		request Request
		want    string
		n       int
	}{
		{"the usual file", Request{}, "a\nb\nc\n... from LOGS/syslog\n", 3},
		{"limit", Request{Limit: 2}, "b\nc\n... older entries are not shown; use a larger limit than 2\n... from LOGS/syslog\n", 2},
		{"limit that is just enough", Request{Limit: 3}, "a\nb\nc\n... from LOGS/syslog\n", 3},
		{"grep", Request{Grep: regexp.MustCompile("[ac]")}, "a\nc\n... from LOGS/syslog\n", 2},
		{"nothing", Request{Grep: regexp.MustCompile("x")}, "... no entries\n... from LOGS/syslog\n", 0},
		{"no last newline", Request{File: "open"}, "a\nb\n", 2},
		{"an empty file", Request{File: "empty"}, "... no entries\n", 0},
		{"CRLF", Request{File: "crlf"}, "a\nb\n", 2},
		{"a folder below", Request{File: "app/x.log", Limit: 1}, "2026-01-01T12:00:00Z end \\u{1b}[31m\n... older entries are not shown; use a larger limit than 1, or until=\"2026-01-01T12:00:00Z\"\n", 1},
		{"since", Request{File: "app/x.log", Since: since}, "2026-01-01T11:00:00Z oops\n  at line 1\n  at line 2\n2026-01-01T12:00:00Z end \\u{1b}[31m\n", 4},
		{"until", Request{File: "app/x.log", Until: until}, "2026-01-01T10:00:00Z start\n2026-01-01T11:00:00Z oops\n  at line 1\n  at line 2\n", 4},
		{"between", Request{File: "app/x.log", Since: since, Until: until}, "2026-01-01T11:00:00Z oops\n  at line 1\n  at line 2\n", 3},
		{"between, packed", Request{File: "old.gz", Since: since, Until: until}, "2026-01-01T11:00:00Z oops\n  at line 1\n  at line 2\n", 3},
		{"packed", Request{File: "old.gz", Limit: 2}, "  at line 2\n2026-01-01T12:00:00Z end \\u{1b}[31m\n... older entries are not shown; use a larger limit than 2\n", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, n, err := show(t, s, c.request)
			if err != nil || got != c.want || n != c.n {
				t.Errorf("%d %v\n%s\nwant %d\n%s", n, err, got, c.n, c.want)
			}
		})
	}
}

func TestShowFilesRefuses(t *testing.T) {
	s := folder(t, map[string]string{"x.log": "no time\n", "db": "\x00\x01", "bad.gz.log": "x"})
	outside := filepath.Join(t.TempDir(), "secret")
	if err := errors.Join(os.WriteFile(outside, []byte("x"), 0o600), os.Symlink(outside, filepath.Join(s.Folder, "link"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		request       Request
		message, hint string
	}{
		{Request{}, "there is no journal here, and neither syslog nor messages in LOGS", "files: bad.gz.log, db, x.log"},
		{Request{File: "gone"}, "there is no log file LOGS/gone", "files: bad.gz.log, db, x.log"},
		{Request{File: "link"}, "link is not below LOGS", "read and grep show other files"},
		{Request{File: "../../etc/passwd"}, "", ""},
		{Request{File: "/etc/passwd"}, "/etc/passwd is not below LOGS", "read and grep show other files"},
		{Request{File: "."}, "LOGS is no plain file", ""},
		{Request{File: "db"}, "LOGS/db is not text: binary data (a NUL at byte 0), 2 bytes", "use read for what it is"},
		{Request{File: "x.log", Since: now}, "the lines of LOGS/x.log begin with no time that is known here", "leave out since and until, or use grep"},
		{Request{Unit: "ssh"}, "unit and priority need the systemd journal, which is not what is read here", "name a file instead: files: bad.gz.log, db, x.log"},
	} {
		_, _, err := show(t, s, c.request)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%+v: %v; want a refusal", c.request, err)
			continue
		}
		message := strings.ReplaceAll(e.Message, s.Folder, "LOGS")
		if c.message != "" && (message != c.message || e.Hint != c.hint) {
			t.Errorf("%+v: %q, hint %q; want %q, %q", c.request, message, e.Hint, c.message, c.hint)
		}
	}
}

// Lines come out the same wherever the borders of the blocks fall.
func TestBackwardReadingLosesNothing(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "%d %s\n", i, strings.Repeat("x", i%97))
	}
	all := strings.Repeat("y", 150_000) + "\n" + b.String() + "\n\nlast"
	s := folder(t, map[string]string{"x": all})
	var got []string
	f, err := os.Open(filepath.Join(s.Folder, "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	read, err := plainLines(f, int64(len(all)), &collector{})
	if err != nil {
		t.Fatal(err)
	}
	if err := read(func(line string) bool { got = append(got, line); return true }); err != nil {
		t.Fatal(err)
	}
	want := strings.Split(all, "\n")
	if len(got) != len(want) {
		t.Fatalf("%d lines; want %d", len(got), len(want))
	}
	for i := range want {
		if got[len(got)-1-i] != want[i] {
			t.Fatalf("line %d is %.60q; want %.60q", i, got[len(got)-1-i], want[i])
		}
	}
}

func TestShowIsBounded(t *testing.T) {
	s := folder(t, map[string]string{"syslog": strings.Repeat(strings.Repeat("z", 3000)+"\n", 500)})
	got, n, err := show(t, s, Request{Limit: 400})
	if err != nil || len(got) > outputBytes+500 || n > 65 || !strings.Contains(got, "z [... 2000 more bytes]\n") ||
		!strings.Contains(got, "... older entries are not shown; stopped at 64.0 KiB of output\n") {
		t.Errorf("%d entries in %d bytes, %v, ending %q", n, len(got), err, got[max(0, len(got)-150):])
	}
}
