package edit_test

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"snens/cmd/snens-tools/internal/edit"
)

func TestApply(t *testing.T) {
	for _, c := range []struct {
		name, content string
		change        edit.Change
		want          string
		lines         []int
		crlf          bool
	}{
		{"one line", "a\nb\nc\n", edit.Change{Old: "b", New: "B"}, "a\nB\nc\n", []int{2}, false},
		{"across lines", "a\nb\nc\n", edit.Change{Old: "a\nb", New: "x"}, "x\nc\n", []int{1}, false},
		{"deletes", "a\nb\nc\n", edit.Change{Old: "b\n"}, "a\nc\n", []int{2}, false},
		{"no last newline", "a\nb", edit.Change{Old: "a", New: "x"}, "x\nb", []int{1}, false},
		{"adds a last newline only when told", "a\nb", edit.Change{Old: "b", New: "b\n"}, "a\nb\n", []int{2}, false},
		{"all", "aXa\na\n", edit.Change{Old: "a", New: "aa", All: true}, "aaXaa\naa\n", []int{1, 2}, false},
		{"all with one", "b\na\n", edit.Change{Old: "a", New: "c", All: true}, "b\nc\n", []int{2}, false},
		{"all overlapping, from the left", "aaaaa", edit.Change{Old: "aa", New: "b", All: true}, "bba", []int{1}, false},
		{"no pattern, no template", "a.b $1 \\1 &", edit.Change{Old: "$1", New: "$0&\\0"}, "a.b $0&\\0 \\1 &", []int{1}, false},
		{"bytes that are not UTF-8 stay", "\xe4\xf6\nb\xfc\n", edit.Change{Old: "b", New: "B"}, "\xe4\xf6\nB\xfc\n", []int{2}, false},
		{"CRLF file, plain change", "a\r\nb\r\nc\r\n", edit.Change{Old: "a\nb", New: "x\ny\nz"}, "x\r\ny\r\nz\r\nc\r\n", []int{1}, true},
		{"CRLF file, only the new text has a newline", "a\r\nb\r\n", edit.Change{Old: "a", New: "x\ny"}, "x\r\ny\r\nb\r\n", []int{1}, true},
		{"CRLF file, CRLF change", "a\r\nb\r\n", edit.Change{Old: "a\r\n", New: "x\n"}, "x\nb\r\n", []int{1}, false},
		{"CRLF file, change without line ends", "a\r\nb\r\n", edit.Change{Old: "a", New: "x"}, "x\r\nb\r\n", []int{1}, false},
		{"mixed file is taken as it is", "a\r\nb\nc\r\n", edit.Change{Old: "b\n", New: "x\n"}, "a\r\nx\nc\r\n", []int{2}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			content := []byte(c.content)
			o, err := edit.Apply(content, c.change)
			if err != nil {
				t.Fatal(err)
			}
			if string(o.Content) != c.want || !slices.Equal(o.Lines, c.lines) || o.CRLF != c.crlf {
				t.Errorf("%q at %v, CRLF %v; want %q at %v, %v", o.Content, o.Lines, o.CRLF, c.want, c.lines, c.crlf)
			}
			if string(content) != c.content {
				t.Error("the content it was given was modified")
			}
		})
	}
}

func TestApplyRefusesAmbiguity(t *testing.T) {
	many := make([]int, 100)
	for i := range many {
		many[i] = i + 1
	}
	for _, c := range []struct {
		content, old string
		want         edit.AmbiguousError
		text         string
	}{
		{"a\nb\na\n", "a", edit.AmbiguousError{Count: 2, Lines: []int{1, 3}}, "the old text occurs 2 times: lines 1, 3"},
		{"a a\nb\na\n", "a", edit.AmbiguousError{Count: 3, Lines: []int{1, 3}}, "the old text occurs 3 times: lines 1, 3 (several on one line)"},
		{"aaa", "aa", edit.AmbiguousError{Count: 2, Lines: []int{1}}, "the old text occurs 2 times: line 1 (several on one line)"},
		{"x\n\n\n", "\n\n", edit.AmbiguousError{Count: 2, Lines: []int{1, 2}}, "the old text occurs 2 times: lines 1, 2"},
		{strings.Repeat("a\n", 250), "a", edit.AmbiguousError{Count: 250, Lines: many}, ""},
	} {
		_, err := edit.Apply([]byte(c.content), edit.Change{Old: c.old, New: "n"})
		var got *edit.AmbiguousError
		if !errors.As(err, &got) || !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%.20q: %#v; want %+v", c.content, err, c.want)
			continue
		}
		if c.text != "" && err.Error() != c.text {
			t.Errorf("%q; want %q", err, c.text)
		}
		if c.text == "" && !strings.HasSuffix(err.Error(), "99, 100 and later") {
			t.Errorf("many places: %q", err)
		}
	}
}

func TestApplySaysWhatIsNear(t *testing.T) {
	file := "package main\n\nfunc main() {\n\tfmt.Println(\"hello\")\n\treturn\n}\n"
	for _, c := range []struct{ name, content, old, want string }{
		{"line numbers", file, "4\t\tfmt.Println(\"hello\")", "it occurs without the line numbers that read prints; leave them out"},
		{"escaped twice", file, `func main() {\n\tfmt`, "it is escaped once too often: it occurs with real line breaks, tabs and quotes"},
		{"blank at the end", file, "return ", "it occurs on line 5 without the white space at its beginning or end"},
		{"blanks for a tab", file, "func main() {\n    fmt.Println(\"hello\")\n", `line 4 differs in white space only: "\tfmt.Println(\"hello\")"`},
		{"one line, other blanks", file, "func  main()  {", `line 3 differs in white space only: "func main() {"`},
		{"agrees for a while", file, "func main() {\n\tfmt.Println(\"bye\")\n\treturn\n", `it agrees for 1 line from line 3 on, then line 4 is "\tfmt.Println(\"hello\")"`},
		{"longer than the file", "a\nb", "a\nb\nc", "it agrees for 2 lines from line 1 on, then the file ends"},
		{"a slip", file, "fmt.Printn(\"helo\")", `the nearest line is 4: "\tfmt.Println(\"hello\")"`},
		{"nothing near", file, "zzz qqq", ""},
		{"blank lines alone", file, "\n\n\n", ""},
		{"an empty file", "", "a", ""},
		{"control characters are quoted", "x\n\x1b[31mred alert\n", "red alarm", `the nearest line is 2: "\x1b[31mred alert"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := edit.Apply([]byte(c.content), edit.Change{Old: c.old, New: "n"})
			var none *edit.NoMatchError
			if !errors.As(err, &none) || none.Near != c.want {
				t.Errorf("%#v; want %q", err, c.want)
			}
		})
	}
}

// The parts that are not replaced are the same bytes as before, the count is
// that of the places, and the diff leads from the old content to the new.
func FuzzApply(f *testing.F) {
	f.Add("a\nb\na\n", "a", "c", true)
	f.Add("a\nb\na\n", "b\n", "", false)
	f.Add("a\r\nb\r\n", "a\nb", "x\ny", false)
	f.Add("aaaa", "aa", "a", true)
	f.Add("\xff\n\n\n", "\n\n", "\n", false)
	f.Add("no end", "end", "end\n", false)
	f.Fuzz(func(t *testing.T, content, before, after string, all bool) {
		if before == "" || before == after || len(content) > 20_000 || len(after) > 1000 {
			return
		}
		o, err := edit.Apply([]byte(content), edit.Change{Old: before, New: after, All: all})
		if err != nil {
			var none *edit.NoMatchError
			if errors.As(err, &none) && strings.Contains(content, before) && !edit.OnlyCRLF([]byte(content)) {
				t.Fatalf("%q is not found in %q", before, content)
			}
			return
		}
		if o.CRLF {
			before, after = crlf(before), crlf(after)
		}
		if want := strings.ReplaceAll(content, before, after); string(o.Content) != want {
			t.Fatalf("%q; want %q", o.Content, want)
		}
		if n := strings.Count(content, before); o.Count != n || !all && n != 1 {
			t.Fatalf("count %d, all %v; it occurs %d times", o.Count, all, n)
		}
		if grown := len(o.Content) - len(content); grown != o.Count*(len(after)-len(before)) {
			t.Fatalf("it grew by %d bytes with %d replacements of %d by %d bytes", grown, o.Count, len(before), len(after))
		}
		patched, err := patch([]byte(content), unified("f", []byte(content), o.Content))
		if err != nil || !bytes.Equal(patched, o.Content) {
			t.Fatalf("the diff leads to %q (%v); want %q", patched, err, o.Content)
		}
	})
}

func crlf(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
