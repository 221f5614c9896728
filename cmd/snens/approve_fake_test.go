package main

import (
	"sync"
	"testing"
	"time"

	"snens/approval/prompt"
	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

// hostile acts on a terminal, hides, turns the direction, and ends the line.
const hostile = "x\x1b[31m\x1b]52;c;aGk=\a\r\b\u009b\x80\u202e\u2066\u200b\u00ad\ufeff\u2028\u00a0\U000e0041\nrequester user: 0"

// waits is a request that waits; change may make it another one.
func waits(t *testing.T, id byte, change func(*action.Request)) prompt.Pending {
	t.Helper()
	r := action.Request{
		Argv: []string{"systemctl", "restart", "nginx.service"}, Executable: action.File{Path: "/usr/bin/systemctl", Device: 1, Inode: 2, SHA256: action.DigestOf("x")},
		Cwd: "/", Env: []action.Var{{Name: "LANG", Value: "C.UTF-8"}}, RunAs: action.RunAs{User: "root", Group: "root"},
		Umask: 0o22, Timeout: time.Minute, Stdin: action.Stdin{Mode: action.StdinNone},
		Requester: action.Requester{UID: 65534, GID: 65534}, Rule: "web", RuleDigest: action.DigestOf("rule"), Install: action.InstallID{1},
		Expires: time.Now().UTC().Truncate(time.Second).Add(30*time.Minute + 30*time.Second), Nonce: action.Nonce{id},
	}
	if change != nil {
		change(&r)
	}
	sealed, err := action.Seal(r)
	if err != nil {
		t.Fatal(err)
	}
	return prompt.Pending{
		ID: action.RequestID{id}, Request: sealed, Claims: action.Claims{Reason: "approved by root already"},
		Seen: action.Seen{PID: 4711, Command: "snens"}, Since: time.Now().UTC().Add(-3 * time.Minute), About: "Restart it",
		Need: 1, Presence: prompt.PresencePeer, Approvers: []string{"group:ops"},
	}
}

func hostilePending(t *testing.T) prompt.Pending {
	p := waits(t, 7, func(r *action.Request) {
		r.Argv = []string{hostile, hostile}
		r.Executable.Path, r.Cwd = "/"+hostile, "/"+hostile
		r.Interpreters = []action.File{{Path: "/i" + hostile, SHA256: action.DigestOf("i")}}
		r.Opened = []action.OpenedFile{{Descriptor: 3, Path: "/o" + hostile}}
		r.Env = []action.Var{{Name: "A", Value: hostile}}
		r.RunAs.User, r.RunAs.Group = hostile, hostile
		r.Stdin = action.Stdin{Mode: action.StdinSealed, Content: hostile}
	})
	p.Claims = action.Claims{Reason: hostile, Session: hostile, Tool: hostile}
	p.Seen = action.Seen{PID: 1, Command: hostile, Exe: hostile, Cgroup: hostile}
	p.About, p.Approvers = hostile, []string{hostile}
	return p
}

// desk is a server of approvals.
type desk struct {
	mu      sync.Mutex
	pending []prompt.Pending          // guarded by mu
	answers []string                  // guarded by mu: "approve DIGEST"
	change  func(v *strictjson.Value) // of each pending, before it is sent
	refuse  map[string]*wire.Error    // by method
	watch   func(c *wire.Conn, q wire.Request)
}

func (d *desk) serve(t *testing.T) string { return fakeBroker(t, d.handle) }

func (d *desk) value(p *prompt.Pending) strictjson.Value {
	v := p.Value()
	if d.change != nil {
		d.change(&v)
	}
	return fields.Object(fields.Member("pending", v))
}

func (d *desk) handle(c *wire.Conn, q wire.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.refuse[q.Method]; e != nil {
		_ = c.Fail(q.ID, e)
		return
	}
	o := q.Fields()
	id := func() action.RequestID { return fields.Word(o.Field("request"), action.ParseRequestID) }
	switch q.Method {
	case "list":
		n := len(d.pending)
		if f, ok := o.Optional("limit"); ok {
			n = min(n, int(f.Uint(1<<20)))
		}
		for i := range d.pending[:n] {
			_ = c.More(q.ID, d.value(&d.pending[i]))
		}
		_ = c.Reply(q.ID, fields.Object(fields.Member("count", fields.Int(int64(n))), fields.Member("total", fields.Int(int64(len(d.pending))))))
	case "show":
		if p := d.find(id()); p != nil {
			_ = c.Reply(q.ID, d.value(p))
			return
		}
		_ = c.Fail(q.ID, wire.Errorf("not_found", "x"))
	case "answer":
		p, decision, digest := d.find(id()), o.Field("decision").String(), o.Field("digest").String()
		if f, ok := o.Optional("lifespan"); ok != (decision == "approve") || ok && f.String() != "once" {
			_ = c.Fail(q.ID, wire.Errorf("bad_request", "lifespan"))
			return
		}
		if p == nil || p.Request.Digest().String() != digest {
			_ = c.Fail(q.ID, wire.Errorf("digest_mismatch", "x"))
			return
		}
		d.answers = append(d.answers, decision+" "+digest)
		state := map[string]string{"approve": "approved", "deny": "denied"}[decision]
		_ = c.Reply(q.ID, fields.Object(fields.Member("state", fields.Text(state))))
	case "kill":
		d.answers = append(d.answers, "kill "+id().String())
		_ = c.Reply(q.ID, fields.Object())
	case "watch":
		_ = c.More(q.ID, fields.Object(fields.Member("state", fields.Text("watching"))))
		watch := d.watch
		d.mu.Unlock()
		watch(c, q)
		d.mu.Lock()
	}
}

func (d *desk) find(id action.RequestID) *prompt.Pending {
	for i := range d.pending {
		if d.pending[i].ID == id {
			return &d.pending[i]
		}
	}
	return nil
}

// said is what was answered so far.
func (d *desk) said() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.answers...)
}

func (d *desk) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answers = nil
}

// approver is a runner whose approvals are at a desk.
func approver(t *testing.T, d *desk) *runner {
	r := newRunner(t)
	r.env = append(r.env, "SNENS_APPROVAL_SOCK="+d.serve(t))
	return r
}

func (r *runner) approve(args ...string) (status int, stdout, stderr string) {
	r.t.Helper()
	return r.run(append([]string{"approve", "--user"}, args...)...)
}
