package reader_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"snens/cmd/snens-tools/internal/reader"
)

func print(t *testing.T, content string, r reader.Request) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return printFile(t, path, r)
}

func printFile(t *testing.T, path string, r reader.Request) (string, error) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out strings.Builder
	err = reader.Print(&out, f, r)
	return out.String(), err
}

// numbered is lines "1" to "n".
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, i+1)
	}
	return b.String()
}

const escapedNote = "... unsafe and invisible characters are shown as \\u{HEX}, bytes that are not UTF-8 as \\x{HEX}\n"

func TestPrint(t *testing.T) {
	for _, c := range []struct {
		name, content string
		request       reader.Request
		want          string
	}{
		{"all", "a\nb\n", reader.Request{}, "1\ta\n2\tb\n"},
		{"empty file", "", reader.Request{}, "... the file is empty\n"},
		{"one empty line", "\n", reader.Request{}, "1\t\n"},
		{"no last newline", "a\nb", reader.Request{}, "1\ta\n2\tb\n... no newline at the end of the file\n"},
		{"its last line not shown", "a\nb", reader.Request{Limit: 1}, "1\ta\n... 1 more line; use start=2\n"},
		{"range", numbered(9), reader.Request{Start: 4, Limit: 2}, "4\t4\n5\t5\n... 4 more lines; use start=6\n"},
		{"the last line exactly", numbered(3), reader.Request{Start: 3, Limit: 1}, "3\t3\n"},
		{"tail", numbered(9), reader.Request{Tail: 2}, "8\t8\n9\t9\n... 7 lines before; use start=1 limit=7\n"},
		{"tail with limit", numbered(9), reader.Request{Tail: 4, Limit: 2}, "6\t6\n7\t7\n... 5 lines before; use start=4 limit=2\n... 2 more lines; use start=8\n"},
		{"tail longer than the file", numbered(2), reader.Request{Tail: 5}, "1\t1\n2\t2\n"},
		{"tail without a last newline", "a\nb\nc", reader.Request{Tail: 1}, "3\tc\n... 2 lines before; use start=1 limit=2\n... no newline at the end of the file\n"},
		{"width", "abcdef\n", reader.Request{Width: 4}, "1\tabcd [... 2 more bytes; use start=1 limit=1 column=5]\n"},
		{"width between characters", "aäöü\n", reader.Request{Width: 4}, "1\taä [... 4 more bytes; use start=1 limit=1 column=4]\n"},
		{"column", "abcdef\nx\nabcd\n", reader.Request{Column: 4}, "1\tdef\n2\t\n3\td\n"},
		{"column and width", "abcdef\n", reader.Request{Column: 3, Width: 2}, "1\tcd [... 2 more bytes; use start=1 limit=1 column=5]\n"},
		{"exactly the width", "abcd\n", reader.Request{Width: 4}, "1\tabcd\n"},
		{"exactly the width and CRLF", "abcd\r\n", reader.Request{Width: 4}, "1\tabcd\n... the lines shown end with CR LF\n"},
		{"CRLF", "a\r\nb\r\n", reader.Request{}, "1\ta\n2\tb\n... the lines shown end with CR LF\n"},
		{"CRLF without a last newline", "a\r\nb", reader.Request{}, "1\ta\n2\tb\n... no newline at the end of the file\n... the lines shown end with CR LF\n"},
		{"mixed line ends", "a\r\nb\n", reader.Request{}, "1\ta\\u{d}\n2\tb\n" + escapedNote},
		{"a CR inside", "a\rb\n", reader.Request{}, "1\ta\\u{d}b\n" + escapedNote},
		{"a CR at the end of the file", "ab\r", reader.Request{}, "1\tab\\u{d}\n... no newline at the end of the file\n" + escapedNote},
		{"escapes", "\x1b]0;x\x07 \u202e \xff \\u{1b}\n", reader.Request{}, "1\t\\u{1b}]0;x\\u{7} \\u{202e} \\x{ff} \\u{1b}\n" + escapedNote},
		{"Latin-1", "gr\xfc\xdfe aus K\xf6ln, text with a few letters\n", reader.Request{}, "1\tgr\\x{fc}\\x{df}e aus K\\x{f6}ln, text with a few letters\n" + escapedNote},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := print(t, c.content, c.request)
			if err != nil || got != c.want {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestPrintIsBounded(t *testing.T) {
	got, err := print(t, numbered(1000), reader.Request{})
	if err != nil || strings.Count(got, "\n") != 401 || !strings.HasSuffix(got, "400\t400\n... 600 more lines; use start=401\n") {
		t.Errorf("the default: %d lines ending %q, %v", strings.Count(got, "\n"), got[len(got)-60:], err)
	}
	wide := strings.Repeat(strings.Repeat("x", 900)+"\n", 300)
	got, err = print(t, wide, reader.Request{})
	if err != nil || len(got) > 70_000 || !strings.HasSuffix(got, "... 229 more lines (stopped at 64.0 KiB of output); use start=72\n") {
		t.Errorf("wide lines: %d bytes ending %q, %v", len(got), got[len(got)-90:], err)
	}
	// One line is shown, however long it gets.
	got, err = print(t, strings.Repeat("y", 100_000)+"\nz\n", reader.Request{Width: reader.MaxWidth})
	if err != nil || !strings.Contains(got, "y [... 50000 more bytes; use start=1 limit=1 column=50001]\n2\tz\n") {
		t.Errorf("a long line: %d bytes ending %q, %v", len(got), got[len(got)-90:], err)
	}
}

func TestPrintRefuses(t *testing.T) {
	_, err := print(t, "a\nb\n", reader.Request{Start: 3})
	var past *reader.PastEndError
	if !errors.As(err, &past) || *past != (reader.PastEndError{Start: 3, Lines: 2}) || err.Error() != "line 3 is past the end (2 lines)" {
		t.Errorf("past the end: %v", err)
	}
	if _, err := print(t, "a\nb", reader.Request{Start: 9}); !errors.As(err, &past) || past.Lines != 2 {
		t.Errorf("past an end without newline: %v", err)
	}
	_, err = print(t, "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR", reader.Request{})
	if err == nil || err.Error() != "not text: PNG image, 16 bytes" {
		t.Errorf("a picture: %v", err)
	}
}

// A file far larger than memory is read at its ends, and in the middle where asked.
func TestPrintOfAHugeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "huge")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	head, tail := strings.Repeat("some text\n", 2000), "\nlast but one\nlast\n"
	const size = 5 << 30
	_, err1 := f.WriteString(head)
	_, err2 := f.WriteAt([]byte(tail), size-int64(len(tail))) // a hole of NUL bytes is between them
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, c := range []struct {
		request reader.Request
		want    string
	}{
		{reader.Request{Limit: 1}, "1\tsome text\n... at least 2000 more lines, up to byte 67128864 of 5368709120; use start=2\n"},
		{reader.Request{Start: 2000, Limit: 1}, "2000\tsome text\n... at least 1 more line, up to byte 67128864 of 5368709120; use start=2001\n"},
		{reader.Request{Start: 2001, Width: 2}, "2001\t\\u{0}\\u{0} [... at least "},
		{reader.Request{Tail: 2}, "-2\tlast but one\n-1\tlast\n... the file is 5.0 GiB long; line numbers count back from its end; for earlier lines use a larger tail with limit\n"},
		{reader.Request{Tail: 2, Limit: 1}, "-2\tlast but one\n... the file is 5.0 GiB long; line numbers count back from its end; for earlier lines use a larger tail with limit\n... 1 more line; use tail=1\n"},
	} {
		got, err := printFile(t, path, c.request)
		if err != nil || !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %q, %v; want %q", c.request, got, err, c.want)
		}
	}
	if _, err := printFile(t, path, reader.Request{Tail: 3}); err == nil || !strings.Contains(err.Error(), "longer than 64.0 MiB") {
		t.Errorf("a tail into the long line: %v", err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
		t.Errorf("%d bytes were allocated", used)
	}
}

// Files of /proc say that they are empty, and cannot be read from the end.
func TestPrintOfAVirtualFile(t *testing.T) {
	all, err := os.ReadFile("/proc/self/limits")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(all), "\n"), "\n")
	n := len(lines)
	got, err := printFile(t, "/proc/self/limits", reader.Request{Tail: 1})
	want := fmt.Sprintf("%d\t%s\n... %d lines before; use start=1 limit=%d\n", n, lines[n-1], n-1, n-1)
	if err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}
