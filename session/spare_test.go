package session_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"snens/internal/safefile"
	"snens/session"
	"snens/supervisor/call"
)

// A folder serves one call after the other, and nothing of an earlier call is
// to be found in it.
func TestSparesServeLaterCalls(t *testing.T) {
	c, state := openCalls(t)
	var first os.FileInfo
	for i := range 3 {
		f, err := c.New(session.NewCallID(), session.Meta{Tool: strings.Repeat("long", 3-i)})
		must(t, err)
		info, err := os.Stat(f.Dir)
		must(t, err)
		if first == nil {
			first = info
		} else if !os.SameFile(first, info) {
			t.Error("another folder was made, with a spare at hand")
		}
		lock, err := os.ReadFile(f.Dir + "/lock")
		must(t, err)
		if n := strings.Count(string(lock), "\n"); n != 1 || !json.Valid(lock) {
			t.Errorf("the lock file holds %q", lock)
		}
		if got := names(t, f.Dir); !slices.Equal(got, []string{"lock"}) {
			t.Errorf("the folder holds %v", got)
		}
		must(t, f.Record(json.RawMessage(`{"pid":1}`)))
		_, err = f.TempFile("secret", []byte("x"))
		must(t, err)
		must(t, f.Close())
		if got := names(t, state+"/calls/.spare-0"); !slices.Equal(got, []string{"lock"}) {
			t.Errorf("the spare holds %v", got)
		}
		if b, err := os.ReadFile(state + "/calls/.spare-0/lock"); err != nil || len(b) > 0 {
			t.Errorf("the spare's lock file holds %q, %v", b, err)
		}
	}
}

// However many calls there were at once, a few folders stay.
func TestSparesAreFew(t *testing.T) {
	c, state := openCalls(t)
	var all []*session.Folder
	for range 9 {
		f, err := c.New(session.NewCallID(), session.Meta{})
		must(t, err)
		all = append(all, f)
	}
	for _, f := range all {
		must(t, f.Close())
	}
	want := []string{".spare-0", ".spare-1", ".spare-2", ".spare-3"}
	if got := names(t, state+"/calls"); !slices.Equal(got, want) {
		t.Errorf("left: %v, want %v", got, want)
	}
	if got := scan(t, c); got != nil {
		t.Errorf("spares were taken for calls: %v", got)
	}
}

// What cannot serve is passed over: one that somebody holds, one without a
// lock file, one that is a plain file.
func TestUnfitSparesDoNoHarm(t *testing.T) {
	c, state := openCalls(t)
	root := state + "/calls/"
	must(t, os.Mkdir(root+".spare-0", 0o700))
	must(t, os.WriteFile(root+".spare-1", nil, 0o600))
	must(t, os.Mkdir(root+".spare-2", 0o700))
	held, err := safefile.TryLock(root + ".spare-2/lock")
	must(t, err)
	defer held.Unlock()
	f, err := c.New(session.NewCallID(), session.Meta{Tool: "true"})
	must(t, err)
	if got := names(t, f.Dir); !slices.Equal(got, []string{"lock"}) {
		t.Errorf("the folder holds %v", got)
	}
	must(t, f.Close())
	if got := inUse(t, root); got != nil {
		t.Errorf("left: %v", got)
	}
	if _, err := os.Stat(root + ".spare-2/lock"); err != nil {
		t.Errorf("the one that was held is gone: %v", err)
	}
}

// A call that had a spare folder and whose supervisor died is found as any other.
func TestLeftoverInASpare(t *testing.T) {
	c, _ := openCalls(t)
	f, err := c.New(session.NewCallID(), session.Meta{Tool: "an earlier one"})
	must(t, err)
	must(t, f.Record(json.RawMessage(`{"pid":1}`)))
	must(t, f.Close())
	id := dead(t, c, `{"pid":2}`)
	var found []call.ID
	must(t, c.Leftovers(func(l session.Leftover) error {
		found = append(found, l.ID)
		if string(l.Identity) != `{"pid":2}` || l.Meta.Tool != "sleep" || filepath.Base(l.Dir) != string(id) {
			t.Errorf("got %+v with %s", l, l.Identity)
		}
		return nil
	}))
	if !slices.Equal(found, []call.ID{id}) {
		t.Errorf("handed over: %v, want %s", found, id)
	}
}
