package policy_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"snens/broker/policy"
	"snens/internal/testneed"
)

// tree is /etc/snens in a folder of the test's.
type tree struct{ main, dir string }

func newTree(t *testing.T, text string) tree {
	t.Helper()
	root := t.TempDir()
	tr := tree{filepath.Join(root, "priv.toml"), filepath.Join(root, "priv.d")}
	must(t, os.WriteFile(tr.main, []byte(text), 0o644))
	must(t, os.Mkdir(tr.dir, 0o755))
	return tr
}

func (tr tree) add(t *testing.T, name, text string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(tr.dir, name), []byte(text), 0o644))
}

func (tr tree) load() (*policy.Policy, error) {
	return policy.Load(tr.main, tr.dir, new(machine).host(), policy.Options{Owner: policy.UID(os.Geteuid())})
}

func TestFilesByTheOrderOfBytes(t *testing.T) {
	tr := newTree(t, rule("main", "allow", `args = ["m"]`))
	for _, name := range []string{"b", "10", "9", "B", "a-b", "a", "é"} {
		tr.add(t, name+".toml", rule("r", "allow", `args = ["`+name+`"]`, "about = '"+name+"'"))
	}
	_, err := tr.load()
	if n := strings.Count(err.Error(), "there is a rule r already"); n != 6 {
		t.Errorf("%d rules of the same id are refused: %v", n, err)
	}
	for i, name := range []string{"b", "10", "9", "B", "a-b", "a", "é"} {
		tr.add(t, name+".toml", rule("r"+string(rune('0'+i)), "allow", `args = ["`+name+`"]`, "about = '"+name+"'"))
	}
	tr.add(t, "README", "not TOML")
	p, err := tr.load()
	must(t, err)
	var order []string
	for _, r := range p.Rules {
		order = append(order, r.About)
	}
	if got := strings.Join(order, " "); got != " 10 9 B a-b a b é" {
		t.Errorf("the rules come in the order %q", got)
	}
	if len(p.Files) != 8 || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "README is passed over") {
		t.Errorf("files %q, notes %q", p.Files, p.Notes)
	}
	if where := p.Rule("main").Where; where != tr.main+":2:1" {
		t.Errorf("the rule is at %s", where)
	}
}

// Each wrong file is an error that names it, and others are still looked at.
func TestWrongFiles(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, path string)
		want string
	}{
		{"w.toml", func(t *testing.T, p string) { must(t, os.Chmod(touch(t, p), 0o666)) }, "is writable by others (mode 0666)"},
		{"g.toml", func(t *testing.T, p string) { must(t, os.Chmod(touch(t, p), 0o664)) }, "is writable by its group"},
		{"link.toml", func(t *testing.T, p string) { must(t, os.Symlink("/dev/null", p)) }, "is a symlink; put the file itself there"},
		{"gone.toml", func(t *testing.T, p string) { must(t, os.Symlink("/nonexistent/x", p)) }, "is a symlink"},
		{"fifo.toml", func(t *testing.T, p string) { must(t, unix.Mkfifo(p, 0o644)) }, "is a FIFO, not a regular file"},
		{"dir.toml", func(t *testing.T, p string) { must(t, os.Mkdir(p, 0o755)) }, "is a folder, not a regular file"},
		{"x.toml.rpmnew", func(t *testing.T, p string) { touch(t, p) }, "left behind; merge it into the file it belongs to and remove it"},
		{"x.toml.dpkg-dist", func(t *testing.T, p string) { touch(t, p) }, "left behind"},
		{"x.toml~", func(t *testing.T, p string) { touch(t, p) }, "left behind"},
		{".x.toml.swp", func(t *testing.T, p string) { touch(t, p) }, "left behind"},
		{".#x.toml", func(t *testing.T, p string) { touch(t, p) }, "left behind"},
		{".hidden.toml", func(t *testing.T, p string) { touch(t, p) }, "left behind"},
		{"broken.toml", func(t *testing.T, p string) { must(t, os.WriteFile(p, []byte("[[rule"), 0o644)) }, "broken.toml:1:"},
		{"big.toml", func(t *testing.T, p string) {
			must(t, os.WriteFile(p, []byte("#"+strings.Repeat("x", 1<<20)), 0o644))
		}, "too big"},
	} {
		tr := newTree(t, "x = 1\n")
		c.make(t, filepath.Join(tr.dir, c.name))
		_, err := tr.load()
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.name) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
			continue
		}
		if !strings.Contains(err.Error(), "priv.toml:1:1: unknown key x") {
			t.Errorf("%s hides the fault of another file: %v", c.name, err)
		}
	}
}

func touch(t *testing.T, path string) string {
	t.Helper()
	must(t, os.WriteFile(path, nil, 0o644))
	return path
}

func TestWrongPlaces(t *testing.T) {
	tr := newTree(t, "")
	must(t, os.Chmod(tr.dir, 0o777))
	if _, err := tr.load(); err == nil || !strings.Contains(err.Error(), "priv.d: cannot trust") {
		t.Errorf("a folder open to all: %v", err)
	}
	must(t, os.Chmod(tr.dir, 0o755))
	must(t, os.Chmod(filepath.Dir(tr.main), 0o777))
	if _, err := tr.load(); err == nil || !strings.Contains(err.Error(), "cannot trust") {
		t.Errorf("a parent open to all: %v", err)
	}
	must(t, os.Chmod(filepath.Dir(tr.main), 0o755))
	must(t, os.RemoveAll(tr.dir))
	if p, err := tr.load(); err != nil || len(p.Rules) != 0 {
		t.Errorf("without the folder: %v", err)
	}
	must(t, os.Remove(tr.main))
	if _, err := tr.load(); err == nil || !strings.Contains(err.Error(), "does not exist; a policy that allows nothing is an empty file") {
		t.Errorf("without the file: %v", err)
	}
	must(t, os.Symlink("/dev/null", tr.main))
	if _, err := tr.load(); err == nil || !strings.Contains(err.Error(), "is a symlink") {
		t.Errorf("the file is a symlink: %v", err)
	}
}

// Root trusts nobody else's policy.
func TestSomebodyElsesPolicy(t *testing.T) {
	testneed.Root(t)
	tr := newTree(t, "")
	must(t, os.Chown(tr.main, 1234, 1234))
	if _, err := tr.load(); err == nil || !strings.Contains(err.Error(), "belongs to uid 1234, not to root") {
		t.Errorf("got %v", err)
	}
	if _, err := policy.Load(tr.main, tr.dir, new(machine).host(), policy.Options{Owner: 1234}); err != nil {
		t.Errorf("for the uid itself: %v", err)
	}
}

// The last good policy stays in force, and the error is there to be told.
func TestHolder(t *testing.T) {
	tr := newTree(t, "nonsense")
	if h, err := policy.NewHolder(tr.load); err == nil || h != nil {
		t.Fatal("a first policy that is broken is taken")
	}
	must(t, os.WriteFile(tr.main, []byte(rule("one", "allow")), 0o644))
	h, err := policy.NewHolder(tr.load)
	must(t, err)
	first := h.Current()
	tr.add(t, "x.toml", rule("one", "allow"))
	err = h.Reload()
	if s := h.Status(); err == nil || h.Current() != first || s.Policy != first || s.Generation != 1 || !errors.Is(s.Err, err) {
		t.Errorf("after a broken reload: %v, %+v", err, h.Status())
	}
	tr.add(t, "x.toml", rule("two", "allow", `args = ["x"]`))
	must(t, h.Reload())
	if s := h.Status(); h.Current() == first || s.Generation != 2 || s.Err != nil || len(s.Policy.Rules) != 2 || len(first.Rules) != 1 {
		t.Errorf("after a good reload: %+v", s)
	}
	var done sync.WaitGroup
	for i := range 4 {
		done.Go(func() {
			for range 20 {
				if i%2 == 0 {
					_ = h.Reload()
				} else if j := h.Current().Judge(request(deploy, "systemctl")); j.Rule == nil || j.Rule.ID != "one" {
					t.Errorf("judged %+v", j)
				}
			}
		})
	}
	done.Wait()
	if g := h.Status().Generation; g != 42 {
		t.Errorf("generation %d after 40 more reloads", g)
	}
}

func TestUserMode(t *testing.T) {
	opt := policy.Options{UserMode: true, Owner: 1002}
	parse := func(text string) (*policy.Policy, error) {
		return policy.Parse([]policy.File{{Path: "p", Text: text}}, new(machine).host(), opt)
	}
	p, err := parse(rule("r", "ask", "from = ['user:ann']", "approve.from = ['user:ann']"))
	must(t, err)
	r := p.Rule("r")
	if !p.UserMode || r.RunAs.UID != 1002 || r.RunAs.User != "ann" || r.Approve.Presence != policy.PresenceTTY {
		t.Errorf("%+v", r)
	}
	if len(p.Findings()) != 0 {
		t.Errorf("one's own approval is what this mode is for: %v", p.Findings())
	}
	for text, want := range map[string]string{
		with("run_as = {user = 'root'}"):                            "in --user mode actions run as the uid 1002 alone",
		with("run_as = {group = 'www'}"):                            "must be one of the user's own",
		with("approve = {from = ['group:ops'], presence = 'peer'}"): `"peer" is not known; write one of tty`,
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := parse(with("run_as = {group = 'ops'}")); err != nil {
		t.Error(err)
	}
}
