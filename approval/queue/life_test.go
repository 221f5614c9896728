package queue_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"snens/approval/prompt"
	"snens/approval/queue"
	"snens/broker/action"
	"snens/internal/audit"
)

func TestApprovedRunsAndIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		watch, err := w.q.Watch(peer(ann, ops))
		if err != nil {
			t.Fatal(err)
		}
		w.runner.run = func(_ context.Context, started func(uint32)) queue.Ending {
			last := w.log.entries[len(w.log.entries)-1]
			if last.Kind != audit.Spent || w.store.states()[0] != action.Spent {
				t.Errorf("runs after a %s record, the file says %v", last.Kind, w.store.states())
			}
			started(77)
			return queue.Ending{Reason: action.ReasonExited, Code: 3}
		}
		s := asks(plain(t, deploy, "a"))
		ticket := w.submit(s)
		if ticket.Asked != 1 || ticket.Result().State != action.Pending {
			t.Errorf("%d were asked, %+v", ticket.Asked, ticket.Result())
		}
		w.approve(s)
		r := w.ends(ticket, action.Exited, action.ReasonExited)
		if r.Code != 3 || r.Started.IsZero() || r.Ended.IsZero() {
			t.Errorf("%+v", r)
		}
		same(t, w.log.kinds(s.ID), []audit.Kind{audit.Pending, audit.Vote, audit.Approved, audit.Spent, audit.Started, audit.Exited})
		w.close()
		var events []action.Event
		for e := range watch.Events() {
			events = append(events, e.Kind)
		}
		same(t, events, []action.Event{action.EventPending, action.EventApproved, action.EventSpent, action.EventStarted, action.EventExited})
		same(t, w.store.states(), nil)
	})
}

func TestAllowedRunsUnasked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		for range 2 { // and equal ones are no duplicates
			s := queue.Submission{ID: queue.NewID(), Peer: peer(deploy), Request: plain(t, deploy, "a"), Allowed: true}
			w.ends(w.submit(s), action.Exited, action.ReasonExited)
			same(t, w.log.kinds(s.ID), []audit.Kind{audit.Approved, audit.Spent, audit.Started, audit.Exited})
			_, err := w.says(s, ann, action.Deny)
			refused(t, err, action.ReasonNotFound)
		}
		w.close()
	})
}

func TestDeniedNeverRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		s := asks(plain(t, deploy, "a"))
		s.Terms.Need = 2
		ticket := w.submit(s)
		if state, err := w.says(s, ann, action.Approve); err != nil || state != action.Pending {
			t.Fatal(state, err)
		}
		_, err := w.says(s, ann, action.Approve)
		refused(t, err, action.ReasonAlreadyVoted)
		if state, err := w.says(s, bob, action.Deny); err != nil || state != action.Denied {
			t.Fatal(state, err)
		}
		w.ends(ticket, action.Denied, action.ReasonApproverDenied)
		_, err = w.says(s, other, action.Approve)
		refused(t, err, action.ReasonGone)
		same(t, w.log.kinds(s.ID), []audit.Kind{audit.Pending, audit.Vote, audit.VoteRefused, audit.Vote, audit.Denied})
		if w.runner.ran(s.ID) != 0 {
			t.Error("it ran")
		}
		w.close()
	})
}

func TestWhoMayNotApprove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		var err error
		if w.policy.rules.Persons, err = prompt.NewPersons([]prompt.Person{{Name: "dee", UIDs: []action.UID{deploy, other}}}); err != nil {
			t.Fatal(err)
		}
		s := asks(plain(t, deploy, "a"))
		s.Peer.Login = action.Login{UID: logged, Set: true}
		w.submit(s)
		loggedIn := peer(ann, ops)
		loggedIn.Login = s.Peer.Login
		inside := peer(bob, ops)
		inside.InAction = true
		for _, c := range []struct {
			name string
			who  prompt.Peer
			why  action.Reason
		}{
			{"the requester", peer(deploy, ops), action.ReasonSelfApproval},
			{"another uid of his", peer(other, ops), action.ReasonSelfApproval},
			{"who logged in and became him", peer(logged, ops), action.ReasonSelfApproval},
			{"somebody with his login", loggedIn, action.ReasonSelfApproval},
			{"root, who is not listed", peer(0), action.ReasonNotApprover},
			{"a child of a running action", inside, action.ReasonNotFound},
			{"a stranger", peer(stranger), action.ReasonNotFound},
			{"nobody", peer(action.NoID, ops), action.ReasonNotFound},
		} {
			_, err := w.q.Answer(s.ID, ballot(s.Request, c.who, action.Approve), action.Seen{})
			t.Log(c.name)
			refused(t, err, c.why)
		}
		foreign := ballot(s.Request, peer(ann, ops), action.Approve)
		foreign.Digest[0] ^= 1
		_, err = w.q.Answer(s.ID, foreign, action.Seen{})
		refused(t, err, action.ReasonDigestMismatch)
		if n := w.runner.ran(s.ID); n != 0 {
			t.Errorf("ran %d times", n)
		}
		w.close()
	})
}

// A hundred approvals and a hundred attempts to run it, all at once.
func TestRunsExactlyOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		for range 10 {
			s := asks(plain(t, deploy, "a"))
			ticket := w.submit(s)
			approved := make(chan bool, 100)
			var all sync.WaitGroup
			for i := range 100 {
				all.Go(func() {
					_, err := w.says(s, action.UID(2000+i), action.Approve)
					approved <- err == nil
				})
				all.Go(func() { w.q.Spend(s.ID) })
			}
			all.Wait()
			w.ends(ticket, action.Exited, action.ReasonExited)
			w.q.Spend(s.ID)
			close(approved)
			yes := 0
			for ok := range approved {
				if ok {
					yes++
				}
			}
			if n := w.runner.ran(s.ID); n != 1 || yes != 1 {
				t.Fatalf("%d approvals, %d runs", yes, n)
			}
			same(t, w.log.kinds(s.ID), []audit.Kind{audit.Pending, audit.Vote, audit.Approved, audit.Spent, audit.Started, audit.Exited})
		}
		w.close()
	})
}

func TestAnswersThatComeTooLate(t *testing.T) {
	for _, c := range []struct {
		name  string
		after time.Duration
		why   action.Reason // 0: in time
	}{
		{"a nanosecond before the end", ttl - 1, 0},
		{"at the end", ttl, action.ReasonGone},
		{"a millisecond late", ttl + time.Millisecond, action.ReasonGone},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, queue.Limits{})
				s := asks(plain(t, deploy, "a"))
				ticket := w.submit(s)
				pass(c.after)
				_, err := w.says(s, ann, action.Approve)
				if c.why == 0 {
					if err != nil {
						t.Fatal(err)
					}
					w.ends(ticket, action.Exited, action.ReasonExited)
				} else {
					refused(t, err, c.why)
					w.ends(ticket, action.Expired, action.ReasonExpired)
					if w.runner.ran(s.ID) != 0 {
						t.Error("it ran")
					}
				}
				w.close()
			})
		})
	}
}

// The timer fires while the answer is on its way: one of the two wins, whole.
func TestTheTimerFiresAsTheAnswerArrives(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, queue.Limits{})
			s := asks(plain(t, deploy, "a"))
			ticket := w.submit(s)
			var answers sync.WaitGroup
			outcome := make(chan error, 3)
			for i, at := range []time.Duration{ttl - 1, ttl, ttl + 1} {
				answers.Go(func() {
					pass(at)
					_, err := w.says(s, action.UID(2000+i), action.Approve)
					outcome <- err
				})
			}
			// The record of the first answer takes until after the end.
			w.log.mu.Lock()
			w.log.fails = func(k audit.Kind) bool {
				if k == audit.Vote {
					pass(1)
				}
				return false
			}
			w.log.mu.Unlock()
			answers.Wait()
			w.ends(ticket, action.Expired, action.ReasonExpired)
			for range 3 {
				refused(t, <-outcome, action.ReasonGone)
			}
			if w.runner.ran(s.ID) != 0 {
				t.Error("it ran")
			}
			w.close()
		})
	}
}

// What was approved in time and could not be run in time is not run.
func TestExpiresBetweenApprovalAndRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		w.policy.wait = func(*action.Sealed) { pass(ttl) }
		s := asks(plain(t, deploy, "a"))
		ticket := w.submit(s)
		w.approve(s)
		w.ends(ticket, action.Expired, action.ReasonExpired)
		synctest.Wait()
		pass(ttl)
		if w.runner.ran(s.ID) != 0 {
			t.Error("it ran")
		}
		w.close()
	})
}

func TestStaleIsNotRun(t *testing.T) {
	digest := action.DigestOf("now")
	for _, c := range []struct {
		change queue.Change
		why    action.Reason
	}{
		{queue.Change{Reason: action.ReasonStaleFile, NewDigest: digest, Detail: "/bin/true"}, action.ReasonStaleFile},
		{queue.Change{Reason: action.ReasonStaleRule}, action.ReasonStaleRule},
		{queue.Change{}, action.ReasonStaleRule},
		{queue.Change{Reason: action.ReasonExited}, action.ReasonStaleRule},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, queue.Limits{})
			w.policy.changed = &c.change
			s := asks(plain(t, deploy, "a"))
			ticket := w.submit(s)
			w.approve(s)
			w.ends(ticket, action.Stale, c.why)
			last := w.log.entries[len(w.log.entries)-1]
			if w.runner.ran(s.ID) != 0 || last.Digest != s.Request.Digest() || last.NewDigest != c.change.NewDigest || last.Detail != c.change.Detail {
				t.Errorf("%+v", last)
			}
			w.close()
		})
	}
}

// No record, no run; and whatever fails, the request ends.
func TestNoRecordNoRun(t *testing.T) {
	for _, kind := range []audit.Kind{audit.Approved, audit.Spent, ""} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, queue.Limits{})
			w.log.fails = func(k audit.Kind) bool { return k == kind }
			s := asks(plain(t, deploy, "a", detached))
			ticket := w.submit(s)
			if _, err := w.says(s, ann, action.Approve); kind == audit.Approved {
				refused(t, err, action.ReasonNoRecord)
			}
			w.ends(ticket, action.Denied, action.ReasonNoRecord)
			same(t, w.store.states(), []action.State{action.Denied})
			if w.runner.ran(s.ID) != 0 || len(w.problems) == 0 {
				t.Errorf("%q: %d runs, problems %v", kind, w.runner.ran(s.ID), w.problems)
			}
			w.problems = nil
			w.close()
		})
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		w.log.fails = func(k audit.Kind) bool { return k == audit.Pending || k == audit.Vote }
		s := asks(plain(t, deploy, "a"))
		_, err := w.q.Submit(s)
		refused(t, err, action.ReasonNoRecord)
		same(t, w.store.states(), nil)
		w.log.fails = func(k audit.Kind) bool { return k == audit.Vote }
		ticket := w.submit(s) // the place is free again
		_, err = w.says(s, ann, action.Approve)
		refused(t, err, action.ReasonNoRecord)
		if state, err := w.says(s, ann, action.Deny); err != nil || state != action.Denied {
			t.Fatalf("a no must count without a record: %v %v", state, err)
		}
		w.ends(ticket, action.Denied, action.ReasonApproverDenied)
		w.problems = nil
		w.close()
	})
}

// What runners say that cannot be is never taken for success.
func TestEndingsOfRuns(t *testing.T) {
	for _, c := range []struct {
		started bool
		how     queue.Ending
		state   action.State
		why     action.Reason
	}{
		{true, queue.Ending{Reason: action.ReasonSignalled, Signal: 9}, action.Exited, action.ReasonSignalled},
		{true, queue.Ending{Reason: action.ReasonTimedOut}, action.Exited, action.ReasonTimedOut},
		{true, queue.Ending{}, action.Lost, action.ReasonLost},
		{true, queue.Ending{Reason: action.ReasonExited, Code: 256}, action.Lost, action.ReasonLost},
		{true, queue.Ending{Reason: action.ReasonCannotStart}, action.Lost, action.ReasonLost},
		{false, queue.Ending{Reason: action.ReasonCommandMissing}, action.FailedToStart, action.ReasonCommandMissing},
		{false, queue.Ending{Reason: action.ReasonExited}, action.FailedToStart, action.ReasonInternal},
		{false, queue.Ending{}, action.FailedToStart, action.ReasonInternal},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, queue.Limits{})
			w.runner.run = func(_ context.Context, started func(uint32)) queue.Ending {
				if c.started {
					started(77)
				}
				return c.how
			}
			s := asks(plain(t, deploy, "a"))
			ticket := w.submit(s)
			w.approve(s)
			w.ends(ticket, c.state, c.why)
			w.close()
		})
	}
}
