package edit_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"snens/cmd/snens-tools/internal/edit"
	"snens/internal/testneed"
)

// patch applies a unified diff, strictly: every line must be where it says.
func patch(old, unified []byte) ([]byte, error) {
	have := strings.SplitAfter(string(old), "\n")
	var out strings.Builder
	at := 0
	lines := strings.SplitAfter(string(unified), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if line == "" || i < 2 {
			continue // the end, and the two lines with names
		}
		if strings.HasPrefix(line, "@@ -") {
			var from, n int
			if _, err := fmt.Sscanf(line, "@@ -%d,%d", &from, &n); err != nil {
				return nil, err
			}
			if n > 0 {
				from--
			}
			for ; at < from; at++ {
				out.WriteString(have[at])
			}
			continue
		}
		text := line[1:]
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], `\ No newline`) {
			text = strings.TrimSuffix(text, "\n")
			i++
		}
		if line[0] != '+' {
			if at >= len(have) || have[at] != text {
				return nil, errors.New("the diff does not fit at " + line)
			}
			at++
		}
		if line[0] != '-' {
			out.WriteString(text)
		}
	}
	for ; at < len(have); at++ {
		out.WriteString(have[at])
	}
	return []byte(out.String()), nil
}

// unified is edit.Unified where the texts are short enough.
func unified(name string, old, new []byte) []byte {
	d, ok := edit.Unified(name, old, new)
	if !ok {
		panic("too long for a diff")
	}
	return d
}

// Only the lines near the changes are compared, and the numbers are those of the file.
func TestUnifiedOfALargeFile(t *testing.T) {
	var b strings.Builder
	for i := range 2_000_000 {
		fmt.Fprintln(&b, i+1)
	}
	content := []byte(b.String())
	o, err := edit.Apply(content, edit.Change{Old: "\n1500000\n", New: "\na\nb\n"})
	if err != nil {
		t.Fatal(err)
	}
	want := "--- f\n+++ f\n@@ -1499997,7 +1499997,8 @@\n 1499997\n 1499998\n 1499999\n-1500000\n+a\n+b\n 1500001\n 1500002\n 1500003\n"
	if got := unified("f", content, o.Content); string(got) != want {
		t.Errorf("%s; want %s", got, want)
	}
	if o, err = edit.Apply(content, edit.Change{Old: "1", New: "2", All: true}); err != nil {
		t.Fatal(err)
	}
	if d, ok := edit.Unified("f", content, o.Content); ok || d != nil {
		t.Errorf("changes all over %d bytes give a diff of %d bytes", len(content), len(d))
	}
}

func TestUnifiedAndShow(t *testing.T) {
	before, after := "1\n2\n3\n4\n5\n6\n7\n8", "1\n2\n3\n4\nfive\x1b[31m\n6\n7\n8"
	want := "--- f\n+++ f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\\u{1b}[31m\n 6\n 7\n 8\n\\ No newline at end of file\n"
	if got := edit.Show(unified("f", []byte(before), []byte(after)), false); got != want {
		t.Errorf("%s; want %s", got, want)
	}
	if got := unified("f", []byte("a"), []byte("a")); len(got) != 0 {
		t.Errorf("a diff of equals: %q", got)
	}
}

func TestShowIsBounded(t *testing.T) {
	var before, after strings.Builder
	for i := range 600 {
		fmt.Fprintf(&before, "line %d\n", i)
		fmt.Fprintf(&after, "Line %d\n", i)
	}
	got := edit.Show(unified("f", []byte(before.String()), []byte(after.String())), false)
	// Two lines with names, one with positions, 600 removed and 600 added.
	if n := strings.Count(got, "\n"); n != 401 || !strings.HasSuffix(got, "... 803 more lines of the diff not shown\n") {
		t.Errorf("%d lines, ending %q", n, got[max(0, len(got)-60):])
	}
	long := edit.Show(unified("f", []byte("a\n"), []byte(strings.Repeat("x", 5000)+"\n")), false)
	// 5000 and the "+", of which 1000 are shown.
	if !strings.HasSuffix(long, "xxx [... 4001 more bytes]\n") {
		t.Errorf("a long line ends %q", long[len(long)-60:])
	}
}

func TestShowHidesOnlyLineEnds(t *testing.T) {
	d := unified("f", []byte("a\r\nb\rc\r\n"), []byte("x\r\nb\rc\r\n"))
	if got := edit.Show(d, true); !strings.HasSuffix(got, "-a\n+x\n b\\u{d}c\n") {
		t.Errorf("hidden: %q", got)
	}
	if got := edit.Show(d, false); !strings.HasSuffix(got, "-a\\u{d}\n+x\\u{d}\n b\\u{d}c\\u{d}\n") {
		t.Errorf("shown: %q", got)
	}
}

// Another program's patch understands the diff.
func TestPatchAppliesTheDiff(t *testing.T) {
	program := testneed.Program(t, "patch")
	for _, c := range []struct{ content, old, new string }{
		{"a\nb\nc\n", "b", "B"},
		{"a\nb\nc", "c", "c\n"},
		{"a\nb\nc\n", "c\n", "c"},
		{"a\r\nb\r\n", "a\n", "x\ny\n"},
		{"x\ny\n", "x\n", ""},
		{strings.Repeat("l\n", 50) + "here\n" + strings.Repeat("l\n", 50), "here", "there\nand there"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "f")
		if err := os.WriteFile(path, []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
		o, err := edit.Apply([]byte(c.content), edit.Change{Old: c.old, New: c.new})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program, "--binary", "--quiet", "f")
		cmd.Dir = dir
		cmd.Stdin = strings.NewReader(string(unified("f", []byte(c.content), o.Content)))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%q: patch: %v: %s", c.content, err, out)
			continue
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != string(o.Content) {
			t.Errorf("patch made %q of %q, %v; want %q", got, c.content, err, o.Content)
		}
	}
}
