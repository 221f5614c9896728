package logs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// journalctl is a program that writes its arguments to a file beside it and
// prints output.
func journalctl(t *testing.T, output, stderr string, status int) (s Source, arguments func() string) {
	t.Helper()
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$@\" >%[1]s/args\ncat %[1]s/out\ncat %[1]s/err >&2\nexit %[2]d\n", dir, status)
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "journalctl"), []byte(script), 0o755),
		os.WriteFile(filepath.Join(dir, "out"), []byte(output), 0o644),
		os.WriteFile(filepath.Join(dir, "err"), []byte(stderr), 0o644),
	); err != nil {
		t.Fatal(err)
	}
	return Source{Folder: dir, Journalctl: filepath.Join(dir, "journalctl")}, func() string {
		text, err := os.ReadFile(filepath.Join(dir, "args"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

// Newest first, as journalctl --reverse prints them.
const entries = `{"__REALTIME_TIMESTAMP":"1767229503000000","MESSAGE":"third","PRIORITY":"3","SYSLOG_IDENTIFIER":"sshd","_PID":"77"}
{"__REALTIME_TIMESTAMP":"1767229502000000","MESSAGE":[104,105,27,255],"PRIORITY":"6","_COMM":"app"}
{"__REALTIME_TIMESTAMP":"1767229501000000","MESSAGE":"first\nsecond line","PRIORITY":"4","SYSLOG_IDENTIFIER":["kernel","x"],"SYSLOG_PID":"1"}
`

func stampOf(seconds int64) string { return time.Unix(seconds, 0).Format(time.RFC3339) }

func TestShowJournal(t *testing.T) {
	first := stampOf(1767229501) + " kernel[1]: warning: first\n    second line\n"
	second := stampOf(1767229502) + " app: hi\\u{1b}\\x{ff}\n"
	third := stampOf(1767229503) + " sshd[77]: err: third\n"
	for _, c := range []struct {
		name    string
		request Request
		stderr  string
		status  int
		want    string
		n       int
	}{
		{"all, oldest first", Request{}, "", 0, first + second + third, 3},
		{"limit", Request{Limit: 2}, "", 0, second + third + `... older entries are not shown; use a larger limit than 2, or until="` + stampOf(1767229502) + "\"\n", 2},
		{"grep", Request{Grep: regexp.MustCompile("second|third")}, "", 0, first + third, 2},
		{"grep that finds nothing", Request{Grep: regexp.MustCompile("fourth")}, "", 0, "... no entries\n", 0},
		{"what journalctl says", Request{Limit: 3}, "Hint: you see\nonly your own\x1b[0m\n", 0, first + second + third + "... journalctl: Hint: you see\n... journalctl: only your own\\u{1b}[0m\n", 3},
		{"status 1 without a word", Request{}, "", 1, first + second + third, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := journalctl(t, entries, c.stderr, c.status)
			got, n, err := show(t, s, c.request)
			if err != nil || got != c.want || n != c.n {
				t.Errorf("%d %v\n%s\nwant %d\n%s", n, err, got, c.n, c.want)
			}
		})
	}
}

func TestJournalArguments(t *testing.T) {
	s, arguments := journalctl(t, "", "", 0)
	r := Request{Unit: "-x.service", Priority: "err", Since: time.Unix(100, 0), Until: time.Unix(200, 999)}
	if got, n, err := show(t, s, r); err != nil || n != 0 || got != "... no entries\n" {
		t.Fatalf("%q %d %v", got, n, err)
	}
	for _, want := range []string{"--reverse", "--output=json", "--all", "--no-pager", "--unit=-x.service", "--priority=err", "--since=@100", "--until=@200"} {
		if !strings.Contains(arguments(), want+"\n") {
			t.Errorf("no %s in %q", want, arguments())
		}
	}
}

func TestShowJournalFails(t *testing.T) {
	s, _ := journalctl(t, "", "No journal files were opened\n", 1)
	_, _, err := show(t, s, Request{})
	var e *Error
	if !errors.As(err, &e) || e.Message != "journalctl failed: exit status 1: No journal files were opened" {
		t.Errorf("%v", err)
	}
	s.Journalctl = filepath.Join(s.Folder, "gone")
	if _, _, err := show(t, s, Request{}); !errors.As(err, &e) {
		t.Errorf("a program that is not there: %v", err)
	}
}

func TestDamagedEntriesAreCounted(t *testing.T) {
	s, _ := journalctl(t, "not json\n{\"MESSAGE\":\"no time\"}\n"+entries, "", 0)
	got, n, err := show(t, s, Request{})
	if err != nil || n != 3 || !strings.HasSuffix(got, "... 2 entries could not be read\n") {
		t.Errorf("%d %v\n%s", n, err, got)
	}
}

// The journal is not read to its beginning when enough was found: this one has none.
func TestJournalIsNotReadToItsEnd(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\nwhile :; do echo '" + strings.SplitN(entries, "\n", 2)[0] + "'; done\n"
	path := filepath.Join(dir, "journalctl")
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	_, n, err := show(t, Source{Folder: dir, Journalctl: path}, Request{Limit: 5})
	if err != nil || n != 5 {
		t.Errorf("%d %v", n, err)
	}
}

func FuzzEntryText(f *testing.F) {
	for line := range strings.Lines(entries) {
		f.Add([]byte(line))
	}
	f.Add([]byte(`{"__REALTIME_TIMESTAMP":"1","MESSAGE":[[1],[2]],"PRIORITY":99}`))
	f.Add([]byte(`{"__REALTIME_TIMESTAMP":"-9223372036854775808","MESSAGE":null}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		text, _, err := entryText(line)
		if err != nil {
			return
		}
		for _, r := range entry(text) {
			if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
				t.Fatalf("%q shows %U", line, r)
			}
		}
	})
}
