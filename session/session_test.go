package session_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"snens/internal/testneed"
	"snens/session"
)

func TestIDs(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id := string(session.NewCallID())
		if _, err := session.ParseCallID(id); err != nil || seen[id] {
			t.Fatalf("id %q: %v, seen before: %v", id, err, seen[id])
		}
		seen[id] = true
	}
	for _, bad := range []string{
		"", "..", "a/b", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01ARZ3NDEKTSV4RRFFQ69G5FAVX",
		"01arz3ndektsv4rrffq69g5fav", "81ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAI", "01ARZ3NDEKTSV4RRFFQ69G5FA\x00",
	} {
		if _, err := session.ParseID(bad); err == nil {
			t.Errorf("session id %q was accepted", bad)
		}
		if _, err := session.ParseCallID(bad); err == nil {
			t.Errorf("call id %q was accepted", bad)
		}
	}
}

func TestCreateAndOpen(t *testing.T) {
	dir := t.TempDir() + "/a/sessions"
	before := time.Now().Add(-time.Second)
	parent, err := session.Create(dir, "/", "")
	must(t, err)
	s, err := session.Create(dir, "/tmp/a \"b\"\n—", parent.ID)
	must(t, err)
	if s.Dir != filepath.Join(dir, string(s.ID)) || s.Created.Before(before) || s.ID <= parent.ID && s.Created.After(parent.Created) {
		t.Errorf("got %+v after %+v", s, parent)
	}
	again, err := session.Open(dir, s.ID)
	must(t, err)
	if !reflect.DeepEqual(again, s) {
		t.Errorf("opened %+v, created %+v", again, s)
	}
	for path, mode := range map[string]fs.FileMode{s.Dir: fs.ModeDir | 0o700, s.Dir + "/session.json": 0o600} {
		info, err := os.Lstat(path)
		must(t, err)
		if info.Mode() != mode {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 2 {
		t.Errorf("the folder holds %v", entries)
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		cwd, parent, want string
	}{
		{"", "", `cwd: "" is not an absolute path`},
		{"a/b", "", "is not an absolute path"},
		{"/a\xff", "", "is not UTF-8"},
		{"/", "x", `parent: session id "x" is not one`},
	} {
		if _, err := session.Create(dir, c.cwd, session.ID(c.parent)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Create(%q, %q): got %v, want %q", c.cwd, c.parent, err, c.want)
		}
	}
	must(t, os.Chmod(dir, 0o777))
	if _, err := session.Create(dir, "/", ""); err == nil || !strings.Contains(err.Error(), "writable by others") {
		t.Errorf("folder open to all: %v", err)
	}
}

func TestOpenIsStrict(t *testing.T) {
	dir := t.TempDir()
	s, err := session.Create(dir, "/", "")
	must(t, err)
	file := s.Dir + "/session.json"
	id := string(s.ID)
	rest := `"cwd":"/","created":"2026-01-02T03:04:05Z"}`
	for name, c := range map[string]struct{ content, want string }{
		"empty":          {"", "session.json"},
		"torn":           {`{"id":"` + id + `","cw`, "session.json"},
		"no object":      {`[]`, "no JSON object"},
		"unknown key":    {`{"id":"` + id + `","x":"",` + rest, `unknown key "x"`},
		"wrong case":     {`{"ID":"` + id + `",` + rest, `unknown key "ID"`},
		"twice":          {`{"id":"` + id + `","id":"` + id + `",` + rest, "id"},
		"wrong type":     {`{"id":1,` + rest, "id: it must be a string"},
		"no id":          {`{` + rest, "id: session id"},
		"another id":     {`{"id":"01ARZ3NDEKTSV4RRFFQ69G5FAV",` + rest, "it says 01ARZ3NDEKTSV4RRFFQ69G5FAV"},
		"relative cwd":   {`{"id":"` + id + `","cwd":"a","created":"2026-01-02T03:04:05Z"}`, "cwd: "},
		"bad time":       {`{"id":"` + id + `","cwd":"/","created":"today"}`, `created: "today" is no time`},
		"bad parent":     {`{"id":"` + id + `","parent":"../x",` + rest, "parent: "},
		"something more": {`{"id":"` + id + `",` + rest + "{}", "session.json"},
		"too big":        {`{"id":"` + id + `",` + rest + strings.Repeat(" ", 65<<10), "too big"},
	} {
		must(t, os.WriteFile(file, []byte(c.content), 0o600))
		if _, err := session.Open(dir, s.ID); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	must(t, os.WriteFile(file, []byte(`{"id":"`+id+`",`+rest), 0o600))
	if _, err := session.Open(dir, s.ID); err != nil {
		t.Errorf("the good one: %v", err)
	}
}

func TestOpenChecksItsFiles(t *testing.T) {
	testneed.Root(t)
	dir := t.TempDir()
	s, err := session.Create(dir, "/", "")
	must(t, err)
	if _, err := session.Open(dir, session.NewID()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such session: %v", err)
	}
	if _, err := session.Open(dir, "../etc"); err == nil {
		t.Error("a path was taken for an id")
	}
	file := s.Dir + "/session.json"
	for name, c := range map[string]struct {
		spoil, mend func() error
	}{
		"file open to others":   {func() error { return os.Chmod(file, 0o644) }, func() error { return os.Chmod(file, 0o600) }},
		"file of another user":  {func() error { return os.Chown(file, 12345, 0) }, func() error { return os.Chown(file, 0, 0) }},
		"folder open to others": {func() error { return os.Chmod(s.Dir, 0o755) }, func() error { return os.Chmod(s.Dir, 0o700) }},
		"folder of another":     {func() error { return os.Chown(s.Dir, 12345, 0) }, func() error { return os.Chown(s.Dir, 0, 0) }},
	} {
		must(t, c.spoil())
		if _, err := session.Open(dir, s.ID); err == nil {
			t.Errorf("%s: opened", name)
		}
		must(t, c.mend())
	}
	if _, err := session.Open(dir, s.ID); err != nil {
		t.Errorf("mended: %v", err)
	}
}

func TestSessionFolders(t *testing.T) {
	s, err := session.Create(t.TempDir(), "/", "")
	must(t, err)
	id := session.NewCallID()
	attach, err := s.AttachDir(id)
	must(t, err)
	spill, err := s.SpillDir(id)
	must(t, err)
	if attach != s.Dir+"/attach/"+string(id) || spill != s.Dir+"/spill/"+string(id) {
		t.Errorf("got %s and %s", attach, spill)
	}
	if _, err := s.SpillDir("../x"); err == nil {
		t.Error("a path was taken for an id")
	}
}

func FuzzSessionFile(f *testing.F) {
	dir := f.TempDir()
	s, err := session.Create(dir, "/tmp", session.NewID())
	must(f, err)
	file := s.Dir + "/session.json"
	good, err := os.ReadFile(file)
	must(f, err)
	f.Add(good)
	f.Add([]byte(`{"id":"","cwd":"/"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		must(t, os.WriteFile(file, data, 0o600))
		got, err := session.Open(dir, s.ID)
		if err == nil && (got.ID != s.ID || !filepath.IsAbs(got.Cwd)) {
			t.Errorf("%q was read as %+v", data, got)
		}
	})
}
