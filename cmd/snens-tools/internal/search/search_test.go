package search

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snens/internal/testneed"
)

// tree makes files below a new folder and works in it.
func tree(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	for name, content := range files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

func run(t *testing.T, r Request) (string, int) {
	t.Helper()
	var out strings.Builder
	n, err := Run(&out, r)
	if err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	return out.String(), n
}

func TestRun(t *testing.T) {
	tree(t, map[string]string{
		"b.txt":         "one\ntwo alpha\nthree\nfour\nfive alpha\nsix\n",
		"a/z.go":        "alpha\r\nbeta\n",
		"a/b/c.go":      "no\nalpha without end",
		".hidden/x":     "alpha\n",
		".git/config":   "alpha\n",
		"a/bin":         "alpha\x00",
		"a/bin2":        "omega\x00",
		"odd\x1bname":   "alpha \x1b[31m\n",
		"-dash":         "alpha\n",
		"only/this.txt": "delta\n",
	})
	if err := os.Symlink("b.txt", "link"); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo("pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	const skips = "... skipped: 1 binary file that may match, 1 symbolic link, 1 special file, 1 version-control folder\n"
	for _, c := range []struct {
		name    string
		request Request
		want    string
		found   int
	}{
		{"everything, in order of the names", Request{Pattern: "alpha"}, "-dash:1:alpha\n.hidden/x:1:alpha\na/b/c.go:2:alpha without end\na/z.go:1:alpha\n" +
			"b.txt:2:two alpha\nb.txt:5:five alpha\nodd\\u{1b}name:1:alpha \\u{1b}[31m\n" + skips, 7},
		{"paths in the order given, links followed", Request{Pattern: "alpha$", Paths: []string{"link", "a/", "./-dash"}}, "link:2:two alpha\nlink:5:five alpha\na/z.go:1:alpha\n./-dash:1:alpha\n" +
			"... skipped: 1 binary file that may match\n", 4},
		{"glob", Request{Pattern: "alpha", Paths: []string{"a"}, Glob: "*.go"}, "a/b/c.go:2:alpha without end\na/z.go:1:alpha\n", 2},
		{"glob spares files that are named", Request{Pattern: "alpha", Paths: []string{"-dash"}, Glob: "*.go"}, "-dash:1:alpha\n", 1},
		{"context", Request{Pattern: "alpha", Paths: []string{"b.txt"}, Context: 1}, "b.txt-1-one\nb.txt:2:two alpha\nb.txt-3-three\nb.txt-4-four\nb.txt:5:five alpha\nb.txt-6-six\n", 2},
		{"context with a gap", Request{Pattern: "one|six", Paths: []string{"b.txt"}, Context: 1}, "b.txt:1:one\nb.txt-2-two alpha\n--\nb.txt-5-five alpha\nb.txt:6:six\n", 2},
		{"context over files", Request{Pattern: "one|beta", Paths: []string{"a/z.go", "b.txt"}, Context: 1}, "a/z.go-1-alpha\na/z.go:2:beta\n--\nb.txt:1:one\nb.txt-2-two alpha\n", 2},
		{"limit", Request{Pattern: "alpha", Limit: 3, Paths: []string{"a/b", "a/z.go", "b.txt", "-dash"}}, "a/b/c.go:2:alpha without end\na/z.go:1:alpha\nb.txt:2:two alpha\n" +
			"... 2 more matching lines in 2 files not shown; use limit=5, or narrow the search by path, glob or pattern\n", 5},
		{"limit and context", Request{Pattern: "alpha", Limit: 1, Context: 2, Paths: []string{"b.txt"}}, "b.txt-1-one\nb.txt:2:two alpha\nb.txt-3-three\nb.txt-4-four\n" +
			"... 1 more matching line in 1 file not shown; use limit=2, or narrow the search by path, glob or pattern\n", 2},
		{"a folder of version control when it is named", Request{Pattern: "alpha", Paths: []string{".git"}}, ".git/config:1:alpha\n", 1},
		{"nothing", Request{Pattern: "nowhere", Paths: []string{"only", "-dash"}}, "... no match in 2 files\n", 0},
		{"a pipe that is named", Request{Pattern: "alpha", Paths: []string{"pipe"}}, "... no match in 0 files\n... skipped: 1 special file\n", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, n := run(t, c.request); got != c.want || n != c.found {
				t.Errorf("%d found:\n%s\nwant %d:\n%s", n, got, c.found, c.want)
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	var pattern *PatternError
	if _, err := Run(&strings.Builder{}, Request{Pattern: "("}); !errors.As(err, &pattern) || err.Error() != "the pattern is wrong: missing closing ): (" {
		t.Errorf("a bad pattern: %v", err)
	}
	var glob *GlobError
	if _, err := Run(&strings.Builder{}, Request{Pattern: "a", Glob: "[a"}); !errors.As(err, &glob) {
		t.Errorf("a bad glob: %v", err)
	}
}

func TestRunShowsTheMatchInALongLine(t *testing.T) {
	tree(t, map[string]string{
		"long": strings.Repeat("x", 10_000) + "needle" + strings.Repeat("y", 500) + "\n" + strings.Repeat("ä", 400) + "\n",
		"huge": strings.Repeat("z", maxLine+10) + "needle\nneedle\n",
	})
	got, _ := run(t, Request{Pattern: "needle", Paths: []string{"long", "huge"}})
	want := "long:1:[9900 bytes] " + strings.Repeat("x", 100) + "needle" + strings.Repeat("y", 194) + " [306 more bytes]\n" +
		"huge:2:needle\n... skipped: what follows the first 1.0 MiB of 1 line\n"
	if got != want {
		t.Errorf("%s; want %s", got, want)
	}
	got, _ = run(t, Request{Pattern: "^ä", Paths: []string{"long"}})
	if want := "long:2:" + strings.Repeat("ä", 150) + " [500 more bytes]\n"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

func TestRunIsBounded(t *testing.T) {
	tree(t, map[string]string{
		"wide":  strings.Repeat(strings.Repeat("a", 250)+"\n", 1000),
		"z":     "a\n",
		"count": strings.Repeat("b\n", countMatches+500),
	})
	got, n := run(t, Request{Pattern: "a", Paths: []string{"wide", "z"}, Limit: 2000})
	if len(got) > outputBytes+1000 || n != 1001 || !strings.Contains(got, "in 2 files not shown; stopped at 64.0 KiB of output, or narrow") {
		t.Errorf("%d bytes, %d found, ending %q", len(got), n, got[len(got)-200:])
	}
	got, n = run(t, Request{Pattern: "b", Paths: []string{"count", "z"}, Limit: 1})
	if n != countMatches+2 || !strings.Contains(got, fmt.Sprintf("... at least %d more matching lines in 1 file not shown; use limit=10000", countMatches+1)) {
		t.Errorf("%d found: %s", n, got)
	}
}

// The text may lie across the blocks in which a binary file is read.
func TestBinaryFilesAreCountedWhenTheyMayMatch(t *testing.T) {
	files := map[string]string{}
	for i := range 12 {
		files[fmt.Sprintf("at%d", i)] = "\x00" + strings.Repeat("x", 64<<10-8+i) + "Needle" + strings.Repeat("y", 100)
	}
	files["without"] = "\x00" + strings.Repeat("needl", 40_000)
	tree(t, files)
	for pattern, want := range map[string]string{
		"Needle":     "... no match in 13 files\n... skipped: 12 binary files that may match\n",
		"(?i)nEEDLE": "... no match in 13 files\n... skipped: 12 binary files that may match\n",
		"needle":     "... no match in 13 files\n",
		"[N]eedl.":   "... no match in 13 files\n... skipped: 12 binary files that may match\n",
		".":          "... no match in 13 files\n... skipped: 13 binary files that may match\n",
		"(?i)ä":      "... no match in 13 files\n... skipped: 13 binary files that may match\n",
	} {
		if got, _ := run(t, Request{Pattern: pattern}); got != want {
			t.Errorf("%q: %q; want %q", pattern, got, want)
		}
	}
}

func TestRunSaysWhatItCannotRead(t *testing.T) {
	tree(t, map[string]string{"a": "x\n"})
	got, _ := run(t, Request{Pattern: "x", Paths: []string{"gone", "a"}})
	if want := "a:1:x\n... skipped: 1 unreadable (gone: no such file or directory)\n"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
	if got := Missing([]string{"a", "gone", "."}); !slices.Equal(got, []string{"gone"}) {
		t.Errorf("missing: %q", got)
	}
}

func TestRunPassesOverVirtualFileSystems(t *testing.T) {
	if !virtual("/proc") || !virtual("/sys") {
		t.Error("/proc and /sys are not recognised")
	}
	if virtual("/") || virtual("/nowhere") {
		t.Error("/ is taken for virtual")
	}
	testneed.Root(t)
	tree(t, map[string]string{"a": "cgroup\n"})
	if err := os.Mkdir("proc", 0o755); err != nil {
		t.Fatal(err)
	}
	err := unix.Mount("proc", "proc", "proc", 0, "")
	testneed.Kernel(t, !errors.Is(err, unix.EPERM), "the right to mount /proc")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Unmount("proc", 0); err != nil {
			t.Error(err)
		}
	}()
	if got, _ := run(t, Request{Pattern: "cgroup"}); got != "a:1:cgroup\n... skipped: 1 virtual file system\n" {
		t.Error(got)
	}
}
