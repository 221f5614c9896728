package approval_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"snens/approval"
	"snens/approval/prompt"
	"snens/broker/action"
)

// events are the states that a watch tells of a request until it has ended.
func (c *client) events(id action.RequestID) string {
	c.t.Helper()
	var out []string
	for {
		r := c.read()
		e := r.Result.Get("event")
		if !r.More || e == nil {
			c.t.Fatalf("told %s after %q", said(r), out)
		}
		if e.Get("id").Text != id.String() {
			continue
		}
		out = append(out, e.Get("event").Text)
		state, err := action.ParseState(e.Get("state").Text)
		must(c.t, err)
		if state.Final() {
			return strings.Join(out, " ")
		}
	}
}

func TestWatch(t *testing.T) {
	w := newWorld(t)
	c := w.as(ann)
	id := c.watch()
	s, ticket := w.pending("a")
	if ticket.Asked != 1 {
		t.Errorf("%d were asked", ticket.Asked)
	}
	if r := c.read(); r.ID != id || !r.More || r.Result.Get("event").Get("event").Text != "pending" {
		t.Errorf("told %s", said(r))
	}
	// Other methods are answered meanwhile, a second watch not.
	if ids, _ := c.list(`{}`); len(ids) != 1 {
		t.Errorf("listed %q", ids)
	}
	says(t, c.ask("watch", `{}`), "busy: a watch goes on already on this connection")
	says(t, w.as(carl, ops).ask("answer", yes(s)), `{"state":"approved"}`)
	if got := c.events(s.ID); got != "approved spent started exited" {
		t.Errorf("told of %s", got)
	}
}

// The end of a connection, or of the client's half of it, is the end of a watch.
func TestWatchEndsWithItsClient(t *testing.T) {
	w := newWorld(t)
	gone, half := w.as(ann), w.as(carl, ops)
	gone.watch()
	half.watch()
	if n := w.watches.Load(); n != 2 {
		t.Fatalf("%d watches", n)
	}
	must(t, gone.Close())
	eventually(t, "one watch has ended", func() bool { return w.watches.Load() == 1 })
	must(t, half.uc.CloseWrite())
	eventually(t, "the other has ended", func() bool { return w.watches.Load() == 0 })
	if r, err := half.ReadReply(30 * time.Second); err == nil {
		t.Errorf("told %s", said(r))
	}
	if _, ticket := w.pending("a"); ticket.Asked != 0 {
		t.Errorf("%d were asked", ticket.Asked)
	}
}

// Who is no approver any more is told nothing from then on.
func TestWatchEndsWithThePolicy(t *testing.T) {
	w := newWorld(t)
	c := w.as(ann)
	id := c.watch()
	w.mu.Lock()
	w.no = append(w.no, ann)
	w.mu.Unlock()
	w.pending("a")
	if r := c.read(); r.ID != id || r.More || said(r) != "denied: this is not allowed" {
		t.Errorf("told %s", said(r))
	}
	says(t, c.ask("list", `{}`), "denied: this is not allowed")
	if n := w.watches.Load(); n != 0 {
		t.Errorf("%d watches", n)
	}
}

// Who does not read is left off: he hears what was kept for him and then that,
// and may begin anew. Nobody waits for him.
func TestASlowWatcherIsDropped(t *testing.T) {
	w := newWorld(t, func(w *world, _ *approval.Options) {
		w.disk = false
		w.limits.Buffer = 8
	})
	c := w.as(ann)
	id := c.watch()
	n := 0
	for asked := 1; asked > 0; n++ {
		s := w.submission(asker, fmt.Sprint(n))
		ticket, err := w.q.Submit(s)
		must(t, err)
		asked = ticket.Asked
		must(t, w.q.Cancel(prompt.Peer{UID: asker}, s.ID))
		if n > 100_000 {
			t.Fatal("never left off")
		}
	}
	told := 0
	for r := c.read(); ; r = c.read() {
		if r.ID != id {
			t.Fatalf("answer to %d: %s", r.ID, said(r))
		}
		if !r.More {
			says(t, r, `{"state":"dropped"}`)
			break
		}
		told++
	}
	if told < 8 || told > 2*n {
		t.Errorf("told of %d of %d", told, 2*n)
	}
	t.Logf("left off after %d events, %d told", 2*n, told)
	c.watch()
	if _, ticket := w.pending("again"); ticket.Asked != 1 {
		t.Errorf("%d were asked", ticket.Asked)
	}
}

// There are only so many watches.
func TestWatchesAreBounded(t *testing.T) {
	w := newWorld(t, func(w *world, _ *approval.Options) { w.limits.Watchers = 1 })
	first, second := w.as(ann), w.as(ann)
	first.watch()
	if got := code(second.ask("watch", `{}`)); got != "busy" {
		t.Errorf("told %s", got)
	}
	must(t, first.Close())
	eventually(t, "there is room", func() bool { return w.watches.Load() == 0 })
	second.watch()
}

// At the end watchers are told so, and one who does not read holds up nobody.
func TestShutdown(t *testing.T) {
	w := newWorld(t, func(w *world, _ *approval.Options) {
		w.disk = false
		w.limits.Buffer, w.limits.PendingPerUID, w.limits.LivePerUID = 8, 10_000, 10_000
	})
	for i := range 3000 {
		w.pending(fmt.Sprint(i))
	}
	fair, idle := w.as(ann), w.as(carl, ops)
	id := fair.watch()
	for range 3 { // these do not read what they ask for
		deaf := w.as(ann)
		deaf.send("watch", `{}`)
		deaf.send("list", `{}`)
	}
	eventually(t, "they watch too", func() bool { return w.watches.Load() == 4 })
	began := time.Now()
	w.stop()
	if d := time.Since(began); d > 8*time.Second {
		t.Errorf("the end took %s", d)
	}
	if r := fair.read(); r.ID != id || r.More || said(r) != "shutdown: "+action.ReasonShutdown.Text() {
		t.Errorf("told %s", said(r))
	}
	if _, err := idle.ReadReply(30 * time.Second); err == nil {
		t.Error("an idle connection goes on")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	must(t, w.q.Close(ctx))
}
