package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"snens/approval/store"
	"snens/broker/action"
	"snens/internal/audit"
)

// reopen takes up what an earlier process left, and returns what is to run. It
// is called before anybody else knows the queue.
func (q *Queue) reopen(ctx context.Context) (approved []*entry, err error) {
	found, faults, err := q.store.Load()
	if err != nil {
		return nil, fmt.Errorf("cannot open the queue: %w", err)
	}
	for _, fault := range faults {
		q.problem(fault)
	}
	slices.SortFunc(found, func(a, b store.Record) int { return cmp.Or(a.Since.Compare(b.Since), slices.Compare(a.ID[:], b.ID[:])) })
	for i := range found {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("cannot open the queue: %w", err)
		}
		if e := q.takeUp(ctx, &found[i]); e != nil {
			approved = append(approved, e)
		}
	}
	return approved, nil
}

// takeUp gives one request the state that it has after a death of the process,
// and returns it when it is to run.
func (q *Queue) takeUp(ctx context.Context, r *store.Record) *entry {
	e, now := restored(r), time.Now()
	if r.State.Final() {
		q.restorePast(e, now)
		return nil
	}
	to, why, n := q.fate(ctx, e, r, now)
	e.enter()
	q.mu.Lock()
	q.add(e)
	if to == action.Pending || to == action.Approved {
		e.state = to
		q.mu.Unlock()
		kind := audit.Kind(to.String())
		q.fault("record that a request was taken up again", e.id, q.audit.Append(now, audit.Entry{Kind: kind, ID: e.id, Digest: e.kase.Digest, Detail: detailOf(kind)}))
		e.leave()
		if e.allowed {
			return e
		}
		return nil
	}
	ended := q.finish(e, now, to, why)
	q.mu.Unlock()
	e.leave()
	if !ended { // cannot be: fate follows the table of states
		q.fault("end a request that was found", e.id, errors.New("the state "+r.State.String()+" does not lead to "+to.String()))
		return nil
	}
	q.settle(e, n)
	return nil
}

// detailOf is the remark in a record; a pending one has no room for it.
func detailOf(k audit.Kind) string {
	if k == audit.Approved {
		return "taken up again after a restart"
	}
	return ""
}

// fate is what becomes of a request that has not ended.
func (q *Queue) fate(ctx context.Context, e *entry, r *store.Record, now time.Time) (action.State, action.Reason, note) {
	switch {
	case r.State == action.Spent || r.State == action.Running:
		q.fault("end what is left of a run", e.id, q.runner.Clear(ctx, e.id))
		return action.Lost, action.ReasonLost, note{detail: "the process that ran it is gone"}
	case !r.Detached:
		return action.Cancelled, action.ReasonDaemonRestart, note{}
	case e.due(now):
		return action.Expired, action.ReasonExpired, note{}
	}
	if change, holds := q.policy.StillHolds(ctx, r.Request); !holds {
		if !change.Reason.Explains(action.Stale) {
			change.Reason = action.ReasonStaleRule
		}
		return action.Stale, change.Reason, note{newDigest: change.NewDigest, detail: change.Detail}
	}
	if r.Allowed {
		return action.Approved, 0, note{}
	}
	return action.Pending, 0, note{}
}

// restored makes an entry of a record. The time that it may still wait is never
// longer than it was in the beginning, whatever happened to the clock.
func restored(r *store.Record) *entry {
	now := time.Now()
	e := &entry{
		id: r.ID, detached: r.Detached, allowed: r.Allowed, kase: r.Case, since: r.Since,
		about: r.About, reasonRequired: r.ReasonRequired, approvers: r.Approvers,
		lane: make(chan struct{}, 1), done: make(chan struct{}),
		state: r.State, request: r.Request, claims: r.Claims, seen: r.Seen, result: r.Result, at: -1,
	}
	if r.Request != nil {
		e.key = r.Request.Key()
		e.expires = r.Request.Request().Expires
		left := min(e.expires.Sub(now), e.expires.Sub(r.Since))
		e.deadline = now.Add(left)
		e.bytes = weigh(r.Request, r.Claims, r.Seen)
	}
	return e
}

// restorePast remembers a result for as long as it would have been.
func (q *Queue) restorePast(e *entry, now time.Time) {
	close(e.done)
	left := min(e.result.Ended.Add(q.limits.KeepResult).Sub(now), q.limits.KeepResult)
	q.mu.Lock()
	q.remember(e, now.Add(left))
	q.mu.Unlock()
}
