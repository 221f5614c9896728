package queue

import (
	"sync"

	"snens/approval/prompt"
	"snens/broker/action"
)

// Watch is a subscription to the events of the requests that a peer oversees.
// Whoever is too slow is dropped: the channel is closed, and he must list and
// subscribe again.
type Watch struct {
	q    *Queue
	peer prompt.Peer

	mu     sync.Mutex // guards closed, and the channel against a close in a send
	closed bool
	events chan prompt.Event
}

// Watch subscribes. Subscribe first and list then: what happens in between
// comes twice, never not at all. Close it.
func (q *Queue) Watch(p prompt.Peer) (*Watch, error) {
	w := &Watch{q: q, peer: p, events: make(chan prompt.Event, q.limits.Buffer)}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case p.InAction || p.UID == action.NoID:
		return nil, refuse(action.ReasonDenied)
	case q.closed:
		return nil, refuse(action.ReasonShutdown)
	case len(q.watchers) >= q.limits.Watchers:
		return nil, refuse(action.ReasonBusy)
	}
	q.watchers[w] = struct{}{}
	return w, nil
}

// Events is closed when the watcher was too slow, or the queue has ended.
func (w *Watch) Events() <-chan prompt.Event { return w.events }

// Close ends the subscription.
func (w *Watch) Close() {
	w.q.mu.Lock()
	delete(w.q.watchers, w)
	w.q.mu.Unlock()
	w.close()
}

func (w *Watch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.closed = true
		close(w.events)
	}
}

// send never blocks; false when there was no room.
func (w *Watch) send(v prompt.Event) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return true
	}
	select {
	case w.events <- v:
		return true
	default:
		return false
	}
}

// publish tells those who oversee the request, and returns how many of them may
// approve it. The caller has the lane, so that events of one request keep their
// order, and not the lock.
func (q *Queue) publish(e *entry, v prompt.Event) (asked int) {
	q.mu.Lock()
	if e.allowed || len(q.watchers) == 0 {
		q.mu.Unlock()
		return 0
	}
	watchers := make([]*Watch, 0, len(q.watchers))
	for w := range q.watchers {
		watchers = append(watchers, w)
	}
	q.mu.Unlock()
	rules := q.policy.Rules()
	for _, w := range watchers {
		if !rules.Oversees(w.peer, e.kase) {
			continue
		}
		if !w.send(v) {
			w.Close()
			continue
		}
		yes := prompt.Ballot{Peer: w.peer, Decision: action.Approve, Lifespan: action.Once, Digest: e.kase.Digest}
		if why := rules.Judge(yes, e.kase, nil).Reason(); why == 0 || why == action.ReasonPresenceMissing {
			asked++
		}
	}
	return asked
}
