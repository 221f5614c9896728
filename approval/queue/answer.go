package queue

import (
	"time"

	"snens/approval/prompt"
	"snens/broker/action"
	"snens/internal/audit"
)

// maxCooling bounds the memory for denials; only people make entries.
const maxCooling = 10_000

// Answer takes the answer of an approver, whose signature (if there is one) the
// caller has checked, and returns the state to which it
// brought the request: pending when others must answer too. When it returns
// approved the run has not begun; what comes of it the watchers are told.
func (q *Queue) Answer(id action.RequestID, b prompt.Ballot, seen action.Seen) (action.State, error) {
	now := time.Now()
	if q.guesses.holds(b.Peer.UID, now) {
		return 0, refuse(action.ReasonBusy)
	}
	rules := q.policy.Rules()
	e := q.lookUp(id)
	if e == nil || b.Peer.UID == action.NoID || rules.Judge(b, e.kase, nil).Reason() == action.ReasonNotFound {
		q.guesses.wrong(b.Peer.UID, now)
		return 0, refuse(action.ReasonNotFound)
	}
	e.enter()
	state, ended, err := q.vote(e, rules, b, seen)
	e.leave()
	switch {
	case ended:
		q.settle(e, note{uid: b.Peer.UID})
	case err == nil && state == action.Approved:
		q.goSpend(e)
	}
	return state, err
}

// vote judges a ballot, writes it down and counts it. It has the lane. ended:
// the request must be settled.
func (q *Queue) vote(e *entry, rules prompt.Rules, b prompt.Ballot, seen action.Seen) (state action.State, ended bool, err error) {
	now := time.Now()
	q.mu.Lock()
	open := e.state == action.Pending && !e.due(now) && !q.closed
	votes := append([]prompt.Vote(nil), e.votes...)
	q.mu.Unlock()
	if !open {
		return 0, false, refuse(action.ReasonGone)
	}
	ruling := rules.Judge(b, e.kase, votes)
	vote, counts := ruling.Vote()
	if !counts {
		q.guesses.wrong(b.Peer.UID, now) // or he fills the log
		q.fault("record a refused answer", e.id, q.audit.Append(now, audit.Entry{
			Kind: audit.VoteRefused, ID: e.id, UID: b.Peer.UID, Reason: ruling.Reason(), Digest: b.Digest, Principal: b.Principal, Seen: &seen,
		}))
		return 0, false, refuse(ruling.Reason())
	}
	record := audit.Entry{
		Kind: audit.Vote, ID: e.id, UID: b.Peer.UID, Digest: e.kase.Digest, Vote: vote.Decision,
		Principal: b.Principal, Presence: e.kase.Terms.Presence.String(), Seen: &seen,
	}
	if err := q.audit.Append(now, record); err != nil {
		q.fault("record an answer", e.id, err)
		if vote.Decision != action.Deny { // a no needs no record to be one
			return 0, false, refuse(action.ReasonNoRecord)
		}
	}
	return q.count(e, b.Peer.UID, append(votes, vote))
}

// count lets the votes have their effect, unless the request ended while the
// last was written down. It has the lane.
func (q *Queue) count(e *entry, uid action.UID, votes []prompt.Vote) (state action.State, ended bool, err error) {
	now := time.Now()
	outcome, lifespan := prompt.Tally(e.kase.Terms.Need, votes)
	q.mu.Lock()
	switch {
	case e.state != action.Pending || e.due(now) || q.closed:
		err = refuse(action.ReasonGone)
	case outcome == prompt.Denied:
		ended = q.finish(e, now, action.Denied, action.ReasonApproverDenied)
		if len(q.cooling) < maxCooling {
			q.cooling[uidKey{e.kase.Requester, e.key}] = now.Add(q.limits.CoolDown)
		}
	case outcome.Allows():
		e.state, e.votes = action.Approved, votes
		q.decided(e)
	default:
		e.votes = votes
	}
	state = e.state
	q.mu.Unlock()
	switch {
	case err != nil:
		return 0, false, err
	case ended:
	case state == action.Approved:
		if err := q.audit.Append(now, audit.Entry{Kind: audit.Approved, ID: e.id, Digest: e.kase.Digest, Lifespan: lifespan}); err != nil {
			q.fault("record an approval", e.id, err)
			return 0, q.deny(e, action.ReasonNoRecord), refuse(action.ReasonNoRecord)
		}
		q.publish(e, prompt.Event{Kind: action.EventApproved, ID: e.id, State: state})
	default:
		q.publish(e, prompt.Event{Kind: action.EventVote, ID: e.id, State: state})
	}
	return state, ended, nil
}

// deny finishes a request that cannot be recorded. True: settle it.
func (q *Queue) deny(e *entry, why action.Reason) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	e.claimed = false
	return q.finish(e, time.Now(), action.Denied, why)
}
