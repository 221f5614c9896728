package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"snens/internal/audit"
	"snens/internal/testneed"
)

// uidUser has an account everywhere, which actions of --user need.
const uidUser = 65534

const userPolicy = `
[[rule]]
id = "whoami"
decision = "ask"
command = "/usr/bin/id"
args = ["-u"]
from = ["uid:65534"]
approve = {from = ["uid:65534"], ttl = "10m"}
`

// newUser is a broker of one user, in the places that its environment names.
func newUser(t *testing.T) *process {
	t.Helper()
	testneed.Root(t) // to become the user
	p := newRoot(t, "")
	must(t, os.Chmod(p.dir, 0o755))
	for _, dir := range []string{"runtime", "config/snens", "state"} {
		must(t, os.MkdirAll(p.path(dir), 0o700))
	}
	write(t, p.path("config/snens/priv.toml"), userPolicy)
	must(t, filepath.Walk(p.dir, func(path string, _ os.FileInfo, err error) error {
		must(t, err)
		return os.Chown(path, uidUser, uidUser)
	}))
	// The clients of the tests look below run.
	must(t, os.Symlink(p.path("runtime/snens-priv"), p.path("run")))
	p.cred = &syscall.Credential{Uid: uidUser, Gid: uidUser}
	p.args = []string{"serve", "--user"}
	p.env = []string{
		"HOME=" + p.dir, "XDG_RUNTIME_DIR=" + p.path("runtime"), "XDG_CONFIG_HOME=" + p.path("config"), "XDG_STATE_HOME=" + p.path("state"),
	}
	return p
}

func TestUserMode(t *testing.T) {
	p := newUser(t)
	p.start()
	asker := p.dial("request", uidUser, uidUser)
	_, pending := asker.begin(`{"rule":"whoami"}`)
	if field(pending, "state") != "pending" {
		t.Fatalf("not asked: %s", pending.JSON())
	}
	if v := asker.call("status", `{}`); field(v, "boundary") != "none" {
		t.Errorf("status for the owner: %s", v.JSON())
	}
	if !strings.Contains(p.log(), "boundary: none") {
		t.Errorf("serve does not say what it is:\n%s", p.log())
	}
	for _, socket := range []string{"request", "approval"} {
		if _, err := connect(p.path("run/"+socket+".sock"), uidStranger, uidStranger); err != unix.EACCES {
			t.Errorf("another user at the %s socket: %v", socket, err)
		}
	}
	p.stop()
	logs, state := p.path("state/snens-priv/log"), p.path("state/snens-priv")
	if code, _, errs := do("audit", "verify", "--log-dir", logs, "--state-dir", state); code != 0 && !strings.Contains(errs, "belong") {
		t.Errorf("verify: %d %s", code, errs)
	}
	segments, err := audit.Segments(logs)
	must(t, err)
	text, err := os.ReadFile(filepath.Join(logs, segments[0].Name))
	must(t, err)
	for l := range strings.Lines(string(text)) {
		r, err := audit.ParseRecord([]byte(l))
		must(t, err)
		if r.Boundary != audit.BoundaryNone {
			t.Errorf("the record says nothing of the boundary: %s", l)
		}
	}
}

// Without a folder for run-time files the sockets are in the state.
func TestUserPlaces(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want places
	}{
		{
			map[string]string{"HOME": "/home/ann"},
			places{"/home/ann/.config/snens/priv.toml", "/home/ann/.local/state/snens-priv/run/request.sock", "/home/ann/.local/state/snens-priv/run/approval.sock", "/home/ann/.local/state/snens-priv", "/home/ann/.local/state/snens-priv/log"},
		},
		{
			map[string]string{"XDG_RUNTIME_DIR": "/run/user/7", "XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "/c/"},
			places{"/c/snens/priv.toml", "/run/user/7/snens-priv/request.sock", "/run/user/7/snens-priv/approval.sock", "/s/snens-priv", "/s/snens-priv/log"},
		},
		{
			map[string]string{"HOME": "/h", "XDG_RUNTIME_DIR": "run", "XDG_STATE_HOME": "s", "XDG_CONFIG_HOME": ""},
			places{"/h/.config/snens/priv.toml", "/h/.local/state/snens-priv/run/request.sock", "/h/.local/state/snens-priv/run/approval.sock", "/h/.local/state/snens-priv", "/h/.local/state/snens-priv/log"},
		},
	} {
		got, err := userPlaces(func(name string) string { return c.env[name] })
		if err != nil || got != c.want {
			t.Errorf("%v: %+v, %v", c.env, got, err)
		}
	}
	if _, err := userPlaces(func(string) string { return "" }); err == nil {
		t.Error("without a home there are places")
	}
}

func TestHasTerminal(t *testing.T) {
	for stat, want := range map[string]bool{
		"12 (cat) S 1 12 12 34816 12 4194304":  true,
		"12 (cat) S 1 12 12 0 -1 4194304":      false,
		"12 (a) S 1 2 3 34816) S 1 12 12 0 -1": false,
		"12 (cat) S 1":                         false,
		"":                                     false,
	} {
		if got := hasTerminal(stat); got != want {
			t.Errorf("%q: %v", stat, got)
		}
	}
}
