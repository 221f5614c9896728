package action_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snens/broker/action"
)

// The texts in testdata were written by hand from the description of the
// format, and hashed by sha256sum. A change of the format shows here: it needs
// a new version in the first line, because approvals given before it would
// mean something else.
func TestVectors(t *testing.T) {
	vectors, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(vectors) < 3 {
		t.Fatalf("%d vectors, %v", len(vectors), err)
	}
	for _, name := range vectors {
		base := strings.TrimSuffix(name, ".txt")
		text, object, sum := read(t, name), read(t, base+".json"), read(t, base+".sha256")
		s, err := action.DecodeJSON([]byte(object))
		if err != nil {
			t.Errorf("%s.json: %v", base, err)
			continue
		}
		if s.Text() != text {
			t.Errorf("%s.json has the text\n%s\nwant\n%s", base, s.Text(), text)
		}
		if got := s.Digest().String(); got != strings.TrimSpace(sum) {
			t.Errorf("%s: digest %s, want %s", base, got, sum)
		}
		back, err := action.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := string(back.JSON()); got != strings.TrimSpace(object) {
			t.Errorf("%s has the JSON\n%s\nwant\n%s", name, got, object)
		}
	}
}

func read(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestParseRefuses(t *testing.T) {
	text := read(t, "testdata/full.txt")
	for _, c := range []struct{ from, to, want string }{
		{"snens-request 1", "snens-request 2", "line 1: must be"},
		{"argv: 2", "argv: 1", "line 4: must be \"executable: ...\""},
		{"argv: 2", "argv: 3", "line 5: must be \"argv[2]: ...\""},
		{"argv: 2", "argv: 02", "not spelled"},
		{"argv: 2", "argv: +2", "line 2"},
		{"argv: 2", "argv: 1025", "line 2"},
		{"argv[0]: \"", "argv[0]:  \"", "line 3: the value must stand in double quotes"},
		{"argv[0]: \"tee\"", "argv[0]: tee", "line 3: the value must stand in double quotes"},
		{"argv[0]: \"tee\"", "argv[0]: \"", "line 3: the value must stand in double quotes"},
		{"argv[0]: \"tee\"", `argv[0]: "\u{74}ee"`, "line 3: cannot unescape"},
		{"umask: 0027", "umask: 027", "umask"},
		{"umask: 0027", "umask: 0o27", "umask"},
		{"timeout: 1m30s", "timeout: 90s", "timeout"},
		{"limits: 5", "limits: 6", "limits"},
		{"memory 1048576", "memory 0", "limits"},
		{"memory 1048576", "memory 01048576", "not spelled"},
		{"limits[0]: memory 1048576\nlimits[1]: processes 16", "limits[0]: processes 16\nlimits[1]: memory 1048576", "not spelled"},
		{"processes 16", "memory 1048576", "not spelled"},
		{"modes[0]: detached", "modes[0]: fast", "allowed|known"},
		{"modes[1]: terminal", "modes[1]: detached", "not spelled"},
		{"stdin: sealed", "stdin: pass", "stdin: \"pass\" is not known"},
		{"stdin bytes: 28", "stdin bytes: 26", "not spelled"},
		{"stdin end: none", "stdin end: newline", "not spelled"},
		{"stdin end: none", "stdin end: no", "not spelled"},
		{"run as user: 33 ", "run as user: 033 ", "no user id"},
		{"run as user: 33 ", "run as user: 4294967295 ", "no user id"},
		{"rule: write-config", "rule: list", "rule"},
		{"expires: 2030-01-31T23:59:59Z", "expires: 2030-01-31T23:59:59.0Z", "expires"},
		{"expires: 2030-01-31T23:59:59Z", "expires: 2030-02-30T23:59:59Z", "expires"},
		{"nonce: 0", "nonce: 00", "nonce"},
		{"nonce: 000102030405060708090a0b0c0d0e0f", "nonce: 000102030405060708090A0B0C0D0E0F", "nonce"},
		{"install: ", "installation: ", "must be"},
	} {
		changed := strings.Replace(text, c.from, c.to, 1)
		if changed == text {
			t.Errorf("%q is not in the text", c.from)
			continue
		}
		_, err := action.Parse(changed)
		ok := false
		for want := range strings.SplitSeq(c.want, "|") {
			ok = ok || err != nil && strings.Contains(err.Error(), want)
		}
		if !ok {
			t.Errorf("%q for %q: got %v, want %q", c.to, c.from, err, c.want)
		}
	}
	for _, bad := range []string{"", "\n", text[:len(text)-1], text + "\n", text + text, "\ufeff" + text, strings.ReplaceAll(text, "\n", "\r\n"), text + strings.Repeat("x", action.MaxText)} {
		if _, err := action.Parse(bad); err == nil {
			t.Errorf("accepted %.40q of %d bytes", bad, len(bad))
		}
	}
}

// Every text without one of its lines, and with one of them twice, is refused.
func TestNoLineMayGoOrComeTwice(t *testing.T) {
	lines := strings.SplitAfter(read(t, "testdata/full.txt"), "\n")
	lines = lines[:len(lines)-1]
	for i := range lines {
		without := strings.Join(lines[:i], "") + strings.Join(lines[i+1:], "")
		twice := strings.Join(lines[:i+1], "") + strings.Join(lines[i:], "")
		for _, text := range []string{without, twice} {
			if _, err := action.Parse(text); err == nil {
				t.Errorf("accepted with line %d missing or twice: %s", i+1, lines[i])
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"plain", "full", "script"} {
		f.Add(read(f, "testdata/"+name+".txt"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := action.Parse(text)
		if err != nil {
			return
		}
		if s.Text() != text || s.Digest() != action.DigestOf(text) {
			t.Fatalf("%q was accepted and is rendered %q", text, s.Text())
		}
		again, err := action.DecodeJSON(s.JSON())
		if err != nil || again.Text() != text {
			t.Fatalf("%s: %v", s.JSON(), err)
		}
	})
}

func FuzzDecodeJSON(f *testing.F) {
	for _, name := range []string{"plain", "full", "script"} {
		f.Add([]byte(read(f, "testdata/"+name+".json")))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := action.DecodeJSON(data)
		if err != nil {
			return
		}
		again, err := action.DecodeJSON(s.JSON())
		if err != nil || again.Digest() != s.Digest() || !bytes.Equal(again.JSON(), s.JSON()) {
			t.Fatalf("%s came back as %s, %v", data, s.JSON(), err)
		}
	})
}
