package queue_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"snens/approval/queue"
	"snens/broker/action"
	"snens/internal/audit"
)

// Whoever should end expired requests is held up by the disk: an answer is too
// late all the same, and is not even recorded.
func TestTheSweeperIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		later := func(r *action.Request) { r.Expires = r.Expires.Add(time.Second) }
		first, second := asks(plain(t, deploy, "first")), asks(plain(t, deploy, "second", later))
		w.submit(first)
		ticket := w.submit(second)
		slow := true
		w.log.mu.Lock()
		w.log.fails = func(k audit.Kind) bool {
			if k == audit.Expired && slow {
				slow = false
				w.log.mu.Unlock()
				pass(time.Minute)
				w.log.mu.Lock()
			}
			return false
		}
		w.log.mu.Unlock()
		pass(ttl + 2*time.Second)
		for _, s := range []queue.Submission{first, second} {
			if _, err := w.q.Show(peer(ann, ops), s.ID); err == nil {
				t.Error("it is shown after its end")
			}
		}
		if n := len(w.q.Pending(peer(ann, ops))); n != 0 {
			t.Errorf("%d are shown after their end", n)
		}
		_, err := w.says(second, ann, action.Approve)
		refused(t, err, action.ReasonGone)
		refused(t, w.q.Cancel(second.Peer, second.ID), action.ReasonGone)
		w.ends(ticket, action.Expired, action.ReasonExpired)
		same(t, w.log.kinds(second.ID), []audit.Kind{audit.Pending, audit.Expired})
		w.close()
	})
}

// The machine slept, so no timer fired; or the wall clock was set back. By the
// other clock it is too late.
func TestBothClocksCount(t *testing.T) {
	for name, change := range map[string]func(*queue.Queue, action.RequestID){
		"asleep": (*queue.Queue).StopTimer, "set back": (*queue.Queue).SetBack,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, queue.Limits{})
				w.policy.wait = func(*action.Sealed) { pass(ttl) }
				late, slow := asks(plain(t, deploy, "late")), asks(plain(t, deploy, "slow"))
				w.submit(late)
				ticket := w.submit(slow)
				change(w.q, late.ID)
				change(w.q, slow.ID)
				w.approve(slow)
				pass(ttl)
				_, err := w.says(late, ann, action.Approve)
				refused(t, err, action.ReasonGone)
				w.ends(ticket, action.Expired, action.ReasonExpired)
				w.close()
			})
		})
	}
}

// The requester gives up while an approval is being recorded: he wins.
func TestCancelledWhileAnAnswerIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		s := asks(plain(t, deploy, "a"))
		ticket := w.submit(s)
		w.log.fails = func(k audit.Kind) bool {
			if k == audit.Vote {
				go ticket.Leave()
				pass(1)
			}
			return false
		}
		_, err := w.says(s, ann, action.Approve)
		refused(t, err, action.ReasonGone)
		w.ends(ticket, action.Cancelled, action.ReasonRequesterGone)
		synctest.Wait()
		same(t, w.log.kinds(s.ID), []audit.Kind{audit.Pending, audit.Vote, audit.Cancelled})
		if w.runner.ran(s.ID) != 0 {
			t.Error("it ran")
		}
		w.close()
	})
}

// The queue is closed between the approval and the run: a detached request is
// asked about again by the next process, the other one has ended.
func TestClosedBeforeTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		w.policy.wait = func(*action.Sealed) { pass(time.Second) }
		stays, waits := asks(plain(t, deploy, "stays", detached)), asks(plain(t, deploy, "waits"))
		w.submit(stays)
		ticket := w.submit(waits)
		w.approve(stays)
		w.approve(waits)
		synctest.Wait()
		w.close()
		w.ends(ticket, action.Cancelled, action.ReasonShutdown)
		same(t, w.store.states(), []action.State{action.Pending})
		if w.runner.ran(stays.ID)+w.runner.ran(waits.ID) != 0 {
			t.Error("it ran")
		}
		w.policy.wait = nil
		w.open()
		w.approve(stays)
		if r, err := w.q.Wait(context.Background(), stays.Peer, stays.ID); err != nil || r.State != action.Exited {
			t.Errorf("%+v %v", r, err)
		}
		w.close()
	})
}

// Taking a request in lasts longer than it may live: it ends as well.
func TestExpiresWhileItIsTakenIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		w.log.fails = func(k audit.Kind) bool {
			if k == audit.Pending {
				pass(ttl + time.Second)
			}
			return false
		}
		w.ends(w.submit(asks(plain(t, deploy, "a"))), action.Expired, action.ReasonExpired)
		w.close()
	})
}

// Answers that do not count are slowed down too: each makes a record.
func TestRefusedAnswersDoNotFillTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{Guesses: 20})
		s := asks(plain(t, deploy, "a"))
		w.submit(s)
		for range 1000 {
			if _, err := w.says(s, deploy, action.Approve); err == nil {
				t.Fatal("he approves himself")
			}
		}
		kinds := w.log.kinds(s.ID)
		if n := len(slices.DeleteFunc(kinds, func(k audit.Kind) bool { return k != audit.VoteRefused })); n != 20 {
			t.Errorf("%d records", n)
		}
		w.close()
	})
}
