package broker

import (
	"sync"
	"time"

	"snens/broker/action"
)

// maxKnown bounds the memory of an allowance: beyond, nobody else gets anything
// until somebody's debt is paid.
const maxKnown = 1024

// allowance lets each uid have something so many times at once, and once more
// after every interval. It is for what a requester can have again and again by
// asking, giving up and asking anew, and what stays when he does: records, lines
// in our log, people who were asked.
type allowance struct {
	atOnce int
	every  time.Duration

	mu   sync.Mutex
	paid map[action.UID]time.Time // when the uid's debt is paid off; guarded by mu
}

func newAllowance(atOnce int, every time.Duration) *allowance {
	return &allowance{atOnce: atOnce, every: every, paid: map[action.UID]time.Time{}}
}

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
	if at.Sub(now) > time.Duration(a.atOnce-1)*a.every {
		return false
	}
	a.paid[uid] = at.Add(a.every)
	return true
}
