package queue

import (
	"context"
	"time"

	"snens/approval/prompt"
	"snens/approval/store"
	"snens/broker/action"
)

// entry is one request, live or ended.
type entry struct {
	// What never changes.
	id             action.RequestID
	detached       bool
	allowed        bool
	kase           prompt.Case
	key            action.Key
	since          time.Time
	deadline       time.Time // with a monotonic reading
	expires        time.Time // by the wall clock
	about          string
	reasonRequired bool
	approvers      []string
	bytes          int64
	seq            uint64
	lane           chan struct{} // holds a token while somebody writes about the request
	done           chan struct{} // closed when its end was written down
	ended          func()        // called then; nil for nobody

	// Guarded by Queue.mu.
	state   action.State
	request *action.Sealed // nil when it has ended
	claims  action.Claims
	seen    action.Seen
	votes   []prompt.Vote
	counted bool // among its uid's pending ones
	claimed bool // on its way from approved to spent: nothing else may happen
	stop    context.CancelCauseFunc
	result  action.Result
	wake    time.Time // when the sweeper must look at it
	at      int       // in Queue.wakes; -1 when not there
}

// enter and leave hold the lane.
func (e *entry) enter() { e.lane <- struct{}{} }
func (e *entry) leave() { <-e.lane }

// due says that the request is worth nothing any more.
func (e *entry) due(now time.Time) bool {
	return !now.Before(e.deadline) || !now.Round(0).Before(e.expires)
}

// waits says that nothing irrevocable has happened to it. Caller holds mu.
func (e *entry) waits() bool {
	return !e.claimed && (e.state == action.Pending || e.state == action.Approved)
}

// record is the file's content. Caller holds mu.
func (e *entry) record() *store.Record {
	r := &store.Record{
		ID: e.id, State: e.state, Detached: e.detached, Allowed: e.allowed, Case: e.kase, Since: e.since,
		Request: e.request, Claims: e.claims, Seen: e.seen,
		About: e.about, ReasonRequired: e.reasonRequired, Approvers: e.approvers,
	}
	if e.state.Final() {
		r.Result = e.result
	}
	return r
}

// pending is what an approver gets. Caller holds mu.
func (e *entry) pending() prompt.Pending {
	return prompt.Pending{
		ID: e.id, Request: e.request, Claims: e.claims, Seen: e.seen, Since: e.since, About: e.about,
		Need: e.kase.Terms.Need, Presence: e.kase.Terms.Presence, Lifespans: e.kase.Terms.Lifespans,
		ReasonRequired: e.reasonRequired, Approvers: e.approvers, Votes: append([]prompt.Vote(nil), e.votes...),
	}
}

// now is the result so far. Caller holds mu.
func (e *entry) resultNow() action.Result {
	r := e.result
	r.ID, r.State = e.id, e.state
	return r
}

// wakes is a heap of entries by the time at which the sweeper must come.
type wakes []*entry

func (w wakes) Len() int           { return len(w) }
func (w wakes) Less(i, j int) bool { return w[i].wake.Before(w[j].wake) }
func (w wakes) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].at, w[j].at = i, j
}

func (w *wakes) Push(x any) {
	e := x.(*entry)
	e.at = len(*w)
	*w = append(*w, e)
}

func (w *wakes) Pop() any {
	old := *w
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*w = old[:len(old)-1]
	e.at = -1
	return e
}
