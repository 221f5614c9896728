package session_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"snens/internal/safefile"
	"snens/internal/testneed"
	"snens/session"
	"snens/supervisor/call"
)

func openCalls(t testing.TB) (*session.Calls, string) {
	t.Helper()
	state := t.TempDir()
	c, err := session.OpenCalls(state + "/calls")
	must(t, err)
	return c, state
}

// scan returns the ids that Leftovers hands over, sorted.
func scan(t testing.TB, c *session.Calls) []call.ID {
	t.Helper()
	var ids []call.ID
	must(t, c.Leftovers(func(l session.Leftover) error {
		ids = append(ids, l.ID)
		return nil
	}))
	slices.Sort(ids)
	return ids
}

func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// inUse is names without the spare folders.
func inUse(t testing.TB, dir string) []string {
	t.Helper()
	var out []string
	for _, name := range names(t, dir) {
		if !strings.HasPrefix(name, ".spare-") {
			out = append(out, name)
		}
	}
	return out
}

func TestFolderLife(t *testing.T) {
	c, state := openCalls(t)
	id := session.NewCallID()
	f, err := c.New(id, session.Meta{Tool: "grep", Cwd: "/tmp"})
	must(t, err)
	if f.Dir != filepath.Join(state, "calls", string(id)) || f.ID != id {
		t.Errorf("folder %s, id %s", f.Dir, f.ID)
	}
	must(t, f.Record(json.RawMessage(`{"pid":1}`)))
	must(t, f.Record(json.RawMessage(`{"pid":2}`)))
	if got := scan(t, c); got != nil {
		t.Errorf("a live call was taken for a leftover: %v", got)
	}
	if got := names(t, f.Dir); !slices.Equal(got, []string{"lock"}) {
		t.Errorf("the folder holds %v", got)
	}
	must(t, f.Close())
	must(t, f.Close())
	if got := inUse(t, state+"/calls"); got != nil {
		t.Errorf("after Close: %v", got)
	}
}

func TestRecordRefuses(t *testing.T) {
	c, _ := openCalls(t)
	f, err := c.New(session.NewCallID(), session.Meta{})
	must(t, err)
	defer f.Close()
	for _, bad := range []string{"", "{", `"` + strings.Repeat("x", 64<<10) + `"`} {
		if err := f.Record(json.RawMessage(bad)); err == nil {
			t.Errorf("%.10q was recorded", bad)
		}
	}
}

func TestNewRefusesPaths(t *testing.T) {
	c, _ := openCalls(t)
	for _, id := range []call.ID{"", "..", "../../etc", ".new-x", "lower"} {
		if _, err := c.New(id, session.Meta{}); err == nil {
			t.Errorf("%q was taken for an id", id)
		}
		if _, err := c.SpillDir(id); err == nil {
			t.Errorf("%q was taken for an id", id)
		}
	}
}

func TestNewNeverReusesAnID(t *testing.T) {
	c, _ := openCalls(t)
	f, err := c.New(session.NewCallID(), session.Meta{})
	must(t, err)
	if _, err := c.New(f.ID, session.Meta{}); err == nil {
		t.Error("two folders of one id")
	}
	must(t, f.Record(json.RawMessage(`1`))) // the first is unharmed
	must(t, f.Close())
}

func TestTempFile(t *testing.T) {
	c, _ := openCalls(t)
	f, err := c.New(session.NewCallID(), session.Meta{})
	must(t, err)
	content := []byte("a\x00b\xff")
	for _, x := range []struct{ wish, want string }{
		{"query.json", "query.json"},
		{"query.json", "2-query.json"},
		{"query.json", "3-query.json"},
		{"../../etc/passwd", "_.._etc_passwd"},
		{"-rf", "rf"},
		{"..", "file"},
		{"", "2-file"},
		{"имя\n", "____"},
		{strings.Repeat("x", 500), strings.Repeat("x", 64)},
	} {
		path, err := f.TempFile(x.wish, content)
		must(t, err)
		if path != filepath.Join(f.Dir, "files", x.want) {
			t.Errorf("%q became %s", x.wish, path)
		}
		info, err := os.Lstat(path)
		must(t, err)
		b, _ := os.ReadFile(path)
		if info.Mode() != 0o600 || string(b) != string(content) {
			t.Errorf("%s: mode %v, content %q", path, info.Mode(), b)
		}
	}
	must(t, f.Close())
}

func TestAttachmentsOutliveTheCall(t *testing.T) {
	c, state := openCalls(t)
	for _, leave := range []bool{false, true} {
		f, err := c.New(session.NewCallID(), session.Meta{})
		must(t, err)
		dir, err := f.AttachDir()
		must(t, err)
		if dir != filepath.Join(state, "spill", string(f.ID), "attach") {
			t.Errorf("attachments in %s", dir)
		}
		if leave {
			must(t, os.WriteFile(dir+"/plot.png", []byte("x"), 0o600))
		}
		must(t, f.Close())
		_, err = os.Stat(dir + "/plot.png")
		if (err == nil) != leave {
			t.Errorf("after Close: %v", err)
		}
		if got := len(names(t, state+"/spill")); got != 0 && !leave {
			t.Error("an empty spill folder stayed")
		}
	}
}

func TestOpenCallsIsPrivate(t *testing.T) {
	testneed.Root(t)
	dir := folder(t, 0o755, 0, t.TempDir(), "calls")
	if _, err := session.OpenCalls(dir); err == nil || !strings.Contains(err.Error(), "open to others") {
		t.Errorf("got %v", err)
	}
}

func TestSpillDirAndPrune(t *testing.T) {
	c, state := openCalls(t)
	if n, err := c.PruneSpill(); n != 0 || err != nil {
		t.Errorf("without a spill folder: %d, %v", n, err)
	}
	old := time.Now().Add(-8 * 24 * time.Hour)
	oldID := func(ageOfFile time.Duration) call.ID {
		id := call.ID(ulid.MustNew(ulid.Timestamp(old), ulid.DefaultEntropy()).String())
		dir, err := c.SpillDir(id)
		must(t, err)
		must(t, os.WriteFile(dir+"/stdout", []byte("x"), 0o600))
		when := time.Now().Add(-ageOfFile)
		must(t, os.Chtimes(dir+"/stdout", when, when))
		must(t, os.Chtimes(dir, old, old))
		return id
	}
	gone := oldID(8 * 24 * time.Hour)
	fresh, err := c.SpillDir(session.NewCallID())
	must(t, err)
	written := oldID(time.Hour) // a long call that wrote lately
	running := oldID(8 * 24 * time.Hour)
	f, err := c.New(running, session.Meta{})
	must(t, err)
	must(t, os.Mkdir(state+"/spill/somebody's", 0o700))

	if n, err := c.PruneSpill(); n != 1 || err != nil {
		t.Errorf("pruned %d, %v; want 1", n, err)
	}
	want := []string{".pruned", filepath.Base(fresh), string(running), string(written), "somebody's"}
	got := names(t, state+"/spill")
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("left: %v, want %v (without %s)", got, want, gone)
	}
	must(t, os.WriteFile(state+"/spill/"+string(running)+"/more", nil, 0o600))
	must(t, f.Close())
	if _, err := os.Stat(state + "/spill/" + string(running)); err != nil {
		t.Errorf("Close took the spill: %v", err)
	}
}

func TestPruneSpillIsBounded(t *testing.T) {
	c, state := openCalls(t)
	old := time.Now().Add(-8 * 24 * time.Hour)
	for range 70 {
		dir, err := c.SpillDir(call.ID(ulid.MustNew(ulid.Timestamp(old), ulid.DefaultEntropy()).String()))
		must(t, err)
		must(t, os.Chtimes(dir, old, old))
	}
	for i, want := range []int{64, 6, 0} {
		if n, err := c.PruneSpill(); n != want || err != nil {
			t.Errorf("round %d: pruned %d, %v; want %d", i, n, err, want)
		}
	}
	// Within the hour nothing is even looked at.
	dir, err := c.SpillDir(call.ID(ulid.MustNew(ulid.Timestamp(old), ulid.DefaultEntropy()).String()))
	must(t, err)
	must(t, os.Chtimes(dir, old, old))
	if n, err := c.PruneSpill(); n != 0 || err != nil {
		t.Errorf("within the hour: %d, %v", n, err)
	}
	hourAgo := time.Now().Add(-2 * time.Hour)
	must(t, os.Chtimes(state+"/spill/.pruned", hourAgo, hourAgo))
	if n, err := c.PruneSpill(); n != 1 || err != nil {
		t.Errorf("later: %d, %v", n, err)
	}
}

// dead makes the folder of a call whose supervisor died: everything but the lock.
func dead(t testing.TB, c *session.Calls, identity string) call.ID {
	t.Helper()
	f, err := c.New(session.NewCallID(), session.Meta{Tool: "sleep"})
	must(t, err)
	if identity != "" {
		must(t, f.Record(json.RawMessage(identity)))
	}
	kept := f.Dir + ".kept"
	must(t, os.CopyFS(kept, os.DirFS(f.Dir)))
	must(t, filepath.WalkDir(kept, func(p string, d fs.DirEntry, err error) error {
		mode := fs.FileMode(0o600)
		if d.IsDir() {
			mode = 0o700
		}
		return errors.Join(err, os.Chmod(p, mode))
	}))
	must(t, f.Close())
	must(t, os.Rename(kept, f.Dir))
	return f.ID
}

func TestLeftoverIsHandedOverUntilItIsDealtWith(t *testing.T) {
	c, state := openCalls(t)
	id := dead(t, c, `{"pid":7}`)
	failed := errors.New("cannot end it")
	err := c.Leftovers(func(l session.Leftover) error {
		if l.ID != id || string(l.Identity) != `{"pid":7}` || l.Meta.Tool != "sleep" || l.Meta.PID != os.Getpid() || l.Note != "" {
			t.Errorf("got %+v", l)
		}
		if _, err := safefile.TryLock(l.Dir + "/lock"); !errors.Is(err, safefile.ErrLocked) {
			t.Errorf("the lock is not held: %v", err)
		}
		if got := scan(t, c); got != nil { // somebody else who looks meanwhile
			t.Errorf("handed over twice: %v", got)
		}
		return failed
	})
	if !errors.Is(err, failed) || !strings.Contains(err.Error(), string(id)) {
		t.Errorf("got %v", err)
	}
	if got := scan(t, c); !slices.Equal(got, []call.ID{id}) {
		t.Errorf("the second time: %v", got)
	}
	if got := inUse(t, state+"/calls"); got != nil {
		t.Errorf("left: %v", got)
	}
}

func TestOneFailureDoesNotHideOthers(t *testing.T) {
	c, _ := openCalls(t)
	for range 3 {
		dead(t, c, `1`)
	}
	n := 0
	err := c.Leftovers(func(session.Leftover) error {
		n++
		return errors.New("no")
	})
	if n != 3 || strings.Count(err.Error(), "leftover call") != 3 {
		t.Errorf("%d calls, %v", n, err)
	}
}

func TestTornLeftovers(t *testing.T) {
	c, state := openCalls(t)
	const meta = `{"tool":"sleep","pid":1,"started":"2026-01-02T03:04:05Z"}` + "\n"
	for name, x := range map[string]struct{ lock, identity, tool, note string }{
		"whole":                    {meta + "\n{\"pid\":7}\n", `{"pid":7}`, "sleep", ""},
		"the last one counts":      {meta + "\n1\n\n2\n", `2`, "sleep", ""},
		"nothing recorded":         {meta, "", "sleep", "no identity was recorded"},
		"torn":                     {meta + "\n{\"pid\":7", "", "sleep", "torn"},
		"whole JSON without end":   {meta + "\n7", "", "sleep", "torn"},
		"the last one torn":        {meta + "\n1\n\n{\"pi", `1`, "sleep", "torn"},
		"whole after a torn one":   {meta + "\n{\"pi\n2\n", `2`, "sleep", ""},
		"empty":                    {"", "", "", "what was called is not known"},
		"no meta":                  {"x\n1\n", `1`, "", "what was called is not known"},
		"bytes":                    {"\xff\x00\n\xfe\n", "", "", "torn"},
		"far too long to be of us": {meta + strings.Repeat("1\n", 1<<20), "", "", "too big"},
	} {
		id := dead(t, c, "")
		must(t, os.WriteFile(filepath.Join(state, "calls", string(id), "lock"), []byte(x.lock), 0o600))
		found := 0
		must(t, c.Leftovers(func(l session.Leftover) error {
			found++
			if l.ID != id || string(l.Identity) != x.identity || l.Meta.Tool != x.tool || !strings.Contains(l.Note, x.note) || (l.Note == "") != (x.note == "") {
				t.Errorf("%s: got %+v with %s", name, l, l.Identity)
			}
			return nil
		}))
		if found != 1 {
			t.Errorf("%s: found %d times", name, found)
		}
	}
}
