package approval_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snens/approval"
	"snens/approval/queue"
	"snens/broker/action"
	"snens/internal/peer"
	"snens/internal/testneed"
)

// Whoever asked does not approve, whichever uid of his he comes as; the rule
// lists them all.
func TestNobodyApprovesHimself(t *testing.T) {
	w := newWorld(t)
	s, _ := w.pending("a")
	for name, c := range map[string]*client{
		"the same uid":          w.as(asker),
		"by the group":          w.as(asker, ops),
		"another uid of his":    w.as(twin),
		"that and by the group": w.as(twin, ops),
	} {
		if got := code(c.ask("answer", yes(s))); got != "self_approval" {
			t.Errorf("%s: %s", name, got)
		}
		if got := code(c.ask("answer", yes(s, `"approver":"root"`))); got != "bad_request" {
			t.Errorf("%s, with a name: %s", name, got)
		}
	}
	if ids, _ := w.as(ann).list(`{}`); len(ids) != 1 || w.ran.Load() != 0 {
		t.Errorf("%q wait, %d ran", ids, w.ran.Load())
	}
	says(t, w.as(ann).ask("answer", yes(s)), `{"state":"approved"}`)
	if got := kinds(w.records(), s.ID); strings.Count(got, "vote_refused") != 4 {
		t.Errorf("recorded %s", got)
	}
}

// handle serves one connection of a peer whom the test makes up.
func (w *world) handle(p *peer.Peer) *client {
	w.t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(w.t, err)
	ends := [2]*net.UnixConn{}
	for i, fd := range pair {
		f := os.NewFile(uintptr(fd), "pair")
		c, err := net.FileConn(f)
		must(w.t, err)
		f.Close()
		ends[i] = c.(*net.UnixConn)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.s.Handle(context.Background(), ends[0], p)
		ends[0].Close()
	}()
	w.t.Cleanup(func() { <-done })
	return greet(w.t, ends[1])
}

// Who became another user since he logged in is still himself.
func TestAnEqualLoginDoesNotApprove(t *testing.T) {
	w := newWorld(t)
	login := func(s *queue.Submission) {
		s.Peer.Login, s.Seen.Login = action.Login{UID: stranger, Set: true}, action.Login{UID: stranger, Set: true}
	}
	s, _ := w.pending("a", login)
	for _, c := range []struct {
		login peer.UID
		want  string
	}{{stranger, "self_approval"}, {asker, "self_approval"}, {twin, "self_approval"}, {bob, "approved"}} {
		p := &peer.Peer{UID: ann, GID: ann, Groups: []peer.GID{ann}, Seen: peer.Seen{LoginUID: c.login, HasLogin: true}}
		got := w.handle(p)
		if got := code(got.ask("answer", yes(s))); got != c.want {
			t.Errorf("login uid %d: %s, want %s", c.login, got, c.want)
		}
		got.Close()
	}
}

// The same with the login uid of a process, which the kernel keeps.
func TestALoginOfAProcessDoesNotApprove(t *testing.T) {
	python, sh := testneed.Program(t, "python3"), testneed.Program(t, "sh")
	w := newWorld(t)
	_, err := os.Stat("/proc/self/loginuid")
	testneed.Kernel(t, err == nil, "login uids (CONFIG_AUDIT)")
	s, _ := w.pending("a")
	script := fmt.Sprintf(`
import os, socket
os.setgroups([%d]); os.setresgid(%d, %[2]d, %[2]d); os.setresuid(%[2]d, %[2]d, %[2]d)
s = socket.socket(socket.AF_UNIX)
s.connect(%[3]q)
s.sendall(b'{"hello":{"version":1,"capabilities":[]}}\n{"id":1,"method":"answer","params":%[4]s}\n')
f = s.makefile()
f.readline()
print(f.readline(), end='')
`, ops, carl, w.path, yes(s))
	cmd := exec.Command(sh, "-c", `echo "$1" >/proc/self/loginuid && exec "$0" -c "$2"`, python, fmt.Sprint(asker), script)
	cmd.Dir = "/"
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"code":"self_approval"`) {
		t.Errorf("told %s, %v", out, err)
	}
}

// Root is no approver where he is not listed. He says no, though.
func TestRootDoesNotApproveUnlisted(t *testing.T) {
	w := newWorld(t)
	s, ticket := w.pending("a")
	c := w.as(0)
	if got := code(c.ask("answer", yes(s))); got != "not_approver" {
		t.Errorf("told %s", got)
	}
	says(t, c.ask("answer", no(s)), `{"state":"denied"}`)
	<-ticket.Done()
}

// A peer that belongs to a running action is refused before it has said a word.
func TestAnActionCannotAnswer(t *testing.T) {
	w := newWorld(t, func(_ *world, o *approval.Options) {
		o.InAction = func(p *peer.Peer) bool { return p.UID == ann }
	})
	w.pending("a")
	text, err := io.ReadAll(connectAs(t, w.path, ann))
	if want := `{"id":null,"error":{"code":"denied","message":"this is not allowed"}}` + "\n"; err != nil || string(text) != want {
		t.Errorf("told %q, %v", text, err)
	}
	if n := counted(w.records(), ann, action.ReasonDenied); n != 1 {
		t.Errorf("counted %d", n)
	}
}

// To an approver of something else a request of others is not there: he gets the
// answer of one that never was, byte for byte, and soon none.
func TestOthersFindNothing(t *testing.T) {
	w := newWorld(t)
	s, _ := w.pending("a")
	c := w.as(bob)
	c.watch()
	w.pending("b")
	if ids, last := c.list(`{}`); len(ids) != 0 || said(last) != `{"count":0,"total":0}` {
		t.Errorf("listed %q, %s", ids, said(last))
	}
	for _, method := range []string{"show", "kill", "answer"} {
		there, never := about(s.ID), about(queue.NewID())
		if method == "answer" {
			there, never = yes(s), strings.ReplaceAll(yes(s), s.ID.String(), queue.NewID().String())
		}
		a, b := said(c.ask(method, there)), said(c.ask(method, never))
		if a != b || a != "not_found: there is no such request" {
			t.Errorf("%s: told %s and %s", method, a, b)
		}
	}
	busy, found := 0, 0
	for range 2000 {
		switch got := code(c.ask("show", about(queue.NewID()))); got {
		case "busy":
			busy++
		case "not_found":
			found++
		default:
			t.Fatalf("told %s", got)
		}
	}
	if found > 100 || busy < 1900 {
		t.Errorf("%d guesses were looked up", found)
	}
	if got := kinds(w.records(), s.ID); strings.Contains(got, "vote") {
		t.Errorf("recorded %s", got)
	}
}

// Whoever approves nothing hears the same bytes to everything.
func TestAStrangerLearnsNothing(t *testing.T) {
	w := newWorld(t)
	s, _ := w.pending("a")
	var send []string
	for _, c := range []string{
		`"list"`, `"list","params":{"limit":1}`, `"list","params":{"x":1}`, `"show","params":` + about(s.ID), `"show","params":` + about(queue.NewID()),
		`"show"`, `"answer","params":` + yes(s), `"answer","params":` + no(s), `"answer","params":{}`, `"answer","params":` + yes(s, `"approver":"root"`),
		`"kill","params":` + about(s.ID), `"watch"`, `"watch","params":{"x":1}`, `"status"`, `"run"`, `"grants"`, `"no_such_method"`,
	} {
		send = append(send, `{"id":1,"method":`+c+`}`)
	}
	uc := connectAs(t, w.path, stranger)
	defer uc.Close()
	r := bufio.NewReader(uc)
	for i, line := range append([]string{`{"hello":{"version":1,"capabilities":[]}}`}, send...) {
		_, err := uc.Write([]byte(line + "\n"))
		must(t, err)
		got, err := r.ReadString('\n')
		must(t, err)
		if want := `{"id":1,"error":{"code":"denied","message":"this is not allowed"}}` + "\n"; i > 0 && got != want {
			t.Errorf("%s\ntold %s", line, got)
		}
	}
	if n := w.watches.Load(); n != 0 {
		t.Errorf("%d watches", n)
	}
	all := w.records()
	if n := counted(all, stranger, action.ReasonDenied); n != uint64(len(send)) {
		t.Errorf("counted %d of %d", n, len(send))
	}
	if got := kinds(all, s.ID); strings.Contains(got, "vote") {
		t.Errorf("recorded %s", got)
	}
}

func TestNewDemandsItsParts(t *testing.T) {
	if _, err := approval.New(approval.Options{}); err == nil || !strings.HasPrefix(err.Error(), "cannot serve approvers: ") {
		t.Errorf("%v", err)
	}
}
