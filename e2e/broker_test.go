package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"snens/internal/testneed"
)

const uidC = 54323 // a stranger

// broker is a snens-priv of a test: uidA asks, uidB approves, root runs.
type broker struct {
	t      testing.TB
	w      *world
	daemon *exec.Cmd
	log    bytes.Buffer
	a, b   *world
}

const askedPolicy = `
[[rule]]
id       = "who-runs-it"
decision = "ask"
command  = "/usr/bin/id"
args     = ["-u"]
from     = ["uid:54321"]
approve  = {from = ["uid:54322"]}
`

// newBroker starts one, with sockets that the groups 54321 and 54322 may use.
func newBroker(t testing.TB) *broker {
	t.Helper()
	testneed.Root(t)
	w := newWorld(t)
	k := &broker{t: t, w: w}
	program := filepath.Join(built.dir, "plain", "snens-priv")
	buildBroker.Do(func() {
		cmd := exec.Command("go", "build", "-o", program, "snens/cmd/snens-priv")
		cmd.Env, cmd.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
		must(t, cmd.Run())
	})
	must(t, os.Mkdir(k.path("run"), 0o755))
	k.daemon = exec.Command(program, "serve", "--config", w.file("priv.toml", askedPolicy, 0o644),
		"--socket", k.path("run/request.sock"), "--socket-group", fmt.Sprint(uidA),
		"--approval-socket", k.path("run/approval.sock"), "--approval-group", fmt.Sprint(uidB),
		"--state-dir", k.path("broker-state"), "--log-dir", k.path("broker-log"))
	k.daemon.Stderr = &k.log
	must(t, k.daemon.Start())
	t.Cleanup(func() {
		_ = k.daemon.Process.Kill()
		_ = k.daemon.Wait()
	})
	eventually(t, "the broker to serve", func() bool {
		_, err := os.Lstat(k.path("run/approval.sock"))
		return err == nil
	})
	k.a, k.b = k.user(uidA), k.user(uidB)
	return k
}

func (k *broker) path(name string) string { return filepath.Join(k.w.root, name) }

// user is the world of a user who knows where the sockets are.
func (k *broker) user(uid int) *world {
	u := k.w.as(uid)
	u.t.Helper()
	k.w.file(fmt.Sprintf("home-%d/config/snens/snens.toml", uid), fmt.Sprintf("[priv]\nsocket = %q\napproval_socket = %q\n",
		k.path("run/request.sock"), k.path("run/approval.sock")), 0o644)
	return u
}

// in is the same user with further groups.
func in(w *world, groups ...uint32) *world {
	other := *w
	cred := *w.cred
	cred.Groups = groups
	other.cred = &cred
	return &other
}

// waiting is the one request that the approver sees.
func (k *broker) waiting() (id, digest string) {
	k.t.Helper()
	var list []struct{ ID, Digest string }
	eventually(k.t, "the request to wait", func() bool {
		r := k.b.run("approve", "list", "--json")
		if r.status != 0 {
			k.t.Fatalf("%+v", r)
		}
		must(k.t, json.Unmarshal([]byte(r.stdout), &list))
		return len(list) == 1
	})
	return list[0].ID, list[0].Digest
}

// stop ends the broker in order and verifies its log.
func (k *broker) stop() {
	k.t.Helper()
	must(k.t, k.daemon.Process.Signal(syscall.SIGTERM))
	if err := k.daemon.Wait(); err != nil {
		k.t.Fatalf("the broker ended with %v:\n%s", err, k.log.String())
	}
	if out, err := exec.Command(k.daemon.Path, "audit", "verify", "--log-dir", k.path("broker-log"), "--state-dir", k.path("broker-state")).CombinedOutput(); err != nil {
		k.t.Errorf("the log does not verify: %v\n%s", err, out)
	}
}

// The whole way: a tool asks, somebody else approves, root runs it, once.
func TestAToolAsksAndAPersonApproves(t *testing.T) {
	t.Parallel()
	k := newBroker(t)
	k.w.tool("needs", `snens priv --reason "for the test" who-runs-it; echo "status $?"`)
	for name, gid := range map[string]uint32{"request.sock": uidA, "approval.sock": uidB} {
		var st syscall.Stat_t
		must(t, syscall.Stat(k.path("run/"+name), &st))
		if st.Mode&0o7777 != 0o660 || st.Uid != 0 || st.Gid != gid {
			t.Errorf("%s is %o of %d:%d", name, st.Mode&0o7777, st.Uid, st.Gid)
		}
	}
	call := k.a.command("call", "needs")
	var out, errs bytes.Buffer
	call.Stdout, call.Stderr = &out, &errs
	must(t, call.Start())
	id, digest := k.waiting()
	if r := k.b.run("approve", "yes", id, "--digest", digest[:12]); r.status != 0 {
		t.Fatalf("%+v\n%s", r, k.log.String())
	}
	if err := call.Wait(); err != nil || out.String() != "0\nstatus 0\n" {
		t.Errorf("%v, %q, %q", err, out.String(), errs.String())
	}
	if r := k.b.run("approve", "yes", id, "--digest", digest[:12]); r.status != 1 {
		t.Errorf("a second yes: %+v", r)
	}
	k.stop()
	text, err := filepath.Glob(k.path("broker-log/audit-*.jsonl"))
	must(t, err)
	records, err := os.ReadFile(text[0])
	must(t, err)
	if n := strings.Count(string(records), `"kind":"started"`); n != 1 {
		t.Errorf("it was started %d times:\n%s", n, records)
	}
}

// Who asked does not approve, with the approvers' group and both sockets in his
// tool's environment either. A stranger hears nothing.
func TestNobodyElseApproves(t *testing.T) {
	t.Parallel()
	k := newBroker(t)
	k.w.tool("needs", "snens priv who-runs-it")
	k.w.tool("selfish", `echo "$SNENS_PRIV $SNENS_APPROVAL_SOCK"
snens approve yes "$1" --digest "$2" --socket "$SNENS_APPROVAL_SOCK" || echo "status $?"`)
	call := k.a.command("call", "needs")
	must(t, call.Start())
	id, digest := k.waiting()

	both := k.path("run/request.sock") + " " + k.path("run/approval.sock") + "\n"
	if r := k.a.run("call", "selfish", "--", id, digest); r.stdout != both+"status 69\n" {
		t.Errorf("without the group: %+v", r)
	}
	if r := in(k.a, uidB).run("call", "selfish", "--", id, digest); r.stdout != both+"status 1\n" {
		t.Errorf("with the group: %+v", r)
	}
	c := k.user(uidC)
	for name, who := range map[string]*world{"of no group": c, "of both groups": in(c, uidA, uidB)} {
		for _, args := range [][]string{
			{"priv", "rules"},
			{"priv", "list"},
			{"priv", "who-runs-it"},
			{"priv", "result", id},
			{"priv", "cancel", id},
			{"approve", "list"},
			{"approve", "show", id},
			{"approve", "yes", id, "--digest", digest},
			{"approve", "no", id},
			{"approve", "kill", id},
		} {
			r := who.run(args...)
			if r.status == 0 || r.stdout != "" {
				t.Errorf("a stranger %s, %q: %+v", name, args, r)
			}
			said := strings.NewReplacer(id, "", digest, "", strings.Join(args, " "), "", "who-runs-it", "").Replace(r.stderr)
			if args[1] != "who-runs-it" && strings.Contains(r.stderr, "who-runs-it") || strings.Contains(said, "/usr/bin/id") || strings.Contains(said, fmt.Sprint(uidA)) {
				t.Errorf("a stranger %s, %q learns %q", name, args, r.stderr)
			}
		}
	}
	if again, _ := k.waiting(); again != id {
		t.Errorf("it does not wait any more")
	}
	must(t, call.Process.Signal(os.Interrupt))
	_ = call.Wait()
	k.stop()
}

// Sockets of somebody else in the variables gain him nothing: not a byte.
func TestAFakeBrokerInTheEnvironment(t *testing.T) {
	t.Parallel()
	k := newBroker(t)
	k.w.tool("needs", "snens priv who-runs-it")
	k.w.tool("answers", `snens approve list --socket "$SNENS_APPROVAL_SOCK"`)
	fake := listenAs(t, uidC, filepath.Join(k.w.as(uidC).work, "fake.sock"))
	a := in(k.a, uidB)
	must(t, os.Remove(k.path("home-54321/config/snens/snens.toml")))
	a.setenv("SNENS_PRIV", fake.path)
	a.setenv("SNENS_APPROVAL_SOCK", fake.path)
	for _, args := range [][]string{{"call", "needs"}, {"priv", "who-runs-it"}, {"call", "answers"}, {"approve", "list"}} {
		if r := a.run(args...); r.status != 69 || !strings.Contains(r.stderr, fmt.Sprint(uidC)) {
			t.Errorf("%q: %+v", args, r)
		}
	}
	if got := fake.end(); got != "0" {
		t.Errorf("the fake broker was told %s bytes", got)
	}
	k.stop()
}

// listener is a process of another user that listens, and counts what it reads.
type listener struct {
	path string
	cmd  *exec.Cmd
	out  *bytes.Buffer
	stop func() error
}

func listenAs(t testing.TB, uid uint32, path string) *listener {
	t.Helper()
	self := filepath.Join(t.TempDir(), "e2e.test") // where go test puts it others cannot look
	text, err := os.ReadFile(os.Args[0])
	must(t, err)
	must(t, os.WriteFile(self, text, 0o755))
	for dir := filepath.Dir(self); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		must(t, os.Chmod(dir, 0o755))
	}
	l := &listener{path: path, out: &bytes.Buffer{}, cmd: exec.Command(self, path)}
	l.cmd.Env = append(os.Environ(), roleName+"=listen")
	l.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	l.cmd.Stdout, l.cmd.Stderr = l.out, os.Stderr
	stdin, err := l.cmd.StdinPipe()
	must(t, err)
	l.stop = stdin.Close
	must(t, l.cmd.Start())
	t.Cleanup(func() {
		_ = l.cmd.Process.Kill()
		_ = l.cmd.Wait()
	})
	eventually(t, "the listener", func() bool { _, err := os.Lstat(path); return err == nil })
	return l
}

// end is how many bytes it read.
func (l *listener) end() string {
	_ = l.stop()
	_ = l.cmd.Wait()
	return l.out.String()
}

// listenTo is the listener's process: it reads until its stdin ends.
func listenTo(path string) int {
	l, err := net.Listen("unix", path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_ = os.Chmod(path, 0o777)
	read := make(chan int)
	go func() {
		n := 0
		for {
			c, err := l.Accept()
			if err != nil {
				read <- n
				return
			}
			var buf [512]byte
			got, _ := c.Read(buf[:])
			n += got
			c.Close()
		}
	}()
	_, _ = os.Stdin.Read(make([]byte, 1))
	l.Close()
	fmt.Print(<-read)
	return 0
}
