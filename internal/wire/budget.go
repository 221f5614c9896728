package wire

import "sync"

// Budget bounds the bytes that all connections of a server hold in buffers:
// lines on their way in and on their way out. Uid 0 has an amount of its own
// beside the total, so that others cannot lock root out. A nil *Budget bounds
// nothing.
type Budget struct {
	perUID int
	total  int

	mu   sync.Mutex
	used int            // of everybody but uid 0; guarded by mu
	uids map[uint32]int // guarded by mu; no entry for zero
}

// NewBudget makes a budget of perUID bytes for each uid and total bytes for all
// but uid 0.
func NewBudget(perUID, total int) *Budget {
	return &Budget{perUID: perUID, total: total, uids: map[uint32]int{}}
}

// InUse is what uid holds now.
func (b *Budget) InUse(uid uint32) int {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.uids[uid]
}

// take claims n bytes, or nothing when they do not fit.
func (b *Budget) take(uid uint32, n int) bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.uids[uid]+n > b.perUID || uid != 0 && b.used+n > b.total {
		return false
	}
	b.add(uid, n)
	return true
}

func (b *Budget) give(uid uint32, n int) {
	if b == nil || n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(uid, -n)
}

// add: caller holds mu.
func (b *Budget) add(uid uint32, n int) {
	if uid != 0 {
		b.used += n
	}
	if b.uids[uid] += n; b.uids[uid] == 0 {
		delete(b.uids, uid)
	}
}
