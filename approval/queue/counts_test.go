package queue_test

import (
	"context"
	"testing"
	"testing/synctest"

	"snens/approval/queue"
	"snens/broker/action"
)

func TestCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, queue.Limits{})
		same(t, []queue.Counts{w.q.Counts()}, []queue.Counts{{}})
		end := make(chan struct{})
		w.runner.run = func(_ context.Context, started func(uint32)) queue.Ending {
			started(77)
			<-end
			return queue.Ending{Reason: action.ReasonExited}
		}
		waiting, running := asks(plain(t, deploy, "a")), asks(plain(t, deploy, "b"))
		w.submit(waiting)
		ticket := w.submit(running)
		same(t, []queue.Counts{w.q.Counts()}, []queue.Counts{{Pending: 2, Live: 2}})
		w.approve(running)
		synctest.Wait()
		same(t, []queue.Counts{w.q.Counts()}, []queue.Counts{{Pending: 1, Running: 1, Live: 2}})
		close(end)
		w.ends(ticket, action.Exited, action.ReasonExited)
		same(t, []queue.Counts{w.q.Counts()}, []queue.Counts{{Pending: 1, Live: 1}})
		w.close()
	})
}
