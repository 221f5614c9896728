package sockets

import (
	"fmt"
	"sync"
)

// Limits of the connections of one socket.
type Limits struct {
	PerUID int
	Total  int // of all but uid 0, which has PerUID beside them
}

// DefaultLimits are those of docs/protocol.md.
func DefaultLimits() Limits { return Limits{PerUID: 16, Total: 256} }

// Gate counts connections. Give each socket its own, so that a crowd at one
// does not shut the other.
type Gate struct {
	limits Limits

	mu   sync.Mutex
	all  int            // without uid 0; guarded by mu
	uids map[uint32]int // guarded by mu; no entry for zero
}

// NewGate makes a Gate.
func NewGate(l Limits) *Gate { return &Gate{limits: l, uids: map[uint32]int{}} }

// FullError says that there is no room for another connection.
type FullError struct {
	Limit int
	Own   bool // the uid has its share; otherwise all together have
}

func (e *FullError) Error() string {
	if e.Own {
		return fmt.Sprintf("too many connections of this user; at most %d", e.Limit)
	}
	return fmt.Sprintf("too many connections; at most %d", e.Limit)
}

// Enter takes a place for uid. leave gives it back; calling it again does
// nothing. The error is a *FullError.
func (g *Gate) Enter(uid uint32) (leave func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.uids[uid] >= g.limits.PerUID {
		return nil, &FullError{g.limits.PerUID, true}
	}
	if uid != 0 && g.all >= g.limits.Total {
		return nil, &FullError{g.limits.Total, false}
	}
	g.count(uid, 1)
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.count(uid, -1)
	}), nil
}

// count: caller holds mu.
func (g *Gate) count(uid uint32, n int) {
	if uid != 0 {
		g.all += n
	}
	if g.uids[uid] += n; g.uids[uid] == 0 {
		delete(g.uids, uid)
	}
}

// Count is how many connections uid has.
func (g *Gate) Count(uid uint32) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.uids[uid]
}
