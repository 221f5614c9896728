package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// stranger runs snens as another uid, from a copy that it can reach.
func stranger(t *testing.T, b *bench, uid uint32) func(args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	opened(t, dir)
	path := filepath.Join(dir, "snens")
	if err := os.WriteFile(path, program, 0o755); err != nil {
		t.Fatal(err)
	}
	return func(args ...string) *exec.Cmd {
		cmd := exec.Command(path, args...)
		cmd.Dir, cmd.Env = "/", b.env
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		return cmd
	}
}

// opened lets others into a folder of a test.
func opened(t *testing.T, dir string) {
	t.Helper()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// One uid asks, another sees it and answers, and whoever asked may not.
func TestApproveWithTheBroker(t *testing.T) {
	b := newBench(t)
	socket := realBroker(t)
	opened(t, filepath.Dir(filepath.Dir(socket)))
	b.env = append(b.env, "SNENS_PRIV="+socket, "SNENS_APPROVAL_SOCK="+filepath.Join(filepath.Dir(socket), "approval.sock"))
	other := stranger(t, b, 65534)
	answer := func(args ...string) (int, string) {
		out, err := other(append([]string{"approve"}, args...)...).CombinedOutput()
		return shellStatus(t, err), string(out)
	}
	if status, out := answer(); status != 0 || !strings.Contains(out, "nothing waits for you\n") {
		t.Errorf("%d %s", status, out)
	}
	for _, c := range []struct {
		word, stdout string
		status       int
	}{{"yes", "0\n", 0}, {"no", "", 77}} {
		cmd := b.snens("priv", "asks", "--reason", "a test")
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var list []struct {
			ID, Digest, Rule string
			Claims           struct{ Reason string }
		}
		eventually(t, "the request waits", func() bool {
			_, out := answer("list", "--json")
			return json.Unmarshal([]byte(out), &list) == nil && len(list) == 1
		})
		if list[0].Rule != "asks" || list[0].Claims.Reason != "a test" {
			t.Errorf("%+v", list)
		}
		short := list[0].Digest[:12]
		if status, out := answer("show", short); status != 0 || !strings.Contains(out, "\nargv[1]: \"-u\"\n") || !strings.Contains(out, "\ndigest "+list[0].Digest+"\n") {
			t.Errorf("show: %d\n%s", status, out)
		}
		if status, _, errs := b.run("", "approve", "yes", list[0].ID, "--digest", short); status != 1 || !strings.Contains(errs, "cannot approve "+short+": ") {
			t.Errorf("its own requester: %d, %s", status, errs)
		}
		if status, out := answer(c.word, list[0].ID, map[string]string{"yes": "--digest=" + short, "no": "--no-color"}[c.word]); status != 0 || !strings.Contains(out, short+": ") {
			t.Errorf("%s: %d, %s", c.word, status, out)
		}
		if status := shellStatus(t, cmd.Wait()); status != c.status || stdout.String() != c.stdout {
			t.Errorf("after %s: %d, %q, %q", c.word, status, stdout.String(), stderr.String())
		}
		if status, out := answer("show", list[0].ID); status != 1 || !strings.Contains(out, "too late") {
			t.Errorf("after %s: show: %d, %s", c.word, status, out)
		}
	}
}
