package queue

import (
	"sync"
	"time"

	"snens/broker/action"
)

// brake slows down whoever asks for what he may not have: each uid may be wrong
// burst times, and once more after every interval.
type brake struct {
	burst int
	every time.Duration

	mu    sync.Mutex
	debts map[action.UID]time.Time // when the uid's debt is paid off
}

// maxDebtors bounds the memory: beyond, those who have paid are looked for.
const maxDebtors = 4096

func newBrake(burst int, every time.Duration) *brake {
	return &brake{burst: burst, every: every, debts: map[action.UID]time.Time{}}
}

// holds says that nothing is looked up for the uid now.
func (b *brake) holds(uid action.UID, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.debts[uid].Sub(now) > time.Duration(b.burst-1)*b.every
}

// wrong counts a wrong question.
func (b *brake) wrong(uid action.UID, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	paid, known := b.debts[uid]
	if !known && len(b.debts) >= maxDebtors {
		for other, at := range b.debts {
			if !at.After(now) {
				delete(b.debts, other)
			}
		}
	}
	if paid.Before(now) {
		paid = now
	}
	b.debts[uid] = paid.Add(b.every)
}
