package queue

import (
	"cmp"
	"context"
	"slices"
	"time"

	"snens/approval/prompt"
	"snens/broker/action"
)

// Pending are the requests that wait for people and that the peer may see as
// one of them, oldest first.
func (q *Queue) Pending(p prompt.Peer) []prompt.Pending {
	rules := q.policy.Rules()
	q.mu.Lock()
	all := make([]*entry, 0, len(q.live))
	for _, e := range q.live {
		all = append(all, e)
	}
	q.mu.Unlock()
	all = slices.DeleteFunc(all, func(e *entry) bool { return e.allowed || !rules.Oversees(p, e.kase) })
	slices.SortFunc(all, func(a, b *entry) int { return cmp.Compare(a.seq, b.seq) })
	now := time.Now()
	out := make([]prompt.Pending, 0, len(all))
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range all {
		if e.state == action.Pending && !e.due(now) {
			out = append(out, e.pending())
		}
	}
	return out
}

// Show is one of them; gone when it waits no more.
func (q *Queue) Show(p prompt.Peer, id action.RequestID) (prompt.Pending, error) {
	e, err := q.overseen(p, id)
	if err != nil {
		return prompt.Pending{}, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if e.state != action.Pending || e.due(time.Now()) {
		return prompt.Pending{}, refuse(action.ReasonGone)
	}
	return e.pending(), nil
}

// Mine are the peer's own requests: those that have not ended, oldest first,
// and then the ended ones that are remembered.
func (q *Queue) Mine(p prompt.Peer) []action.Result {
	if p.InAction || p.UID == action.NoID {
		return nil
	}
	var live []*entry
	var out []action.Result
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.live {
		if e.kase.Requester == p.UID {
			live = append(live, e)
		}
	}
	slices.SortFunc(live, func(a, b *entry) int { return cmp.Compare(a.seq, b.seq) })
	for _, e := range append(live, q.ended[p.UID]...) {
		out = append(out, e.resultNow())
	}
	return out
}

// Result is how far a request of the peer's own has come.
func (q *Queue) Result(p prompt.Peer, id action.RequestID) (action.Result, error) {
	e, err := q.mine(p, id)
	if err != nil {
		return action.Result{}, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return e.resultNow(), nil
}

// Wait is Ticket.Wait for a request of the peer's own.
func (q *Queue) Wait(ctx context.Context, p prompt.Peer, id action.RequestID) (action.Result, error) {
	e, err := q.mine(p, id)
	if err != nil {
		return action.Result{}, err
	}
	return (&Ticket{ID: id, q: q, e: e}).Wait(ctx)
}

// lookUp finds a request, whoever asks.
func (q *Queue) lookUp(id action.RequestID) *entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e := q.live[id]; e != nil {
		return e
	}
	return q.past[id]
}

// mine finds a request of the peer's own, overseen one that he oversees.
func (q *Queue) mine(p prompt.Peer, id action.RequestID) (*entry, error) {
	return q.find(p, id, prompt.Rules.Owns)
}

func (q *Queue) overseen(p prompt.Peer, id action.RequestID) (*entry, error) {
	return q.find(p, id, prompt.Rules.Oversees)
}

func (q *Queue) find(p prompt.Peer, id action.RequestID, may func(prompt.Rules, prompt.Peer, prompt.Case) bool) (*entry, error) {
	now := time.Now()
	if q.guesses.holds(p.UID, now) {
		return nil, refuse(action.ReasonBusy)
	}
	rules := q.policy.Rules()
	e := q.lookUp(id)
	if e == nil || !may(rules, p, e.kase) {
		q.guesses.wrong(p.UID, now)
		return nil, refuse(action.ReasonNotFound)
	}
	return e, nil
}
