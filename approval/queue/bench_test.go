package queue_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"snens/approval/queue"
	"snens/approval/store"
	"snens/broker/action"
)

// full is a queue in which 10,000 requests wait, five of each uid.
func full(tb testing.TB, change ...func(*action.Request)) *world {
	w := newWorld(tb, queue.Limits{})
	w.store.drops = func(*store.Record) bool { return true } // the files are not what is measured
	for i := range 10_000 {
		s := asks(plain(tb, action.UID(10_000+i/5), fmt.Sprint(i), change...))
		s.Claims.Reason = strings.Repeat("because ", 10)
		if _, err := w.q.Submit(s); err != nil {
			break // no room: what is there is what is measured
		}
	}
	w.log.entries = nil
	return w
}

func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc+m.StackInuse) / (1 << 20)
}

// The memory of as many requests as fit, small ones and the longest.
func BenchmarkMemoryOfFullQueue(b *testing.B) {
	for _, c := range []struct {
		name string
		size int
	}{{"small", 10}, {"usual", 400}, {"long", 15_000}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				before := heap()
				w := full(b, func(r *action.Request) { r.Argv = append(r.Argv, strings.Repeat("x", c.size)) })
				n := len(w.q.Pending(peer(ann, ops)))
				b.ReportMetric(heap()-before, "MiB")
				b.ReportMetric(float64(n), "waiting")
				runtime.KeepAlive(w)
				w.close()
			}
		})
	}
}

// What an approver waits for when 10,000 requests do.
func BenchmarkPendingOf10000(b *testing.B) {
	w := full(b)
	for b.Loop() {
		if len(w.q.Pending(peer(ann, ops))) != 10_000 {
			b.Fatal("not all are shown")
		}
	}
}

// And one who may see none of them.
func BenchmarkPendingOfOthers(b *testing.B) {
	w := full(b)
	for b.Loop() {
		if len(w.q.Pending(peer(stranger))) != 0 {
			b.Fatal("shown to a stranger")
		}
	}
}

// One request from its submission to its end, without disks.
func BenchmarkApprovedRun(b *testing.B) {
	w := newWorld(b, queue.Limits{})
	for b.Loop() {
		s := asks(plain(b, deploy, "a"))
		ticket := w.submit(s)
		w.approve(s)
		<-ticket.Done()
	}
}
