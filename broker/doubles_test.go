package broker_test

import (
	"context"
	"time"

	"snens/approval/prompt"
	"snens/broker"
	"snens/broker/action"
	"snens/broker/execute"
	"snens/broker/policy"
	"snens/broker/prepare"
	"snens/internal/audit"
)

type maker struct{ *world }

func (m maker) Judge(a prepare.Ask) policy.Judgement {
	return m.policy.Load().Judge(policy.Request{From: a.From, Argv: a.Argv, Rule: a.Rule, Slots: a.Slots})
}

func (m maker) Make(_ context.Context, a prepare.Ask, j policy.Judgement, now time.Time) (*prepare.Prepared, error) {
	m.step("make")
	m.mu.Lock()
	m.made = append(m.made, a)
	m.mu.Unlock()
	if m.makes != nil {
		if p, err := m.makes(a); p != nil || err != nil {
			return p, err
		}
	}
	s, err := action.Seal(action.Request{
		Argv: j.Argv, Executable: action.File{Path: j.Rule.Command, SHA256: action.DigestOf("x")}, Cwd: "/", Timeout: time.Second,
		Stdin: action.Stdin{Mode: action.StdinNone}, Requester: action.Requester(a.From), Rule: j.Rule.ID, RuleDigest: j.Rule.Digest,
		Modes:   action.Modes{Detached: a.Detach},
		Expires: now.Add(time.Minute).UTC().Truncate(time.Second), Nonce: action.Nonce{1}, Install: action.InstallID{1},
	})
	must(m.t, err)
	return &prepare.Prepared{Rule: j.Rule, Request: s}, nil
}

type logged struct{ *world }

func (l logged) Append(_ time.Time, e audit.Entry) error {
	if l.logFails != nil && l.logFails(e) {
		return audit.ErrFull
	}
	if e.Kind != audit.RefusedSummary { // which comes when it is time
		l.step("record %s", e.Kind)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, e)
	return nil
}

type keeper struct{ *world }

func (k keeper) Room(uint32) error { return k.keeperRoom }

func (k keeper) Look(uint32, int, int) error { return k.looks }

func (k keeper) Keep(id action.RequestID, uid uint32, h execute.Held) error {
	k.step("keep")
	k.mu.Lock()
	if h.Files != nil {
		k.files = append(k.files, h.Files.Len())
	}
	k.kept[id] = k.keepFails == nil
	k.mu.Unlock()
	h.Files.Close()
	for _, f := range h.Opened {
		f.Close()
	}
	return k.keepFails
}

func (k keeper) Drop(id action.RequestID) {
	k.step("drop")
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept[id] = false
}

func (k keeper) keeps(id action.RequestID) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.kept[id]
}

type queued struct{ *world }

func (q queued) Room(broker.Submission) error { return q.room }

func (q queued) Submit(s broker.Submission) (broker.Ticket, int, error) {
	q.step("submit")
	if q.submits != nil {
		return nil, 0, q.submits
	}
	t := &ticket{id: s.ID, ended: s.Ended, done: make(chan struct{}), left: make(chan struct{}, 1)}
	q.mu.Lock()
	if !q.kept[s.ID] {
		q.t.Error("submitted before its descriptors were kept")
	}
	q.sent = append(q.sent, s)
	q.mu.Unlock()
	q.tickets <- t
	return t, 2, nil
}

// ticket is a Ticket that the test ends.
type ticket struct {
	id     action.RequestID
	ended  func()
	done   chan struct{}
	left   chan struct{}
	result action.Result // set before done
}

func (t *ticket) Done() <-chan struct{} { return t.done }
func (t *ticket) Result() action.Result { return t.result }
func (t *ticket) Leave() {
	select {
	case t.left <- struct{}{}:
	default:
	}
}

// end ends the request.
func (t *ticket) end(s action.State, why action.Reason) {
	t.result = action.Result{ID: t.id, State: s, Reason: why, Ended: time.Unix(1, 0)}
	close(t.done)
	t.ended()
}

// refused is a refusal of the queue's.
type refused struct {
	why action.Reason
	id  action.RequestID
}

func (r refused) Error() string                              { return r.why.Text() }
func (r refused) Refused() (action.Reason, action.RequestID) { return r.why, r.id }

// requests knows the requests in mine.
type requests struct{ *world }

func (r requests) Mine(prompt.Peer) []action.Result { return r.mine }

func (r requests) Result(_ prompt.Peer, id action.RequestID) (action.Result, error) {
	for _, m := range r.mine {
		if m.ID == id {
			return m, nil
		}
	}
	return action.Result{}, refused{why: action.ReasonNotFound}
}

func (r requests) Wait(ctx context.Context, p prompt.Peer, id action.RequestID) (action.Result, error) {
	r.step("wait")
	<-ctx.Done()
	r.step("waited")
	return action.Result{}, ctx.Err()
}

func (r requests) Cancel(p prompt.Peer, id action.RequestID) error {
	if _, err := r.Result(p, id); err != nil {
		return err
	}
	r.step("cancel %s", id)
	return nil
}
