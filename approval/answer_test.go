package approval_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"snens/approval"
	"snens/approval/prompt"
	"snens/approval/queue"
	"snens/broker/action"
	"snens/internal/audit"
	"snens/internal/fields"
	"snens/internal/peer"
	"snens/internal/strictjson"
)

// What an approver is shown is what runs, and once.
func TestApprove(t *testing.T) {
	w := newWorld(t)
	s, ticket := w.pending("a")
	c := w.as(ann)
	ids, last := c.list(`{}`)
	if len(ids) != 1 || ids[0] != s.ID.String() {
		t.Errorf("listed %q", ids)
	}
	says(t, last, `{"count":1,"total":1}`)
	r := c.ask("show", about(s.ID))
	o := r.Fields()
	p := prompt.ReadPending(o.Field("pending").Object())
	must(t, o.Close())
	if p.ID != s.ID || p.Request.Digest() != s.Request.Digest() || p.About != "Do it" || strings.Contains(said(r), s.Request.Digest().String()) {
		t.Errorf("shown %s", said(r))
	}
	says(t, c.ask("answer", yes(s)), `{"state":"approved"}`)
	<-ticket.Done()
	if got := ticket.Result(); got.State != action.Exited || w.ran.Load() != 1 {
		t.Errorf("ended %+v, ran %d times", got, w.ran.Load())
	}
	// Too late, for whatever.
	for _, params := range []string{yes(s), no(s)} {
		if got := code(c.ask("answer", params)); got != "gone" {
			t.Errorf("a second answer: %s", got)
		}
	}
	for _, method := range []string{"show", "kill"} {
		if got := code(c.ask(method, about(s.ID))); got != "gone" {
			t.Errorf("%s: %s", method, got)
		}
	}
	all := w.records()
	if got := kinds(all, s.ID); got != "pending vote approved spent started exited" {
		t.Errorf("recorded %s", got)
	}
	for _, r := range all {
		if r.Kind == audit.Vote && (r.UID != ann || r.Seen == nil || r.Seen.PID == 0) {
			t.Errorf("recorded %+v", r)
		}
	}
}

func TestDenyAndKill(t *testing.T) {
	w := newWorld(t, func(w *world, _ *approval.Options) { w.run = untilStopped })
	s, ticket := w.pending("a")
	c := w.as(carl, ops)
	if got := code(c.ask("kill", about(s.ID))); got != "bad_request" {
		t.Errorf("killed what waits: %s", got)
	}
	says(t, c.ask("answer", no(s)), `{"state":"denied"}`)
	<-ticket.Done()
	s, ticket = w.pending("b")
	root, watcher := w.as(0), w.as(0)
	watcher.watch()
	says(t, c.ask("answer", yes(s)), `{"state":"approved"}`)
	for r := watcher.read(); r.Result.Get("event").Get("event").Text != "started"; r = watcher.read() {
	}
	says(t, root.ask("kill", about(s.ID)), `{}`)
	<-ticket.Done()
	if r := ticket.Result(); r.Reason != action.ReasonKilled {
		t.Errorf("ended %+v", r)
	}
	if got := kinds(w.records(), s.ID); got != "pending vote approved spent started kill exited" {
		t.Errorf("recorded %s", got)
	}
}

// Two persons: the first yes leaves it waiting, and his second is not another's.
func TestTwoPersonsMustApprove(t *testing.T) {
	w := newWorld(t)
	s, ticket := w.pending("a", func(s *queue.Submission) { s.Terms.Need = 2 })
	c := w.as(ann)
	says(t, c.ask("answer", yes(s)), `{"state":"pending"}`)
	if got := c.ask("answer", yes(s)); got.Err == nil {
		t.Errorf("the same person again: %s", said(got))
	}
	if w.ran.Load() != 0 {
		t.Fatal("it ran")
	}
	says(t, w.as(carl, ops).ask("answer", yes(s)), `{"state":"approved"}`)
	<-ticket.Done()
}

// What is wrong with an answer is said, and it counts for nothing.
func TestRefusedAnswers(t *testing.T) {
	w := newWorld(t)
	s, _ := w.pending("a")
	other, _ := w.pending("b")
	c := w.as(ann)
	digest := s.Request.Digest().String()
	for params, want := range map[string]string{
		strings.ReplaceAll(yes(s), digest, other.Request.Digest().String()): "digest_mismatch",
		strings.ReplaceAll(yes(s), digest, strings.Repeat("0", 64)):         "digest_mismatch",
		strings.ReplaceAll(yes(s), digest, strings.ToUpper(digest)):         "bad_request",
		strings.ReplaceAll(yes(s), digest, digest[:12]):                     "bad_request",
		strings.ReplaceAll(yes(s), digest, ""):                              "bad_request",
		strings.ReplaceAll(yes(s), "once", "15m"):                           "lifespan_refused",
		strings.ReplaceAll(yes(s), "once", "forever"):                       "bad_request",
		strings.ReplaceAll(yes(s), `,"lifespan":"once"`, ""):                "bad_request",
		strings.ReplaceAll(yes(s), "approve", "deny"):                       "bad_request",
		strings.ReplaceAll(yes(s), "approve", "yes"):                        "bad_request",
		strings.ReplaceAll(yes(s), `"decision":"approve",`, ""):             "bad_request",
		yes(s, `"approver":"root"`):                                         "bad_request",
		yes(s, `"uid":0`):                                                   "bad_request",
		yes(s, `"groups":[54650]`):                                          "bad_request",
		no(s, `"principal":"ann@example.org"`):                              "bad_request",
		strings.ReplaceAll(yes(s), `"lifespan":"once"`, `"lifespan":null`):  "bad_request",
		strings.ReplaceAll(yes(s), s.ID.String(), queue.NewID().String()):   "not_found",
		strings.ReplaceAll(yes(s), s.ID.String(), "1"):                      "bad_request",
		strings.ReplaceAll(yes(s), `"request"`, `"Request"`):                "bad_request",
	} {
		if got := code(c.ask("answer", params)); got != want {
			t.Errorf("%s: %s, want %s", params, got, want)
		}
	}
	for method, params := range map[string]string{
		"list": `{"limit":-1}`, "show": `{"request":1}`, "kill": `{"request":"` + s.ID.String() + `","signal":9}`, "watch": `{"since":1}`,
	} {
		if got := code(c.ask(method, params)); got != "bad_request" {
			t.Errorf("%s %s: %s", method, params, got)
		}
	}
	says(t, c.ask("grants", `{}`), "unknown_method: there is no method grants here")
	if ids, _ := c.list(`{}`); len(ids) != 2 || w.ran.Load() != 0 {
		t.Errorf("%q wait, %d ran", ids, w.ran.Load())
	}
	all := w.records()
	if got := kinds(all, s.ID); strings.Count(got, "vote_refused") != 3 || strings.Contains(got, "vote ") || strings.Contains(got, "approved") {
		t.Errorf("recorded %s", got)
	}
	if n, m := counted(all, ann, action.ReasonBadRequest), counted(all, ann, action.ReasonDigestMismatch); n != 19 || m != 0 {
		t.Errorf("counted %d bad requests, and %d that have records of their own", n, m)
	}
}

// In --user mode a terminal takes the place of another person.
func TestUserMode(t *testing.T) {
	var terminal, tool atomic.Bool
	w := newWorld(t, func(w *world, o *approval.Options) {
		w.rules.UserMode = true
		o.Terminal = func(*peer.Peer) bool { return terminal.Load() }
		o.Supervised = func(*peer.Peer) bool { return tool.Load() }
	})
	s, _ := w.pending("a", func(s *queue.Submission) { s.Terms.Presence = prompt.PresenceTTY })
	for _, c := range []struct {
		terminal, tool bool
		want           string
	}{{false, false, "presence_missing"}, {true, true, "presence_missing"}, {true, false, "approved"}} {
		terminal.Store(c.terminal)
		tool.Store(c.tool)
		if got := code(w.as(asker).ask("answer", yes(s))); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// Whatever is read, an approval has a lifespan and a denial none, and neither
// names anybody.
func FuzzReadAnswer(f *testing.F) {
	id, digest := queue.NewID().String(), action.DigestOf("x").String()
	for _, s := range []string{
		`{"request":"` + id + `","decision":"approve","digest":"` + digest + `","lifespan":"once"}`,
		`{"request":"` + id + `","decision":"deny","digest":"` + digest + `"}`,
		`{"request":"` + id + `","decision":"deny","digest":"` + digest + `","approver":"root"}`, `{}`, `{"request":null}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, b, err := approval.ReadAnswer(fields.Parse([]byte(text), "params", strictjson.Options{}))
		if err != nil {
			return
		}
		if id.IsZero() && !strings.Contains(text, id.String()) || b.Principal != "" || b.Peer.UID != 0 || b.Peer.Groups != nil ||
			(b.Decision == action.Approve) != (b.Lifespan != 0) || b.Decision != action.Approve && b.Decision != action.Deny {
			t.Errorf("%s read as %+v", text, b)
		}
	})
}
