package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"snens/approval/prompt"
	"snens/internal/fields"
	"snens/internal/strictjson"
)

func (p *process) approver() *client { return p.dial("approval", uidApprover, gidApprove) }

// answer gives an approver's answer to a pending request and returns the state.
func (c *client) answer(pending strictjson.Value, decision string) string {
	c.t.Helper()
	lifespan := ""
	if decision == "approve" {
		lifespan = `,"lifespan":"once"`
	}
	v := c.call("answer", fmt.Sprintf(`{"request":%q,"decision":%q,"digest":%q%s}`, field(pending, "id"), decision, field(pending, "digest"), lifespan))
	return field(v, "state")
}

// seen is a request that waits, with the digest of what the approver is shown.
func (c *client) seen(id string) strictjson.Value {
	c.t.Helper()
	v := c.call("show", fmt.Sprintf(`{"request":%q}`, id))
	o := fields.Of(&v, "answer")
	p := prompt.ReadPending(o.Field("pending").Object())
	must(c.t, o.Close())
	return fields.Object(fields.Member("id", fields.Text(id)), fields.Member("digest", fields.Text(p.Request.Digest().String())))
}

// approveBy runs approveAs in a process of its own, with a terminal or without.
func (p *process) approveBy(terminal bool, env []string, pending strictjson.Value) string {
	p.t.Helper()
	cmd := exec.Command(os.Args[0], p.path("run/approval.sock"), fmt.Sprint(p.cred.Uid), field(pending, "id"), field(pending, "digest"))
	cmd.Env = append([]string{roleName + "=approve", "GORACE=atexit_sleep_ms=0", "PATH=/usr/bin"}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Stderr = os.Stderr
	if terminal {
		cmd.Stdin = openTerminal(p.t)
		cmd.SysProcAttr.Setctty = true
	}
	out, err := cmd.Output()
	must(p.t, err)
	return string(out)
}

// Nothing runs before a person said yes, and then once.
func TestAskedRunsOnce(t *testing.T) {
	p := newRoot(t, policyText)
	p.start()
	asker, approver := p.asker(), p.approver()
	out, pending := asker.begin(`{"argv":["/usr/bin/id","-u"]}`)
	if field(pending, "state") != "pending" {
		t.Fatalf("not asked: %s", pending.JSON())
	}
	approver.send("list", `{}`)
	v, more := approver.next()
	if listed := v.Get("pending"); !more || listed == nil || field(*listed, "id") != field(pending, "id") {
		t.Fatalf("the approver sees %s", v.JSON())
	}
	if v, more = approver.next(); more || field(v, "count") != "1" {
		t.Errorf("and then %s", v.JSON())
	}
	if got := approver.answer(pending, "approve"); got != "approved" {
		t.Fatalf("the answer brought it to %s", got)
	}
	if got := approver.answer(pending, "approve"); !strings.HasPrefix(got, "error ") {
		t.Errorf("a second answer brought it to %s", got)
	}
	v, _ = asker.next()
	if ended(v) != "exited exited" || output(t, out) != "0\n" {
		t.Errorf("it ended %s", v.JSON())
	}
	p.stop()
	if got := p.kinds(field(pending, "id")); got != "received decided pending vote approved spent started exited" &&
		got != "received decided pending vote approved spent started exited vote_refused" &&
		!strings.Contains(got, "vote_refused") {
		t.Errorf("records: %s", got)
	}
	if n := strings.Count(p.kinds(field(pending, "id")), "started"); n != 1 {
		t.Errorf("it ran %d times", n)
	}
}

func TestPeopleDeny(t *testing.T) {
	p := newRoot(t, policyText)
	p.start()
	asker, approver := p.asker(), p.approver()
	out, pending := asker.begin(`{"rule":"whoami"}`)
	if got := approver.answer(pending, "deny"); got != "denied" {
		t.Fatalf("the answer brought it to %s", got)
	}
	if v, _ := asker.next(); ended(v) != "denied approver_denied" || output(t, out) != "" {
		t.Errorf("it ended %s", v.JSON())
	}
	if got := asker.code("run", `{"rule":"whoami"}`); got != "cooling_down" {
		t.Errorf("the same again: %s", got)
	}
	p.stop()
}

// Whoever may not approve learns nothing of what waits, and the asker is no
// approver of his own request.
func TestOnlyApproversAnswer(t *testing.T) {
	p := newRoot(t, policyText)
	p.start()
	_, pending := p.asker().begin(`{"rule":"whoami"}`)
	for _, uid := range []int{uidStranger, uidAsker} {
		c := p.dial("approval", uid, gidApprove)
		for _, m := range []string{"list", "watch", "no_such_method"} {
			if got := c.code(m, `{}`); got != "denied" {
				t.Errorf("uid %d, %s: %s", uid, m, got)
			}
		}
		if got := c.answer(pending, "approve"); got != "error denied" {
			t.Errorf("uid %d brought it to %s", uid, got)
		}
	}
	if got := p.kinds(field(pending, "id")); strings.Contains(got, "approved") {
		t.Errorf("records: %s", got)
	}
	p.stop()
}

// What was detached is asked again after a crash and runs then; what somebody
// waited for does not.
func TestCrashAsksAgain(t *testing.T) {
	p := newRoot(t, policyText)
	p.start()
	_, pending := p.asker().begin(`{"rule":"whoami"}`)
	_, kept := p.asker().begin(`{"rule":"later","detach":true}`)
	p.kill()
	p.start()
	if got := p.approver().answer(pending, "approve"); !strings.HasPrefix(got, "error ") {
		t.Errorf("what was given up is %s after the answer", got)
	}
	approver := p.approver() // nobody told the requester who left a digest
	if got := approver.answer(approver.seen(field(kept, "id")), "approve"); got != "approved" {
		t.Errorf("what was detached is %s after the answer", got)
	}
	p.asker().awaits(field(kept, "id"), "exited")
	p.stop()
	if got := p.kinds(field(kept, "id")); got != "received decided pending pending vote approved spent started exited" {
		t.Errorf("records: %s", got)
	}
}

// A terminal of its own is what an approver of one user's broker shows.
func TestUserModeApproval(t *testing.T) {
	p := newUser(t)
	p.start()
	asker := p.dial("request", uidUser, uidUser)
	out, pending := asker.begin(`{"rule":"whoami"}`)
	for _, c := range []struct {
		terminal bool
		env      []string
		want     string
	}{
		{false, nil, "presence_missing\n"},
		{true, []string{"SNENS_CALL_ID=c1"}, "presence_missing\n"},
		{true, []string{"A=b", "SNENS_CALL_ID="}, "presence_missing\n"},
		{true, []string{"NOT_SNENS_CALL_ID=c1"}, "approved\n"},
	} {
		if got := p.approveBy(c.terminal, c.env, pending); got != c.want {
			t.Errorf("terminal %v, %v: %q, want %q", c.terminal, c.env, got, c.want)
		}
	}
	if v, _ := asker.next(); ended(v) != "exited exited" || output(t, out) != "65534\n" {
		t.Errorf("it ended %s", v.JSON())
	}
	p.stop()
}
