package prepare_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/broker/policy"
	"snens/broker/prepare"
	"snens/internal/accounts"
	"snens/internal/spawn"
	"snens/internal/testneed"
)

func TestMain(m *testing.M) {
	// As in the broker: it must find its own descriptors all the same.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	unix.Umask(0o022)
	goleak.VerifyTestMain(m)
}

// Ids that no account of the machine uses.
const (
	alice   = 54401
	bob     = 54402
	service = 54403
	team    = 54450
	web     = 54451
	logs    = 54452
)

var (
	asAlice = policy.Subject{UID: alice, GID: alice, Groups: []policy.GID{team}}
	asBob   = policy.Subject{UID: bob, GID: bob}
	install = action.InstallID{1}
	noon    = time.Date(2026, 12, 1, 12, 0, 0, 300e6, time.UTC)
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a folder with commands, users and a policy. All may enter it.
type world struct {
	t         testing.TB
	dir       string
	policy    *policy.Policy
	opener    *spawn.Opener
	m         *prepare.Maker
	discarded []string
}

// newWorld needs root: it is the broker for several users.
func newWorld(t testing.TB, rules ...string) *world {
	t.Helper()
	testneed.Root(t)
	return worldIn(t, 0, rules...)
}

// worldIn makes a world; rules have DIR for its folder. owner above 0 is --user mode.
func worldIn(t testing.TB, owner policy.UID, rules ...string) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "prepare-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	w := &world{t: t, dir: dir, opener: spawn.NewOpener(int(owner))}
	for _, name := range []string{"bin", "home"} {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	w.copy("/bin/true", "bin/tool")
	w.copy("/bin/true", "bin/interpreter")
	w.write("bin/script", "#!"+w.path("bin/interpreter")+" -x\n", 0o755)
	if owner == 0 {
		w.home("alice", alice)
		w.home("bob", bob)
	}
	w.load(owner, rules...)
	w.m = prepare.New(prepare.Options{
		Policy: func() *policy.Policy { return w.policy }, Opener: w.opener, Install: install,
		UserMode: owner != 0, Owner: owner,
		Discard: func(_ action.UID, f *os.File) { w.discarded = append(w.discarded, f.Name()); f.Close() },
	})
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) home(name string, uid int) {
	w.t.Helper()
	home := w.path("home/" + name)
	must(w.t, os.Mkdir(home, 0o700))
	must(w.t, os.Chown(home, uid, uid))
}

func (w *world) write(name, content string, mode os.FileMode) string {
	w.t.Helper()
	must(w.t, os.WriteFile(w.path(name), []byte(content), 0o600))
	must(w.t, os.Chmod(w.path(name), mode))
	return w.path(name)
}

// give makes a file of somebody's.
func (w *world) give(name string, uid, gid int, mode os.FileMode) string {
	w.t.Helper()
	p := w.write(name, "content of "+name, mode)
	must(w.t, os.Chown(p, uid, gid))
	return p
}

func (w *world) copy(from, name string) {
	w.t.Helper()
	data, err := os.ReadFile(from)
	must(w.t, err)
	w.write(name, string(data), 0o755)
}

// load replaces the policy.
func (w *world) load(owner policy.UID, rules ...string) {
	w.t.Helper()
	host, err := policy.System(owner)
	must(w.t, err)
	host.Accounts = policy.FromDB(accounts.Parse(
		fmt.Sprintf("root:x:0:0::/root:/bin/sh\nalice:x:%d:%d::/home/alice:\nservice:x:%d:%d::/srv/service:\n", alice, alice, service, service),
		fmt.Sprintf("root:x:0:\nalice:x:%d:\nservice:x:%d:\nweb:x:%d:service\nlogs:x:%d:other,service\n", alice, service, web, logs),
	))
	text := strings.ReplaceAll(strings.Join(rules, "\n"), "DIR", w.dir)
	w.policy, err = policy.Parse([]policy.File{{Path: "test.toml", Text: text}}, host, policy.Options{UserMode: owner != 0, Owner: owner})
	must(w.t, err)
}

// rule is a rule that asks, about DIR/bin/tool and for alice, unless lines say
// otherwise.
func rule(id string, lines ...string) string {
	all := []string{"[[rule]]", fmt.Sprintf("id = %q", id)}
	for name, value := range map[string]string{
		"decision": `"ask"`, "command": `"DIR/bin/tool"`, "from": fmt.Sprintf(`["uid:%d"]`, alice), "approve": fmt.Sprintf(`{from = ["uid:%d"]}`, bob),
	} {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, name+" ") }) &&
			(name != "approve" || !slices.Contains(lines, `decision = "allow"`)) {
			all = append(all, name+" = "+value)
		}
	}
	return strings.Join(append(all, lines...), "\n") + "\n"
}

func (w *world) tool(words ...string) []string { return append([]string{w.path("bin/tool")}, words...) }

// make prepares what must succeed.
func (w *world) make(a prepare.Ask) *prepare.Prepared {
	w.t.Helper()
	p, err := w.try(a)
	must(w.t, err)
	w.t.Cleanup(p.Close)
	return p
}

// try asks as alice unless the ask says who.
func (w *world) try(a prepare.Ask) (*prepare.Prepared, error) {
	if a.From.UID == 0 {
		a.From = asAlice
	}
	return w.m.Make(context.Background(), a, w.m.Judge(a), noon)
}

// refused wants a refusal.
func (w *world) refused(a prepare.Ask, reason action.Reason, why string) *prepare.Refusal {
	w.t.Helper()
	p, err := w.try(a)
	var no *prepare.Refusal
	if !errors.As(err, &no) {
		if p != nil {
			p.Close()
		}
		w.t.Errorf("%.300v: want %v, got %v", a, reason, err)
		return &prepare.Refusal{}
	}
	if no.Reason != reason || !strings.Contains(no.Why, why) || p != nil {
		w.t.Errorf("%.300v: want %v with %q, got %v", a, reason, why, no)
	}
	return no
}

// holds wants it to hold.
func (w *world) holds(s *action.Sealed) {
	w.t.Helper()
	if c, ok := w.m.StillHolds(context.Background(), s); !ok || c != (prepare.Change{}) {
		w.t.Errorf("does not hold: %v %s", c.Reason, c.Detail)
	}
}

// stale wants it not to hold.
func (w *world) stale(s *action.Sealed, reason action.Reason, detail string) prepare.Change {
	w.t.Helper()
	c, ok := w.m.StillHolds(context.Background(), s)
	if ok || c.Reason != reason || !strings.Contains(c.Detail, detail) || c.NewDigest == s.Digest() {
		w.t.Errorf("want %v with %q, got %v, %v: %s", reason, detail, ok, c.Reason, c.Detail)
	}
	return c
}
