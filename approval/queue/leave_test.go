package queue_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"snens/approval/queue"
	"snens/broker/action"
	"snens/internal/audit"
)

func TestTheRequesterLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		w.runner.run = untilStopped
		waiting, running := asks(plain(t, deploy, "waiting")), asks(plain(t, deploy, "running"))
		stays, runsOn := asks(plain(t, deploy, "stays", detached)), asks(plain(t, deploy, "runs on", detached))
		var tickets []*queue.Ticket
		for _, s := range []queue.Submission{waiting, running, stays, runsOn} {
			tickets = append(tickets, w.submit(s))
		}
		w.approve(running)
		w.approve(runsOn)
		synctest.Wait()
		for _, ticket := range tickets {
			ticket.Leave()
			ticket.Leave()
		}
		w.ends(tickets[0], action.Cancelled, action.ReasonRequesterGone)
		w.ends(tickets[1], action.Exited, action.ReasonRequesterGone)
		synctest.Wait()
		if got := tickets[2].Result().State; got != action.Pending {
			t.Errorf("the detached one is %s", got)
		}
		if got := tickets[3].Result().State; got != action.Running {
			t.Errorf("the detached run is %s", got)
		}
		_, err := w.says(waiting, ann, action.Approve)
		refused(t, err, action.ReasonGone)
		if err := w.q.Cancel(stays.Peer, stays.ID); err != nil {
			t.Fatal(err)
		}
		w.ends(tickets[2], action.Cancelled, action.ReasonCancelled)
		refused(t, w.q.Cancel(stays.Peer, stays.ID), action.ReasonGone)
		if err := w.q.Cancel(runsOn.Peer, runsOn.ID); err != nil {
			t.Fatal(err)
		}
		w.ends(tickets[3], action.Exited, action.ReasonCancelled)
		w.close()
	})
}

// He leaves after the approval, while the policy is asked again or just before
// the start.
func TestTheRequesterLeavesBeforeTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		w.policy.wait = func(*action.Sealed) { pass(time.Second) }
		s := asks(plain(t, deploy, "a"))
		ticket := w.submit(s)
		w.approve(s)
		synctest.Wait()
		ticket.Leave()
		w.ends(ticket, action.Cancelled, action.ReasonRequesterGone)
		pass(time.Minute)
		w.policy.wait = nil
		late := asks(plain(t, deploy, "b"))
		ticket = w.submit(late)
		w.log.fails = func(k audit.Kind) bool {
			if k == audit.Spent {
				go ticket.Leave()
				pass(1)
			}
			return false
		}
		w.approve(late)
		w.ends(ticket, action.FailedToStart, action.ReasonRequesterGone)
		if w.runner.ran(s.ID)+w.runner.ran(late.ID) != 0 {
			t.Error("it ran")
		}
		w.close()
	})
}

func TestKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		w.runner.run = untilStopped
		s := asks(plain(t, deploy, "a"))
		ticket := w.submit(s)
		refused(t, w.q.Kill(peer(ann, ops), s.ID, action.Seen{}), action.ReasonBadRequest)
		w.approve(s)
		synctest.Wait()
		if err := w.q.Kill(peer(bob, ops), s.ID, action.Seen{}); err != nil {
			t.Fatal(err)
		}
		w.ends(ticket, action.Exited, action.ReasonKilled)
		refused(t, w.q.Kill(peer(ann, ops), s.ID, action.Seen{}), action.ReasonGone)
		same(t, w.log.kinds(s.ID)[5:], []audit.Kind{audit.Kill, audit.Exited})
		w.close()
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		w.runner.run = untilStopped
		waiting, running, stays := asks(plain(t, deploy, "waiting")), asks(plain(t, deploy, "running")), asks(plain(t, deploy, "stays", detached))
		tickets := []*queue.Ticket{w.submit(waiting), w.submit(running), w.submit(stays)}
		w.approve(running)
		synctest.Wait()
		left := make(chan error)
		go func() {
			_, err := tickets[2].Wait(context.Background())
			left <- err
		}()
		w.close()
		refused(t, <-left, action.ReasonShutdown)
		w.ends(tickets[0], action.Cancelled, action.ReasonShutdown)
		w.ends(tickets[1], action.Exited, action.ReasonShutdown)
		same(t, w.store.states(), []action.State{action.Pending})
		_, err := w.q.Submit(asks(plain(t, deploy, "late")))
		refused(t, err, action.ReasonShutdown)
		_, err = w.says(stays, ann, action.Approve)
		refused(t, err, action.ReasonGone)
		if _, err := w.q.Watch(peer(ann, ops)); err == nil {
			t.Error("a closed queue can be watched")
		}
	})
}

// A run that does not end holds Close up for as long as its context lasts.
func TestCloseDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		release := make(chan struct{})
		w.runner.run = func(_ context.Context, started func(uint32)) queue.Ending {
			started(1)
			<-release
			return queue.Ending{Reason: action.ReasonUnkillable}
		}
		s := asks(plain(t, deploy, "a"))
		ticket := w.submit(s)
		w.approve(s)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := w.q.Close(ctx); err == nil {
			t.Error("closed while something ran")
		}
		_, err := ticket.Wait(context.Background())
		refused(t, err, action.ReasonShutdown)
		close(release)
		<-ticket.Done()
	})
}

func TestASlowWatcherIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{Buffer: 2, Watchers: 3})
		watch := func(uid action.UID) *queue.Watch {
			watch, err := w.q.Watch(peer(uid, ops))
			if err != nil {
				t.Fatal(err)
			}
			return watch
		}
		slow, fast := watch(ann), watch(bob)
		strange, err := w.q.Watch(peer(stranger))
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.q.Watch(peer(ann, ops))
		refused(t, err, action.ReasonBusy)
		var asked []int
		for range 4 {
			s := asks(plain(t, deploy, queue.NewID().String()))
			asked = append(asked, w.submit(s).Asked)
			if e := <-fast.Events(); e.ID != s.ID || e.Kind != action.EventPending {
				t.Errorf("%+v", e)
			}
		}
		same(t, asked, []int{2, 2, 1, 1})
		n := 0
		for range slow.Events() {
			n++
		}
		if n != 2 || len(strange.Events()) != 0 {
			t.Errorf("the slow one got %d, the stranger %d", n, len(strange.Events()))
		}
		watch(ann) // there is room again
		fast.Close()
		fast.Close()
		w.close()
	})
}
