package queue_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"snens/approval/prompt"
	"snens/approval/queue"
	"snens/broker/action"
)

func TestAFloodOfRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		taken := map[action.Reason]int{}
		for i := range 10_000 {
			_, err := w.q.Submit(asks(plain(t, deploy, fmt.Sprint(i))))
			var why action.Reason
			if err != nil {
				why = err.(*queue.Refusal).Reason
			}
			taken[why]++
		}
		if taken[0] != 5 || taken[action.ReasonBusy] != 9_995 {
			t.Errorf("%v", taken)
		}
		if n := len(w.log.entries); n != 5 {
			t.Errorf("%d records", n)
		}
		w.submit(asks(plain(t, other, "a"))) // others are served
		if n := len(w.q.Pending(peer(ann, ops))); n != 6 {
			t.Errorf("%d are shown", n)
		}
		w.close()
	})
}

// What runs waits for nobody any more, and leaves room for another question.
func TestRunsDoNotCountAsPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{PendingPerUID: 2})
		w.runner.run = untilStopped
		for i := range 5 {
			s := asks(plain(t, deploy, fmt.Sprint(i)))
			w.submit(s)
			w.approve(s)
		}
		synctest.Wait()
		w.close()
	})
}

func TestDuplicates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		first := asks(plain(t, deploy, "a"))
		ticket := w.submit(first)
		again := asks(plain(t, deploy, "a", func(r *action.Request) { r.Nonce = action.Nonce{2} }))
		_, err := w.q.Submit(again)
		refused(t, err, action.ReasonDuplicate)
		if id := err.(*queue.Refusal).ID; id != first.ID {
			t.Errorf("the first is %s, not %s", first.ID, id)
		}
		w.submit(asks(plain(t, other, "a"))) // of another uid
		if err := w.q.Cancel(first.Peer, first.ID); err != nil {
			t.Fatal(err)
		}
		w.ends(ticket, action.Cancelled, action.ReasonCancelled)
		w.submit(again)
		w.close()
	})
}

func TestCoolsDownAfterANo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{CoolDown: time.Minute})
		s := asks(plain(t, deploy, "a"))
		w.submit(s)
		if _, err := w.says(s, ann, action.Deny); err != nil {
			t.Fatal(err)
		}
		again := asks(plain(t, deploy, "a"))
		_, err := w.q.Submit(again)
		refused(t, err, action.ReasonCoolingDown)
		w.submit(asks(plain(t, deploy, "b")))
		w.submit(asks(plain(t, other, "a")))
		pass(time.Minute)
		w.submit(again)
		w.close()
	})
}

func TestRoom(t *testing.T) {
	long := func(r *action.Request) { r.Argv = append(r.Argv, strings.Repeat("x", 15_000)) }
	for _, c := range []struct {
		name   string
		limits queue.Limits
		fits   int
		change func(*action.Request)
	}{
		{"of one uid", queue.Limits{LivePerUID: 3}, 3, nil},
		{"of all", queue.Limits{Live: 4}, 4, nil},
		{"in bytes", queue.Limits{Bytes: 80_000}, 2, long},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, c.limits)
				request := func(i int) *action.Sealed {
					if c.change != nil {
						return plain(t, deploy, fmt.Sprint(i), c.change)
					}
					return plain(t, deploy, fmt.Sprint(i))
				}
				var tickets []*queue.Ticket
				for i := range c.fits {
					tickets = append(tickets, w.submit(asks(request(i))))
				}
				last := asks(request(c.fits))
				_, err := w.q.Submit(last)
				refused(t, err, action.ReasonBusy)
				tickets[0].Leave()
				w.submit(last)
				for _, ticket := range tickets {
					ticket.Leave()
				}
				if err := w.q.Cancel(last.Peer, last.ID); err != nil {
					t.Fatal(err)
				}
				if n := w.q.Bytes(); n != 0 {
					t.Errorf("%d bytes are still counted", n)
				}
				w.close()
			})
		})
	}
}

func TestSubmitRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		for _, c := range []struct {
			name   string
			change func(*queue.Submission)
			why    action.Reason // 0: a fault of the caller
		}{
			{"a running action asks", func(s *queue.Submission) { s.Peer.InAction = true }, action.ReasonDenied},
			{"no reason where one is required", func(s *queue.Submission) { s.ReasonRequired = true; s.Claims.Reason = " " }, action.ReasonReasonRequired},
			{"expired", func(s *queue.Submission) {
				s.Request = plain(t, deploy, "a", func(r *action.Request) { r.Expires = time.Now().UTC().Truncate(time.Second) })
			}, action.ReasonExpired},
			{"no id", func(s *queue.Submission) { s.ID = action.RequestID{} }, 0},
			{"no request", func(s *queue.Submission) { s.Request = nil }, 0},
			{"another's request", func(s *queue.Submission) { s.Peer = peer(other) }, 0},
			{"nobody to ask", func(s *queue.Submission) { s.Terms.From = nil }, 0},
			{"no need", func(s *queue.Submission) { s.Terms.Need = 0 }, 0},
			{"no presence", func(s *queue.Submission) { s.Terms.Presence = 0 }, 0},
			{"a claim too long", func(s *queue.Submission) { s.Claims.Tool = strings.Repeat("x", 129) }, 0},
		} {
			s := asks(plain(t, deploy, "a"))
			c.change(&s)
			_, err := w.q.Submit(s)
			t.Log(c.name, err)
			if c.why != 0 {
				refused(t, err, c.why)
			} else if _, is := err.(*queue.Refusal); err == nil || is {
				t.Error("taken")
			}
		}
		same(t, w.store.states(), nil)
		w.close()
	})
}

// To whoever may not see a request there is none, by any method.
func TestVisibility(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{Guesses: 100})
		s := asks(plain(t, deploy, "a"))
		w.submit(s)
		unknown := queue.NewID()
		for _, c := range []struct {
			name           string
			who            prompt.Peer
			owns, oversees bool
		}{
			{"requester", peer(deploy), true, false},
			{"approver", peer(ann, ops), false, true},
			{"root", peer(0), false, true},
			{"another requester", peer(other), false, false},
			{"a stranger", peer(stranger, 51), false, false},
			{"nobody", peer(action.NoID, ops), false, false},
		} {
			for _, id := range []action.RequestID{s.ID, unknown} {
				_, show := w.q.Show(c.who, id)
				_, result := w.q.Result(c.who, id)
				want := func(err error, may bool) {
					t.Helper()
					if may && id == s.ID {
						if err != nil {
							t.Errorf("%s: %v", c.name, err)
						}
						return
					}
					refused(t, err, action.ReasonNotFound)
				}
				want(show, c.oversees)
				want(result, c.owns)
				if !c.owns {
					want(w.q.Cancel(c.who, id), false)
				}
				if !c.oversees {
					want(w.q.Kill(c.who, id, action.Seen{}), false)
					_, err := w.q.Answer(id, ballot(s.Request, c.who, action.Deny), action.Seen{})
					want(err, false)
				}
			}
			if n := len(w.q.Pending(c.who)); (n == 1) != c.oversees {
				t.Errorf("%s: %d pending ones", c.name, n)
			}
			if n := len(w.q.Mine(c.who)); (n == 1) != c.owns {
				t.Errorf("%s: %d of his own", c.name, n)
			}
		}
		shown := w.q.Pending(peer(ann, ops))[0]
		if shown.Request.Digest() != s.Request.Digest() || shown.About != s.About || shown.Need != 1 {
			t.Errorf("%+v", shown)
		}
		w.close()
	})
}

func TestGuessesByAnyMethod(t *testing.T) {
	for name, guess := range map[string]func(*queue.Queue, prompt.Peer, action.RequestID) error{
		"answer": func(q *queue.Queue, p prompt.Peer, id action.RequestID) error {
			_, err := q.Answer(id, prompt.Ballot{Peer: p, Decision: action.Deny}, action.Seen{})
			return err
		},
		"show": func(q *queue.Queue, p prompt.Peer, id action.RequestID) error {
			_, err := q.Show(p, id)
			return err
		},
		"wait": func(q *queue.Queue, p prompt.Peer, id action.RequestID) error {
			_, err := q.Wait(t.Context(), p, id)
			return err
		},
		"cancel": func(q *queue.Queue, p prompt.Peer, id action.RequestID) error { return q.Cancel(p, id) },
		"kill":   func(q *queue.Queue, p prompt.Peer, id action.RequestID) error { return q.Kill(p, id, action.Seen{}) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, queue.Limits{Guesses: 3})
				for i := range 6 {
					why := action.ReasonNotFound
					if i >= 3 {
						why = action.ReasonBusy
					}
					refused(t, guess(w.q, peer(ann, ops), queue.NewID()), why)
				}
				w.close()
			})
		})
	}
}

// Guessing is slowed down, for the guesser alone; then nothing is looked up, not
// even what is his.
func TestGuessedIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{Guesses: 20, GuessEvery: time.Second})
		s := asks(plain(t, deploy, "a"))
		w.submit(s)
		counts := map[action.Reason]int{}
		for range 1_000_000 {
			_, err := w.q.Result(peer(deploy), queue.NewID())
			counts[err.(*queue.Refusal).Reason]++
		}
		if counts[action.ReasonNotFound] != 20 || counts[action.ReasonBusy] != 999_980 {
			t.Errorf("%v", counts)
		}
		_, err := w.q.Result(peer(deploy), s.ID)
		refused(t, err, action.ReasonBusy)
		if _, err := w.q.Show(peer(ann, ops), s.ID); err != nil {
			t.Error(err)
		}
		pass(time.Second)
		if _, err := w.q.Result(peer(deploy), s.ID); err != nil {
			t.Error(err)
		}
		for i := range 10_000 { // many guessers are bounded in memory, and all wrong
			_, err := w.q.Result(peer(action.UID(10_000+i)), s.ID)
			refused(t, err, action.ReasonNotFound)
		}
		w.close()
	})
}
