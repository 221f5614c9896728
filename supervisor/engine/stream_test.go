package engine

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestStreamKeepsBeginningAndEnd(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name    string
		pieces  []string
		limit   int
		tailOff bool
		text    string
		total   int64
		spilled string // content of the spill file, "" = none
	}{
		{"nothing", nil, 4, false, "", 0, ""},
		{"fits the beginning", []string{"abc"}, 4, false, "abc", 3, ""},
		{"fits both", []string{"abc", "defgh"}, 4, false, "abcdefgh", 8, ""},
		{"one byte over", []string{"abcdefghi"}, 4, false, "abcd\n[... 1 bytes left out ...]\nfghi", 9, "abcdefghi"},
		{"byte by byte", strings.Split("abcdefghijk", ""), 4, false, "abcd\n[... 3 bytes left out ...]\nhijk", 11, "abcdefghijk"},
		{"one big piece", []string{"ab", strings.Repeat("x", 100) + "wxyz"}, 4, false, "abxx\n[... 98 bytes left out ...]\nwxyz", 106, "ab" + strings.Repeat("x", 100) + "wxyz"},
		{"cut inside runes", []string{"abcéééééé"}, 4, false, "abc\n[... 8 bytes left out ...]\néé", 15, "abcéééééé"},
		{"beginning alone", []string{"abcdefgh"}, 4, true, "abcd\n[... 4 bytes left out ...]\n", 8, "abcdefgh"},
		{"not text", []string{"a\xffb\x00"}, 4, false, "a\uFFFDb\uFFFD", 4, "a\xffb\x00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &stream{name: "stdout", limit: c.limit, tailOff: c.tailOff, spillDir: filepath.Join(dir, t.Name()), spillMax: 1 << 20}
			for _, p := range c.pieces {
				s.write([]byte(p))
			}
			s.finish()
			if s.text() != c.text || s.total != c.total {
				t.Errorf("text %q total %d, want %q and %d", s.text(), s.total, c.text, c.total)
			}
			var got []byte
			if s.path != "" {
				got, _ = os.ReadFile(s.path)
			}
			if string(got) != c.spilled {
				t.Errorf("spill file %q, want %q", got, c.spilled)
			}
		})
	}
}

func TestSpillIsCappedAndSaysSo(t *testing.T) {
	s := &stream{name: "stdout", limit: 2, spillDir: t.TempDir(), spillMax: 5}
	s.write([]byte("abc"))
	s.write([]byte("defgh"))
	s.finish()
	b, err := os.ReadFile(s.path)
	if err != nil || string(b) != "abcde" || !s.capped {
		t.Fatalf("%q capped=%v %v, want abcde and capped", b, s.capped, err)
	}
	if st, _ := os.Stat(s.path); st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", st.Mode())
	}
	if want := "[stdout: 8 bytes in all, the middle is left out; the first 5 are in " + s.path + "]"; s.remark() != want {
		t.Errorf("remark %q, want %q", s.remark(), want)
	}
}

func TestSpillThatCannotBeMadeLosesNothingElse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := &stream{name: "stdout", limit: 2, spillDir: filepath.Join(file, "below"), spillMax: 100}
	s.write([]byte("abcdefgh"))
	s.finish()
	if s.text() != "ab\n[... 4 bytes left out ...]\ngh" {
		t.Errorf("text %q", s.text())
	}
	if !strings.Contains(s.remark(), "the full stream could not be kept: ") {
		t.Errorf("remark %q does not say that the stream was not kept", s.remark())
	}
}

// Whatever the pieces, head and tail are the true ends, the file is the whole
// stream and the text is valid.
func TestStreamAnyPieces(t *testing.T) {
	root := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		dir := filepath.Join(root, strings.Repeat("x", 1+n%50), rapid.StringMatching(`[a-z]{20}`).Draw(t, "dir"))
		limit := rapid.IntRange(1, 9).Draw(t, "limit")
		s := &stream{name: "stderr", limit: limit, spillDir: dir, spillMax: 1 << 20}
		var all []byte
		for _, p := range rapid.SliceOf(rapid.SliceOf(rapid.Byte())).Draw(t, "pieces") {
			all = append(all, p...)
			s.write(p)
		}
		s.finish()
		defer os.RemoveAll(dir)
		if s.total != int64(len(all)) {
			t.Fatalf("total %d, want %d", s.total, len(all))
		}
		if !utf8.ValidString(s.text()) || strings.Contains(s.text(), "\x00") {
			t.Fatalf("text %q is not clean", s.text())
		}
		if s.path != "" {
			if b, _ := os.ReadFile(s.path); !bytes.Equal(b, all) {
				t.Fatalf("file %q, want %q", b, all)
			}
		} else if len(all) > 2*limit || !utf8.Valid(all) || bytes.IndexByte(all, 0) >= 0 {
			t.Fatalf("no file though %q is not shown in full", all)
		}
		if got := append(bytes.Clone(s.head), s.tailBytes()...); len(all) <= 2*limit && !bytes.Equal(got, all) {
			t.Fatalf("kept %q of %q", got, all)
		} else if len(all) > 2*limit && !bytes.Equal(s.tailBytes(), all[len(all)-limit:]) {
			t.Fatalf("tail %q of %q", s.tailBytes(), all)
		}
	})
}

func TestRedactor(t *testing.T) {
	for _, c := range []struct{ secrets, pieces, want string }{
		{"s3cret", "a s3cret b", "a [redacted] b"},
		{"s3cret", "a s3|cre|t b", "a [redacted] b"},
		{"s3cret", "a s3|crab", "a s3crab"},
		{"s3cret", "a s3cre", "a s3cre"},
		{"abc,abcdef", "xabc|defx", "x[redacted]x"},
		{"abc,abcdef", "xabc|dx", "x[redacted]dx"},
		{"abc,zabcy", "za|bcx", "z[redacted]x"},
		{"aa", "aaaa|a", "[redacted][redacted]a"},
		{`q"e`, `{"k":"q\"|e"} q"e`, `{"k":"[redacted]"} [redacted]`},
		{"", "as it is", "as it is"},
	} {
		var secrets [][]byte
		for s := range strings.SplitSeq(c.secrets, ",") {
			secrets = append(secrets, []byte(s))
		}
		r := newRedactor(secrets)
		var got []byte
		for p := range strings.SplitSeq(c.pieces, "|") {
			if r == nil {
				got = append(got, p...)
				continue
			}
			got = append(got, r.next([]byte(p))...)
		}
		if r != nil {
			got = append(got, r.rest()...)
		}
		if string(got) != c.want {
			t.Errorf("secrets %q, pieces %q: %q, want %q", c.secrets, c.pieces, got, c.want)
		}
	}
}

// What encoders of other languages make of a secret is found in the stream.
func TestRedactorKnowsTheSpellingsOfJSON(t *testing.T) {
	secrets := [][]byte{[]byte("pa\"ss\\w\u00f6rd/x"), []byte("<\U0001f511&\u2028>"), []byte("a\n\x7fb"), []byte("k\xf6y"), []byte("it's+`")}
	for _, printed := range []string{
		`pa"ss\wörd/x`,                           // as it is
		`pa\"ss\\wörd/x`,                         // jq, Go
		`pa\"ss\\w\u00f6rd/x`,                    // Python
		`pa\"ss\\w\u00f6rd\/x`,                   // PHP
		`pa\"ss\\wörd\/x`,                        // PHP, unescaped Unicode
		`pa\"ss\\w\u00F6rd/x`,                    // capital digits
		`pa\u0022ss\\w\u00F6rd/x`,                // .NET
		"<\U0001f511&\u2028>",                    // as it is
		"<\U0001f511&\\u2028>",                   // Go, no care for HTML
		"\\u003c\U0001f511\\u0026\\u2028\\u003e", // Go
		`<\ud83d\udd11&\u2028>`,                  // Python
		`\u003C\uD83D\uDD11\u0026\u2028\u003E`,   // .NET
		"a\n\x7fb", "a\\n\x7fb", `a\n\u007fb`, "a\\u000a\x7fb", `a\u000A\u007Fb`,
		"k\xf6y", `k\udcf6y`, `k\ufffdy`, "k\ufffdy",
		`it's+` + "`", `it\u0027s\u002B\u0060`,
	} {
		if got := string(redactAll([]byte(`{"k": "`+printed+`"}`), secrets)); got != `{"k": "[redacted]"}` {
			t.Errorf("%s is not found: %s", printed, got)
		}
	}
	if got := newRedactor([][]byte{[]byte("plain"), []byte("plain")}).secrets; len(got) != 1 {
		t.Errorf("a plain secret is searched for in %d ways: %q", len(got), got)
	}
}

// However the stream is cut, the result is that of the stream in one piece,
// and no secret is left in it.
func FuzzRedactor(f *testing.F) {
	f.Add([]byte("xxsecretxx"), []byte("secret"), []byte("cre"), 3)
	f.Add([]byte("aaaaaaa"), []byte("aa"), []byte("aaa"), 1)
	f.Add([]byte("abcabcabd"), []byte("abcabd"), []byte("bca"), 4)
	f.Add([]byte(`x"\\w\u00f6\/" \\w\u00F6/x`), []byte("\\w\u00f6/"), []byte("\u00f6"), 2)
	f.Fuzz(func(t *testing.T, text, one, two []byte, step int) {
		secrets := [][]byte{one, two}
		whole := redactAll(text, secrets)
		r := newRedactor(secrets)
		if r == nil || step <= 0 {
			return
		}
		var got []byte
		for rest := text; len(rest) > 0; {
			n := min(step, len(rest))
			got = append(got, r.next(rest[:n])...)
			rest = rest[n:]
		}
		got = append(got, r.rest()...)
		if !bytes.Equal(got, whole) {
			t.Fatalf("in pieces of %d: %q, in one: %q", step, got, whole)
		}
	})
}
