package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"snens/internal/audit"
)

func TestShowFilters(t *testing.T) {
	w := newWorld(t, audit.Options{})
	w.add(
		received(1, 1000, "/usr/bin/true"), decided(1, "restart", "ask"), pending(1), // 1 2 3
		received(2, 2000, "/usr/bin/id"), decided(2, "who", "allow"), // 4 5
		received(3, 1000, "/usr/bin/id"), decided(3, "who", "ask"), pending(3), // 6 7 8
		audit.Entry{Kind: audit.Kill, ID: id(2), UID: 1000}, // 9
		audit.Entry{Kind: audit.Stop},                       // 10
	)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"show"}, "1 2 3 4 5 6 7 8 9 10"},
		{[]string{"show", id(2).String()}, "4 5 9"},
		{[]string{"show", "--uid", "1000"}, "1 2 3 6 7 8 9"},
		{[]string{"show", "--uid", "2000"}, "4 5 9"},
		{[]string{"show", "--rule", "who"}, "4 5 6 7 8 9"},
		{[]string{"show", "--rule", "who", "--uid", "1000"}, "6 7 8 9"},
		{[]string{"show", "--kind", "decided"}, "2 5 7"},
		{[]string{"show", "--kind", "decided", "--uid", "1000"}, "2 7"},
		{[]string{"show", "--since", "2026-01-31T12:09:00Z"}, "9 10"},
		{[]string{"show", "--since", "1ns"}, ""},
		{[]string{"tail", "-n", "3"}, "8 9 10"},
		{[]string{"tail", "-n", "0"}, ""},
		{[]string{"tail", "-n", "2", "--kind", "decided"}, "5 7"},
		{[]string{"tail", "-n", "100"}, "1 2 3 4 5 6 7 8 9 10"},
	} {
		if got := numbers(t, w.lines(c.args...)); got != c.want {
			t.Errorf("%v: %q, want %q", c.args, got, c.want)
		}
	}
	code, _, errs := w.do("show", id(9).String())
	if code != 1 || !strings.Contains(errs, "no record in this log is about it") {
		t.Errorf("an unknown id: %d, %s", code, errs)
	}
}

func TestOneLineForEachRecord(t *testing.T) {
	w := newWorld(t, audit.Options{Boundary: audit.BoundaryNone})
	w.add(received(1, 1000, "/bin/echo", "a b", "", "x=1"))
	want := `2026-01-31T12:01:00.000000Z      1 received        ` + id(1).String() +
		` uid=1000 gid=100 argv=[/bin/echo "a b" "" "x=1"] boundary=none`
	if got := w.lines("show")[0]; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// What a requester wrote moves no cursor, ends no line and is no field.
func TestNothingOfARecordReachesTheTerminal(t *testing.T) {
	evil := []string{
		"\x1b[2J", "\x1b]52;c;aGk=\a", "\r", "\b", "\u009b31m", "\x80", "\u202e", "\u200b", "\u2066", "\u2028", "\u00a0",
		"\U000e0041", "a\nDecision: approved", `" decision=allow`, "x] uid=0", "\\u{a}",
	}
	w := newWorld(t, audit.Options{})
	w.add(received(1, 1000, evil...), audit.Entry{Kind: audit.Stop, Detail: strings.Join(evil, " ")})
	for _, args := range [][]string{{"show"}, {"show", "--json"}, {"tail"}, {"tail", "--json"}} {
		lines := w.lines(args...)
		if len(lines) != 2 {
			t.Errorf("%v: %d lines", args, len(lines))
		}
		for _, l := range lines {
			if i := strings.IndexFunc(l, func(r rune) bool { return r < ' ' || r > '~' }); i >= 0 {
				t.Errorf("%v: prints %q", args, l[i:min(len(l), i+10)])
			}
		}
	}
	bare := regexp.MustCompile(`"[^"]*"`).ReplaceAllString(w.lines("show")[0], "")
	if strings.Contains(bare, "decision=") || strings.Contains(bare, "uid=0") {
		t.Errorf("a value looks like a field: %s", bare)
	}
	var r struct{ Argv []any }
	if err := json.Unmarshal([]byte(w.lines("show", "--json")[0]), &r); err != nil {
		t.Fatal(err)
	}
	for i, word := range evil {
		if word == "\x80" {
			continue // in base64
		}
		if r.Argv[i] != word {
			t.Errorf("in JSON %q became %q", word, r.Argv[i])
		}
	}
}

func TestALineThatIsNoRecordIsNamed(t *testing.T) {
	w := newWorld(t, audit.Options{})
	w.add(received(1, 1000, "/bin/a"), received(2, 1000, "/bin/b"), audit.Entry{Kind: audit.Stop})
	segments, err := audit.Segments(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(w.dir, segments[0].Name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(text, []byte("/bin/b"), []byte("/bin/c"), 1)
	if err := os.WriteFile(path, append(changed, "{\x1b[2J"...), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := w.do("show")
	if got := numbers(t, strings.Split(out, "\n")); code != 1 || got != "1 3" {
		t.Errorf("status %d, shows %s", code, got)
	}
	for _, want := range []string{segments[0].Name + ":2: ", segments[0].Name + ":4: ", "snens-priv audit verify"} {
		if !strings.Contains(errs, want) {
			t.Errorf("stderr lacks %q:\n%s", want, errs)
		}
	}
	// A file of the name that is none of the log's is not waited for.
	if err := os.Symlink("/dev/zero", filepath.Join(w.dir, "audit-00000000000000000009.jsonl")); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := w.do("show"); code != 1 || !strings.Contains(errs, "audit-00000000000000000009.jsonl") {
		t.Errorf("a link: %d, %s", code, errs)
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		argv   []string
		code   int
		stdout string
		stderr string
	}{
		{nil, 2, "", "no command"},
		{[]string{""}, 2, "", "no command"},
		{[]string{"snens-audit"}, 2, "", "no command"},
		{[]string{"snens-audit", "--version"}, 0, "snens-audit 0.1.0-dev\n", ""},
		{[]string{"snens-audit", "--help"}, 0, overview, ""},
		{[]string{"snens-audit", "show", "--help"}, 0, overview, ""},
		{[]string{"snens-audit", "verify"}, 2, "", "no such command"},
		{[]string{"snens-audit", "show", "--kind", "nonsense"}, 2, "", "the kinds are approved"},
		{[]string{"snens-audit", "show", "--since", "soon"}, 2, "", "neither a duration"},
		{[]string{"snens-audit", "show", "--uid", "no-such-user"}, 2, "", "does not exist"},
		{[]string{"snens-audit", "show", "zz"}, 2, "", "cannot read the command line"},
		{[]string{"snens-audit", "tail", "-n", "-1"}, 2, "", "no number of records"},
		{[]string{"snens-audit", "show", "--log-dir", "/nonexistent"}, 1, "", "no such file"},
		{[]string{"snens-audit", "tail", "-f", "--log-dir", "/nonexistent"}, 1, "", "no such file"},
	} {
		var out, errs bytes.Buffer
		code := run(context.Background(), c.argv, &out, &errs)
		if code != c.code || out.String() != c.stdout || !strings.Contains(errs.String(), c.stderr) || c.stderr == "" && errs.Len() > 0 {
			t.Errorf("%q: status %d\n%s%s", c.argv, code, out.String(), errs.String())
		}
	}
}
