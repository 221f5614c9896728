package audit_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"snens/broker/action"
	"snens/internal/audit"
)

// kept are records. While wait is set, writing waits for it.
type kept struct {
	mu   sync.Mutex
	list []audit.Entry
	at   []time.Time
	err  error
	wait chan struct{}
}

func (r *kept) Append(at time.Time, e audit.Entry) error {
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
		log := &kept{}
		c := audit.NewCounter(log, func(err error) { t.Error(err) })
		for range 3 {
			for range 10_000 {
				c.Add(7, action.ReasonBusy)
				c.Add(8, action.ReasonDenied)
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
		c.Add(9, action.ReasonBusy)
		<-time.After(time.Minute)
		synctest.Wait()
		if n := len(log.list); n != 7 || log.at[6].Sub(before) > 1100*time.Millisecond {
			t.Errorf("%d records", n)
		}
		c.Add(9, action.ReasonBusy)
		c.Close() // writes what is left
		c.Close()
		if n := len(log.list); n != 8 {
			t.Errorf("%d records", n)
		}
	})
}

// A disk that takes nothing holds up nobody, and memory stays bounded.
func TestRefusalsOnASlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &kept{wait: make(chan struct{}), err: errors.New("full")}
		var told []error
		c := audit.NewCounter(log, func(err error) { told = append(told, err) })
		for range 10 {
			for uid := range 1000 {
				c.Add(action.UID(uid), action.ReasonBusy)
			}
			<-time.After(time.Second)
		}
		close(log.wait)
		c.Close()
		if n := len(log.list); n < 257 || n > 2*2*257 {
			t.Errorf("%d records", n)
		}
		if len(told) != len(log.list)+1 {
			t.Errorf("told of %d faults", len(told))
		}
	})
}
