package broker

import (
	"sync"
	"time"

	"snens/broker/action"
)

// What a uid may have in records of its denied requests before they are only
// counted: so many at once, and another one after each interval.
const (
	denialsAtOnce = 10
	denialEvery   = time.Second
)

// maxKnown bounds the memory: beyond, nobody else gets records of his own until
// somebody's debt is paid.
const maxKnown = 1024

// allowance lets each uid have denialsAtOnce, and one more per denialEvery.
type allowance struct {
	mu   sync.Mutex
	paid map[action.UID]time.Time // when the uid's debt is paid off; guarded by mu
}

func newAllowance() *allowance { return &allowance{paid: map[action.UID]time.Time{}} }

// take says whether the uid may have one, and takes it.
func (a *allowance) take(uid action.UID, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, known := a.paid[uid]
	if !known && len(a.paid) >= maxKnown {
		for other, at := range a.paid {
			if !at.After(now) {
				delete(a.paid, other)
			}
		}
		if len(a.paid) >= maxKnown {
			return false
		}
	}
	if at.Before(now) {
		at = now
	}
	if at.Sub(now) > (denialsAtOnce-1)*denialEvery {
		return false
	}
	a.paid[uid] = at.Add(denialEvery)
	return true
}
