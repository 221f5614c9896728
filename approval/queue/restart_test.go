package queue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"snens/approval/queue"
	"snens/broker/action"
	"snens/internal/audit"
)

func TestAfterACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		w.runner.run = untilStopped
		waiting, stays := asks(plain(t, deploy, "waiting")), asks(plain(t, deploy, "stays", detached))
		running, runsOn := asks(plain(t, deploy, "running")), asks(plain(t, deploy, "runs on", detached))
		denied := asks(plain(t, deploy, "denied", detached))
		for _, s := range []queue.Submission{waiting, stays, running, runsOn, denied} {
			w.submit(s)
		}
		w.approve(running)
		w.approve(runsOn)
		if _, err := w.says(denied, ann, action.Deny); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.crash()
		for _, c := range []struct {
			s   queue.Submission
			is  action.State
			why action.Reason
		}{
			{waiting, action.Cancelled, action.ReasonDaemonRestart},
			{stays, action.Pending, 0},
			{running, action.Lost, action.ReasonLost},
			{runsOn, action.Lost, action.ReasonLost},
			{denied, action.Denied, action.ReasonApproverDenied},
		} {
			r, err := w.q.Result(c.s.Peer, c.s.ID)
			if err != nil || r.State != c.is || r.Reason != c.why {
				t.Errorf("%+v, %v; want %s: %s", r, err, c.is, c.why)
			}
			if _, err := w.says(c.s, ann, action.Approve); c.is != action.Pending {
				refused(t, err, action.ReasonGone)
			}
		}
		if len(w.runner.cleared) != 2 {
			t.Errorf("cleared %v", w.runner.cleared)
		}
		synctest.Wait()
		for s, n := range map[action.RequestID]int{waiting.ID: 0, stays.ID: 1, running.ID: 1, runsOn.ID: 1, denied.ID: 0} {
			if got := w.runner.ran(s); got != n {
				t.Errorf("ran %d times, not %d: %v", got, n, w.log.kinds(s))
			}
		}
		same(t, w.log.kinds(stays.ID)[:3], []audit.Kind{audit.Pending, audit.Pending, audit.Vote})
		w.close()
	})
}

// Answers from before the crash do not count after it.
func TestVotesDoNotSurvive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		s := asks(plain(t, deploy, "a", detached))
		s.Terms.Need = 2
		w.submit(s)
		if _, err := w.says(s, ann, action.Approve); err != nil {
			t.Fatal(err)
		}
		w.crash()
		if state, err := w.says(s, bob, action.Approve); err != nil || state != action.Pending {
			t.Fatal(state, err)
		}
		shown := w.q.Pending(peer(ann, ops))[0]
		if len(shown.Votes) != 1 || shown.Need != 2 || shown.About != "Do it" || shown.Approvers[0] != "group:ops" {
			t.Errorf("%+v", shown)
		}
		w.close()
	})
}

func TestDetachedOnesAreComparedAtTheStart(t *testing.T) {
	for _, c := range []struct {
		name    string
		down    time.Duration
		changed bool
		allowed bool
		state   action.State
		runs    int
	}{
		{name: "unchanged", state: action.Pending},
		{name: "changed", changed: true, state: action.Stale},
		{name: "expired", down: ttl, state: action.Expired},
		{name: "allowed", allowed: true, state: action.Exited, runs: 1},
		{name: "allowed, changed", allowed: true, changed: true, state: action.Stale},
		{name: "allowed, expired", allowed: true, down: ttl, state: action.Expired},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, queue.Limits{})
				s := asks(plain(t, deploy, "a", detached))
				s.Allowed = c.allowed
				w.policy.wait = func(*action.Sealed) { pass(time.Second) } // the crash comes before the run
				w.submit(s)
				held := w.store.files[s.ID]
				w.closeOld(w.q)
				w.store.files[s.ID] = held
				w.log.entries, w.runner.runs = nil, nil
				w.policy.wait = nil
				pass(c.down)
				if c.changed {
					w.policy.changed = &queue.Change{Reason: action.ReasonStaleFile}
				}
				w.open()
				synctest.Wait()
				r, err := w.q.Result(s.Peer, s.ID)
				if err != nil || r.State != c.state || w.runner.ran(s.ID) != c.runs {
					t.Errorf("%+v, %v, %d runs", r, err, w.runner.ran(s.ID))
				}
				pass(ttl)
				synctest.Wait()
				if r, err = w.q.Result(s.Peer, s.ID); err != nil || !r.State.Final() {
					t.Errorf("it waits for ever: %+v %v", r, err)
				}
				w.close()
			})
		})
	}
}

// The clock was set back while the broker was down: nothing waits longer.
func TestTheClockWentBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		s := asks(plain(t, deploy, "a", detached))
		w.submit(s)
		w.closeOld(w.q)
		r := w.store.files[s.ID]
		later := plain(t, deploy, "a", detached, func(r *action.Request) { r.Expires = r.Expires.Add(time.Hour) })
		r.Request, r.Case.Digest, r.Since = later, later.Digest(), r.Since.Add(time.Hour) // taken in what is now the future
		w.store.files[s.ID] = r
		w.open()
		pass(ttl)
		synctest.Wait()
		if got, err := w.q.Result(s.Peer, s.ID); err != nil || got.State != action.Expired {
			t.Errorf("%+v %v", got, err)
		}
		w.close()
	})
}

func TestResultsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{KeptPerUID: 3})
		kept, trace := asks(plain(t, deploy, "kept", detached)), asks(plain(t, deploy, "trace"))
		for _, s := range []queue.Submission{kept, trace} {
			ticket := w.submit(s)
			w.approve(s)
			w.ends(ticket, action.Exited, action.ReasonExited)
		}
		has := func(s queue.Submission, want bool) {
			t.Helper()
			r, err := w.q.Result(s.Peer, s.ID)
			if want && (err != nil || r.Reason != action.ReasonExited) {
				t.Errorf("%+v %v", r, err)
			}
			if !want {
				refused(t, err, action.ReasonNotFound)
			}
		}
		has(kept, true)
		has(trace, true)
		_, err := w.q.Result(peer(other), kept.ID)
		refused(t, err, action.ReasonNotFound)
		pass(10 * time.Minute)
		synctest.Wait()
		has(trace, false)
		w.crash()
		has(kept, true)
		pass(24*time.Hour - 10*time.Minute - time.Second)
		has(kept, true)
		pass(time.Second)
		synctest.Wait()
		has(kept, false)
		same(t, w.store.states(), nil)

		var all []queue.Submission // and never more than a few of one uid
		for range 5 {
			s := asks(plain(t, deploy, queue.NewID().String(), detached))
			ticket := w.submit(s)
			w.approve(s)
			w.ends(ticket, action.Exited, action.ReasonExited)
			all = append(all, s)
			synctest.Wait()
		}
		for i, s := range all {
			has(s, i >= 2)
		}
		if n := len(w.store.states()); n != 3 {
			t.Errorf("%d files", n)
		}
		w.close()
	})
}
