package policy_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"snens/broker/policy"
)

func system(t *testing.T) policy.Host {
	t.Helper()
	h, err := policy.System(policy.UID(os.Geteuid()))
	must(t, err)
	return h
}

func TestSystemAccounts(t *testing.T) {
	h := system(t)
	a, err := h.Accounts.User("root")
	if err != nil || a.UID != 0 || a.GID != 0 || !slices.Contains(a.Groups, 0) || a.Home == "" {
		t.Errorf("root: %+v, %v", a, err)
	}
	if b, err := h.Accounts.UserID(0); err != nil || b.UID != 0 {
		t.Errorf("the uid 0: %+v, %v", b, err)
	}
	if gid, err := h.Accounts.Group("root"); err != nil || gid != 0 || !slices.Contains(h.Accounts.Members(0), 0) {
		t.Errorf("the group root: %d, %v", gid, err)
	}
	// What is not there is nobody, never root.
	if a, err := h.Accounts.User("no such user"); err == nil || a.UID != policy.NoID || a.GID != policy.NoID {
		t.Errorf("nobody: %+v, %v", a, err)
	}
	if a, err := h.Accounts.UserID(policy.NoID); err == nil || a.UID != policy.NoID {
		t.Errorf("the uid -1: %+v, %v", a, err)
	}
	if gid, err := h.Accounts.Group("no such group"); err == nil || gid != policy.NoID {
		t.Errorf("no group: %d, %v", gid, err)
	}
}

func TestSystemFiles(t *testing.T) {
	f := system(t).Files
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	must(t, os.WriteFile(script, nil, 0o755))
	must(t, os.Symlink("script", filepath.Join(dir, "link")))
	must(t, os.Link(script, filepath.Join(dir, "hard")))
	must(t, os.WriteFile(filepath.Join(dir, "plain"), nil, 0o644))
	real, err := filepath.EvalSymlinks(script)
	must(t, err)
	a, err := f.File(script)
	if err != nil || !a.Executable || a.Real != real {
		t.Errorf("a script: %+v, %v", a, err)
	}
	for _, name := range []string{"link", "hard"} {
		if b, err := f.File(filepath.Join(dir, name)); err != nil || b.ID != a.ID {
			t.Errorf("%s: %+v, %v", name, b, err)
		}
	}
	if b, err := f.File(filepath.Join(dir, "plain")); err != nil || b.Executable || b.ID == a.ID {
		t.Errorf("a plain file: %+v, %v", b, err)
	}
	if b, err := f.File(dir); err != nil || b.Executable {
		t.Errorf("a folder: %+v, %v", b, err)
	}
	if _, err := f.File(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if err := f.Trusted(script); err != nil {
		t.Error(err)
	}
	must(t, os.Chmod(script, 0o777))
	if err := f.Trusted(script); err == nil {
		t.Error("a script that all may write is trusted")
	}
	if err := f.Trusted(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// A path never leads out of its folder, whatever lies there.
func TestSystemBeneath(t *testing.T) {
	f := system(t).Files
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	must(t, os.MkdirAll(filepath.Join(in, "a", "b"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "secret"), nil, 0o644))
	must(t, os.WriteFile(filepath.Join(in, "a", "file"), nil, 0o644))
	must(t, os.Symlink(filepath.Join(dir, "secret"), filepath.Join(in, "out")))
	must(t, os.Symlink("a", filepath.Join(in, "within")))
	must(t, os.Symlink("..", filepath.Join(in, "up")))
	must(t, os.Symlink("/proc/self/root", filepath.Join(in, "magic")))
	must(t, os.Symlink("/nonexistent", filepath.Join(in, "dangling")))
	for _, p := range []string{"a", "a/file", "a/b", "a/new", "new", "a/b/new"} {
		if err := f.Beneath(in, filepath.Join(in, p)); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
	for _, p := range []string{"out", "within/file", "up/secret", "up", "magic/etc/passwd", "dangling", "none/new", "a/file/x", "../secret", "a/../../secret"} {
		if err := f.Beneath(in, in+"/"+p); err == nil {
			t.Errorf("%s is beneath", p)
		}
	}
	for _, p := range []string{in, in + "x/y", dir, "/", "", "a"} {
		if err := f.Beneath(in, p); err == nil {
			t.Errorf("%q is beneath", p)
		}
	}
	if err := f.Beneath(filepath.Join(in, "none"), filepath.Join(in, "none", "x")); err == nil {
		t.Error("a missing folder holds something")
	}
	if err := f.Beneath("/", "/etc"); err != nil {
		t.Error(err)
	}
}

// A policy on the real machine, from files to judgement.
func TestOnThisMachine(t *testing.T) {
	tr := newTree(t, "")
	name := "uid:" + policy.UID(os.Geteuid()).String()
	must(t, os.WriteFile(tr.main, []byte(rule("r", "allow", "command = '/usr/bin/true'", "from = ['"+name+"']", `args = [{slot = "p", kind = "path", beneath = "/usr"}]`)), 0o644))
	p, err := policy.LoadSystem(tr.main, tr.dir, policy.Options{Owner: policy.UID(os.Geteuid())})
	must(t, err)
	me := policy.Subject{UID: policy.UID(os.Geteuid())}
	for arg, want := range map[string]policy.Decision{
		"/usr/share": policy.Allow, "/usr/bin/nothing-of-that-name": policy.Allow, "/usr/none/x": policy.Deny, "/etc/passwd": policy.Deny, "/usr/../etc/passwd": policy.Deny,
	} {
		if j := p.Judge(request(me, "true", arg)); j.Decision != want {
			t.Errorf("true %s: %v: %s", arg, j.Decision, j.Detail)
		}
	}
}

// What the daemon links through this package.
func TestLinksNoNetwork(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	must(t, err)
	for _, pkg := range strings.Fields(string(out)) {
		switch {
		case pkg == "net", strings.HasPrefix(pkg, "net/"), pkg == "os/exec", pkg == "os/user", pkg == "crypto/tls":
			t.Errorf("links %s", pkg)
		case strings.Contains(strings.SplitN(pkg, "/", 2)[0], ".") && !strings.HasPrefix(pkg, "golang.org/x/sys/") && !strings.HasPrefix(pkg, "github.com/BurntSushi/toml"):
			t.Errorf("links %s", pkg)
		}
	}
}
