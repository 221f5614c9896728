package queue_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"snens/approval/prompt"
	"snens/approval/queue"
	"snens/broker/action"
)

// Room says what Submit would say, and takes nothing.
func TestRoomSaysWhatSubmitWould(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{PendingPerUID: 2, CoolDown: time.Minute})
		same := func(s queue.Submission, want action.Reason) {
			t.Helper()
			err := w.q.Room(s)
			if want == 0 {
				if err != nil {
					t.Errorf("no room: %v", err)
				}
				return
			}
			refused(t, err, want)
			_, err = w.q.Submit(s)
			refused(t, err, want)
		}
		first := asks(plain(t, deploy, "a"))
		for range 10 {
			same(first, 0)
		}
		w.submit(first)
		again := asks(plain(t, deploy, "a"))
		same(again, action.ReasonDuplicate)
		if id := w.q.Room(again).(*queue.Refusal).ID; id != first.ID {
			t.Errorf("the first is %s, not %s", first.ID, id)
		}
		again.Allowed = true
		same(again, 0) // nobody is asked twice
		second := asks(plain(t, deploy, "b"))
		w.submit(second)
		same(asks(plain(t, deploy, "c")), action.ReasonBusy)
		if _, err := w.says(second, ann, action.Deny); err != nil {
			t.Fatal(err)
		}
		same(asks(plain(t, deploy, "b")), action.ReasonCoolingDown)
		same(asks(plain(t, deploy, "c")), 0)

		silent := asks(plain(t, deploy, "d"))
		silent.ReasonRequired = true
		same(silent, action.ReasonReasonRequired)
		inside := asks(plain(t, deploy, "d"))
		inside.Peer.InAction = true
		same(inside, action.ReasonDenied)
		same(asks(plain(t, deploy, "d", func(r *action.Request) { r.Expires = time.Now().UTC().Truncate(time.Second) })), action.ReasonExpired)
		foreign := asks(plain(t, deploy, "d"))
		foreign.Peer = prompt.Peer{UID: other}
		if err := w.q.Room(foreign); err == nil {
			t.Error("there is room for a request of somebody else")
		}
		w.close()
		same(asks(plain(t, deploy, "c")), action.ReasonShutdown)
	})
}

func TestRefusalsTellTheirReason(t *testing.T) {
	id := queue.NewID()
	why, first := (&queue.Refusal{Reason: action.ReasonDuplicate, ID: id}).Refused()
	if why != action.ReasonDuplicate || first != id {
		t.Errorf("%s, %s", why, first)
	}
}

// Whoever keeps something for a request hears of its end once, however it ends,
// and after the ticket is done.
func TestTheEndIsTold(t *testing.T) {
	for name, end := range map[string]func(w *world, s queue.Submission, ticket *queue.Ticket){
		"run": func(w *world, s queue.Submission, _ *queue.Ticket) { w.approve(s) },
		"denied": func(w *world, s queue.Submission, _ *queue.Ticket) {
			_, _ = w.says(s, ann, action.Deny)
		},
		"left":    func(_ *world, _ queue.Submission, ticket *queue.Ticket) { ticket.Leave() },
		"expired": func(*world, queue.Submission, *queue.Ticket) { pass(ttl) },
		"closed":  func(w *world, _ queue.Submission, _ *queue.Ticket) { w.closeOld(w.q) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, queue.Limits{})
				told := make(chan struct{}, 2)
				var sent atomic.Pointer[queue.Ticket]
				s := asks(plain(t, deploy, "a"))
				s.Ended = func() {
					select {
					case <-sent.Load().Done():
					default:
						t.Error("told before it was done")
					}
					told <- struct{}{}
				}
				ticket := w.submit(s)
				sent.Store(ticket)
				end(w, s, ticket)
				synctest.Wait()
				if len(told) != 1 {
					t.Errorf("told %d times", len(told))
				}
				w.close()
			})
		})
	}
}

func TestTheEndIsNotToldOfWhatWasRefusedOrGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		told := func() { t.Error("told") }
		stays := asks(plain(t, deploy, "a", detached))
		stays.Ended = told
		w.submit(stays)
		again := asks(plain(t, deploy, "a", detached))
		again.Ended = told
		_, err := w.q.Submit(again)
		refused(t, err, action.ReasonDuplicate)
		w.close()
	})
}
