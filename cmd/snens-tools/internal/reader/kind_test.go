package reader_test

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"snens/cmd/snens-tools/internal/reader"
)

func TestBinary(t *testing.T) {
	for _, c := range []struct{ name, head, want string }{
		{"nothing", "", ""},
		{"text", "hello\n", ""},
		{"UTF-8", "Größe\n日本\n", ""},
		{"Latin-1", "na\xefve caf\xe9\n", ""},
		{"colours", "\x1b[31mred\x1b[0m\n", ""},
		{"a tar by name only", strings.Repeat("x", 257) + "ustar\n", ""},
		{"gzip", "\x1f\x8b\x08\x00", "gzip-compressed data"},
		{"UTF-16", "\xff\xfeh\x00i\x00", "UTF-16 text"},
		{"tar", "name" + strings.Repeat("\x00", 253) + "ustar\x00", "tar archive"},
		{"a NUL", "abc\x00", "binary data (a NUL at byte 3)"},
		{"mostly control characters", "\x01\x02\x03\x04ab", "binary data"},
		{"mostly high bytes", strings.Repeat("\xff\xa0", 100), "binary data"},
	} {
		if got := reader.Binary([]byte(c.head), true); got != c.want {
			t.Errorf("%s: %q; want %q", c.name, got, c.want)
		}
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if got := reader.Binary(self, true); got != "ELF program or library" {
		t.Errorf("this program: %q", got)
	}
	// A character cut by the end of the sample is no fault.
	if got := reader.Binary([]byte("\xe6\x97"), false); got != "" {
		t.Errorf("half a character at the end: %q", got)
	}
	if got := reader.Binary([]byte(strings.Repeat("a", 9000)+"\x00"), true); got != "" {
		t.Errorf("a NUL behind the sample: %q", got)
	}
}

// Whatever is in a file, what is printed is text of bounded length in which
// nothing steers a terminal, with one number per line.
func FuzzPrint(f *testing.F) {
	f.Add([]byte("a\nb"), 1, 0, 1, 10)
	f.Add([]byte("\r\n\r\n\x1b[2J\xff"), 2, 0, 2, 3)
	f.Add([]byte(strings.Repeat("\u202e\n", 50)), 0, 3, 1, 2)
	f.Fuzz(func(t *testing.T, content []byte, start, tail, column, width int) {
		r := reader.Request{
			Start: 1 + abs(start)%20, Tail: abs(tail) % 20, Limit: 10,
			Column: 1 + abs(column)%50, Width: 1 + abs(width)%200,
		}
		out, err := print(t, string(content), r)
		if err != nil {
			return
		}
		if !utf8.ValidString(out) || len(out) > 10*(200*8+100)+1000 {
			t.Fatalf("%d bytes, valid %v", len(out), utf8.ValidString(out))
		}
		for _, c := range out {
			if c < ' ' && c != '\t' && c != '\n' || c >= 0x7f && c < 0xa0 || c == 0x202e {
				t.Fatalf("%q holds %U", out, c)
			}
		}
		for line := range strings.Lines(out) {
			if !strings.HasPrefix(line, "... ") && (line[0] < '1' || line[0] > '9') {
				t.Fatalf("%q is neither a line nor a note", line)
			}
		}
	})
}

func abs(n int) int { return max(n, -(n + 1)) }
