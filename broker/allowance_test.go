package broker_test

import (
	"testing"
	"time"

	"snens/broker"
	"snens/broker/action"
)

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
