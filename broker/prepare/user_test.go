package prepare_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"snens/broker/action"
	"snens/broker/policy"
	"snens/broker/prepare"
	"snens/internal/testneed"
)

// asked is set where the test binary runs again as a user.
const asked = "PREPARE_TEST_USER"

// Without root everything is done as the owner, with the groups he really has.
func TestRunsAsTheOwnerInUserMode(t *testing.T) {
	if os.Getenv(asked) != "" {
		userMode(t)
		return
	}
	testneed.Root(t)
	tmp, err := os.MkdirTemp("", "prepare-user-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(tmp) })
	must(t, os.Chown(tmp, alice, alice))
	data, err := os.ReadFile("/proc/self/exe")
	must(t, err)
	self := filepath.Join(tmp, "self")
	must(t, os.WriteFile(self, data, 0o600))
	must(t, os.Chmod(self, 0o755))
	c := exec.Command(self, "-test.run=^TestRunsAsTheOwnerInUserMode$", "-test.v")
	c.Dir = "/"
	c.Env = []string{asked + "=1", "TMPDIR=" + tmp, "PATH=" + os.Getenv("PATH")}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: alice, Gid: alice, Groups: []uint32{logs, team}}}
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestRunsAsTheOwnerInUserMode") {
		t.Errorf("as uid %d: %v\n%s", alice, err, out)
	}
}

func userMode(t *testing.T) {
	owner := policy.UID(os.Geteuid())
	w := worldIn(t, owner,
		rule("read", reads, `approve = {from = ["uid:`+strconv.Itoa(alice)+`"]}`, `cwd = "requester"`))
	file := w.write("home/file", "mine", 0o600)
	a := prepare.Ask{From: policy.Subject{UID: owner, GID: alice}, Argv: w.tool("read", file), Cwd: w.path("home")}
	p := w.make(a)
	want := action.RunAs{UID: alice, User: "alice", GID: alice, Groups: []action.GID{team, logs}}
	if got := p.Request.Request().RunAs; got.UID != want.UID || got.User != want.User || got.GID != want.GID || len(got.Groups) != 2 || got.Groups[0] != team || got.Groups[1] != logs {
		t.Errorf("runs as %+v, want %+v", got, want)
	}
	if len(p.Opened) != 1 {
		t.Error("the file was not opened")
	}
	w.holds(p.Request)
	must(t, os.Symlink("file", w.path("home/link")))
	a.Argv = w.tool("read", w.path("home/link"))
	w.refused(a, action.ReasonBadRequest, "symlink")
	a.Argv, a.Cwd = w.tool("read", file), "/root"
	w.refused(a, action.ReasonBadRequest, "permission denied")
}
