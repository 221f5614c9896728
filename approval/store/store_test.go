package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"snens/approval/prompt"
	"snens/approval/store"
	"snens/broker/action"
	"snens/internal/safefile"
)

func record(t testing.TB) *store.Record {
	t.Helper()
	s, err := action.Seal(action.Request{
		Argv: []string{"true", "\x80"}, Executable: action.File{Path: "/bin/true", SHA256: action.DigestOf("x")}, Cwd: "/", Timeout: time.Second,
		Stdin: action.Stdin{Mode: action.StdinNone}, Requester: action.Requester{UID: 1000}, Rule: "r", RuleDigest: action.DigestOf("y"),
		Expires: time.Unix(2e9, 0).UTC(), Nonce: action.Nonce{1}, Install: action.InstallID{1},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &store.Record{
		ID: action.RequestID{1}, State: action.Pending, Detached: true, Since: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC),
		Case: prompt.Case{Requester: 1000, Login: action.Login{UID: 1001, Set: true}, Digest: s.Digest(), Terms: prompt.Terms{
			From: []prompt.Selector{
				{Kind: prompt.SelectUID, UID: 5}, {Kind: prompt.SelectGID, GID: 50}, {Kind: prompt.SelectPrincipal, Principal: "ann@example"},
			}, Need: 2, Presence: prompt.PresencePeer, Lifespans: []action.Lifespan{action.Lifespan(time.Hour)},
		}},
		Request: s, Claims: action.Claims{Reason: "please\n"}, Seen: action.Seen{PID: 3}, About: "Restart", ReasonRequired: true, Approvers: []string{"group:ops"},
	}
}

// ended is the same after a no.
func ended(t testing.TB) *store.Record {
	r := record(t)
	return &store.Record{
		ID: r.ID, State: action.Denied, Detached: true, Since: r.Since, Case: r.Case,
		Result: action.Result{ID: r.ID, State: action.Denied, Reason: action.ReasonApproverDenied, Ended: r.Since},
	}
}

func open(t testing.TB, path string) *store.Dir {
	t.Helper()
	d, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func load(t testing.TB, d *store.Dir) ([]store.Record, []error) {
	t.Helper()
	found, faults, err := d.Load()
	if err != nil {
		t.Fatal(err)
	}
	return found, faults
}

func TestRecordsComeBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "requests")
	d := open(t, path)
	for _, r := range []*store.Record{record(t), ended(t)} { // each replaces the one before
		for _, durable := range []bool{false, true} {
			if err := d.Save(r, durable); err != nil {
				t.Fatal(err)
			}
			found, faults := load(t, d)
			if len(found) != 1 || len(faults) != 0 || !reflect.DeepEqual(&found[0], r) {
				t.Fatalf("%+v %v\nwas %+v", found, faults, r)
			}
		}
	}
	info, err := os.Stat(filepath.Join(path, record(t).ID.String()+".json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	for range 2 {
		if err := d.Remove(record(t).ID); err != nil {
			t.Error(err)
		}
	}
	if found, _ := load(t, d); len(found) != 0 {
		t.Errorf("%+v", found)
	}
}

func TestOneProcessHasTheFolder(t *testing.T) {
	path := t.TempDir()
	if err := os.Chmod(path, 0o700); err != nil {
		t.Fatal(err)
	}
	open(t, path)
	if _, err := store.Open(path); !errors.Is(err, safefile.ErrLocked) {
		t.Errorf("%v", err)
	}
}

func TestFoldersThatAreNotOurs(t *testing.T) {
	path := t.TempDir()
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	var untrusted *safefile.UntrustedError
	if _, err := store.Open(path); !errors.As(err, &untrusted) {
		t.Errorf("%v", err)
	}
}

func TestSaveRefuses(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "requests"))
	for name, change := range map[string]func(*store.Record){
		"no id":              func(r *store.Record) { r.ID = action.RequestID{} },
		"no request":         func(r *store.Record) { r.Request = nil },
		"another digest":     func(r *store.Record) { r.Case.Digest[0] ^= 1 },
		"another uid":        func(r *store.Record) { r.Case.Requester = 1 },
		"nobody":             func(r *store.Record) { r.Case.Requester = action.NoID },
		"ended with request": func(r *store.Record) { r.State = action.Denied },
		"another's result":   func(r *store.Record) { *r = *ended(t); r.Result.ID[0] = 9 },
		"another state":      func(r *store.Record) { *r = *ended(t); r.State = action.Expired },
		"no reason":          func(r *store.Record) { *r = *ended(t); r.Result.Reason = 0 },
	} {
		r := record(t)
		change(r)
		if err := d.Save(r, true); err == nil {
			t.Errorf("%s: saved", name)
		}
	}
	if found, faults := load(t, d); len(found)+len(faults) != 0 {
		t.Errorf("%v %v", found, faults)
	}
}

// What makes no sense never becomes a request, and stays for people to look at.
func TestBrokenFilesAreSetAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "requests")
	d := open(t, path)
	if err := d.Save(record(t), false); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(path, record(t).ID.String()+".json")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text := string(whole)
	for what, content := range map[string]string{
		"empty":           "",
		"cut":             text[:len(text)/2],
		"another version": strings.Replace(text, `"version":1`, `"version":2`, 1),
		"unknown field":   strings.Replace(text, `"version":1`, `"version":1,"more":1`, 1),
		"unknown state":   strings.Replace(text, `"pending"`, `"maybe"`, 1),
		"another command": strings.Replace(text, `"true"`, `"false"`, 1),
		"another id":      strings.Replace(text, record(t).ID.String(), action.RequestID{7}.String(), 1),
		"nobody":          strings.Replace(text, `"requester":1000`, `"requester":4294967295`, 1),
	} {
		if content == text {
			t.Fatalf("%s: nothing was changed in %s", what, text)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		found, faults := load(t, d)
		if len(found) != 0 || len(faults) != 1 {
			t.Errorf("%s: %v %v", what, found, faults)
		}
		if kept, err := os.ReadFile(name + ".broken"); err != nil || string(kept) != content {
			t.Errorf("%s: %v", what, err)
		}
		if found, faults := load(t, d); len(found)+len(faults) != 0 {
			t.Errorf("%s: comes back: %v %v", what, found, faults)
		}
	}
}

func TestHalfWrittenFilesAreRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "requests")
	d := open(t, path)
	half := filepath.Join(path, "."+record(t).ID.String()+".json.ABCDEFGHIJKL.tmp")
	if err := os.WriteFile(half, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if found, faults := load(t, d); len(found)+len(faults) != 0 {
		t.Errorf("%v %v", found, faults)
	}
	if _, err := os.Stat(half); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// Whatever is read is refused, or is exactly what would be written.
func FuzzDecode(f *testing.F) {
	for _, r := range []*store.Record{record(f), ended(f)} {
		data, err := store.Encode(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"version":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := store.Decode(data)
		if err != nil {
			return
		}
		text, err := store.Encode(&r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := store.Decode(text)
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("%+v\n%+v %v", r, again, err)
		}
	})
}
