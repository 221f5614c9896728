package broker_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"snens/broker"
	"snens/broker/action"
	"snens/internal/audit"
)

// records is a Log. While wait is set, writing waits for it.
type records struct {
	mu   sync.Mutex
	list []audit.Entry
	at   []time.Time
	err  error
	wait chan struct{}
}

func (r *records) Append(at time.Time, e audit.Entry) error {
	if r.wait != nil {
		<-r.wait
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list, r.at = append(r.list, e), append(r.at, at)
	return r.err
}

func TestRefusalsAreOneRecordPerUIDAndSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &records{}
		c := broker.NewCounter(log, func(err error) { t.Error(err) })
		for range 3 {
			for range 10_000 {
				broker.AddRefusal(c, 7, action.ReasonBusy)
				broker.AddRefusal(c, 8, action.ReasonDenied)
			}
			<-time.After(time.Second)
		}
		synctest.Wait()
		if len(log.list) != 6 {
			t.Fatalf("%d records", len(log.list))
		}
		for i, e := range log.list {
			if e.Kind != audit.RefusedSummary || e.Count != 10_000 || e.UID != action.UID(7+i%2) {
				t.Errorf("%+v", e)
			}
		}
		// What nobody asks about any more is written all the same, and in time.
		before := time.Now()
		broker.AddRefusal(c, 9, action.ReasonBusy)
		<-time.After(time.Minute)
		synctest.Wait()
		if n := len(log.list); n != 7 || log.at[6].Sub(before) > 1100*time.Millisecond {
			t.Errorf("%d records", n)
		}
		broker.AddRefusal(c, 9, action.ReasonBusy)
		broker.CloseCounter(c) // writes what is left
		broker.CloseCounter(c)
		if n := len(log.list); n != 8 {
			t.Errorf("%d records", n)
		}
	})
}

// A disk that takes nothing holds up nobody, and memory stays bounded.
func TestRefusalsOnASlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &records{wait: make(chan struct{}), err: errors.New("full")}
		var told []error
		c := broker.NewCounter(log, func(err error) { told = append(told, err) })
		for range 10 {
			for uid := range 1000 {
				broker.AddRefusal(c, action.UID(uid), action.ReasonBusy)
			}
			<-time.After(time.Second)
		}
		close(log.wait)
		broker.CloseCounter(c)
		if n := len(log.list); n < 257 || n > 2*broker.MaxReady {
			t.Errorf("%d records", n)
		}
		if len(told) != len(log.list)+1 {
			t.Errorf("told of %d faults", len(told))
		}
	})
}

func TestAllowanceOfRecords(t *testing.T) {
	a := broker.NewAllowance(10, time.Second)
	now := time.Unix(1000, 0)
	take := func(uid action.UID, times int) (n int) {
		for range times {
			if broker.TakeOne(a, uid, now) {
				n++
			}
		}
		return n
	}
	if n := take(1, 100); n != 10 {
		t.Errorf("%d at once", n)
	}
	if n := take(2, 100); n != 10 {
		t.Errorf("%d of another uid", n)
	}
	now = now.Add(3 * time.Second)
	if n := take(1, 100); n != 3 {
		t.Errorf("%d after three seconds", n)
	}
	now = now.Add(time.Hour)
	if n := take(1, 100); n != 10 {
		t.Errorf("%d after an hour", n)
	}
	for uid := range action.UID(2 * broker.MaxKnown) {
		take(100+uid, 1)
	}
	if n := take(100_000, 1); n != 0 {
		t.Error("there is no bound")
	}
	now = now.Add(time.Minute)
	if n := take(100_000, 1); n != 1 {
		t.Error("those who have paid are not forgotten")
	}
}
