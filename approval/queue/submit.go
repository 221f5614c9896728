package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"snens/approval/prompt"
	"snens/broker/action"
	"snens/internal/audit"
)

// Submission is a request that the policy judged, with what its rule says.
type Submission struct {
	ID      action.RequestID // from NewID
	Peer    prompt.Peer      // who asks
	Request *action.Sealed   // Modes.Detached says whether it survives its requester
	Claims  action.Claims
	Seen    action.Seen
	// Allowed: the rule lets it run without asking anybody. The fields below say
	// nothing then.
	Allowed        bool
	Terms          prompt.Terms
	About          string
	ReasonRequired bool
	Approvers      []string // as the policy writes them
	// Ended is called when the request has ended and that was written down; nil
	// for nobody. It must not block. It is not called for a request that Submit
	// refuses, nor for one that goes on in the next process.
	Ended func()
}

// The most that a submission may hold; what prompt.Pending can carry.
const (
	maxApprovers = 256
	maxLifespans = 16
)

// check refuses what the caller got wrong.
func (s *Submission) check() error {
	switch {
	case s.ID.IsZero():
		return errors.New("it has no id")
	case s.Request == nil:
		return errors.New("there is no request in it")
	case s.Peer.UID != s.Request.Request().Requester.UID:
		return errors.New("its peer is not its requester")
	case len(s.Approvers) > maxApprovers || len(s.Terms.From) > 4*maxApprovers || len(s.Terms.Lifespans) > maxLifespans:
		return errors.New("its rule names too many approvers or lifespans")
	case !s.Allowed && (len(s.Terms.From) == 0 || s.Terms.Need < 1 || s.Terms.Need > prompt.MaxNeed || s.Terms.Presence == 0):
		return errors.New("its rule does not say who must answer, and how")
	}
	return s.Claims.Check()
}

// Ticket is how the requester follows his request.
type Ticket struct {
	ID action.RequestID
	// Asked is how many watchers were told who may approve it. 0: nobody who
	// could say yes is there now.
	Asked int
	q     *Queue
	e     *entry
}

// Done is closed when the request has ended and that was written down.
func (t *Ticket) Done() <-chan struct{} { return t.e.done }

// Result is how far the request has come.
func (t *Ticket) Result() action.Result {
	t.q.mu.Lock()
	defer t.q.mu.Unlock()
	return t.e.resultNow()
}

// Wait returns the result when the request has ended. With an error (ctx's, or
// that the queue was closed) it is how far the request has come.
func (t *Ticket) Wait(ctx context.Context) (action.Result, error) {
	select {
	case <-t.e.done:
	case <-ctx.Done():
		return t.Result(), ctx.Err()
	case <-t.q.over:
		select {
		case <-t.e.done:
		default:
			return t.Result(), refuse(action.ReasonShutdown)
		}
	}
	return t.Result(), nil
}

// Leave says that the requester's connection has ended or was half-closed. A
// request that is not detached is cancelled, or its run ended.
func (t *Ticket) Leave() {
	if !t.e.detached {
		t.q.cancel(t.e, action.ReasonRequesterGone)
	}
}

// Room says whether Submit would take the request in now, without taking
// anything: it gives the *Refusal that Submit would give. It is for what should
// be known before more is asked of the requester.
func (q *Queue) Room(s Submission) error {
	now := time.Now()
	e, err := vet(s, now)
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.admit(e, now)
}

// Submit takes a request in: it is pending, or approved when the rule allows it,
// and its run begins by itself. When it returns, a detached request survives
// any crash. An error that is no *Refusal is a fault of the caller's.
func (q *Queue) Submit(s Submission) (*Ticket, error) {
	now := time.Now()
	e, err := vet(s, now)
	if err != nil {
		return nil, err
	}
	e.enter()
	q.mu.Lock()
	why := q.admit(e, now)
	if why == nil {
		q.add(e)
	}
	q.mu.Unlock()
	if why != nil {
		return nil, why
	}
	return q.begin(e, now)
}

// vet refuses what no queue would take, whatever is in it.
func vet(s Submission, now time.Time) (*entry, error) {
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("cannot take the request into the queue: %w", err)
	}
	e := newEntry(s, now)
	switch {
	case s.Peer.InAction || s.Peer.UID == action.NoID:
		return nil, refuse(action.ReasonDenied)
	case !s.Allowed && s.ReasonRequired && !s.Claims.HasReason():
		return nil, refuse(action.ReasonReasonRequired)
	case e.due(now): // whoever asks took his time on the way here
		return nil, refuse(action.ReasonExpired)
	}
	return e, nil
}

func newEntry(s Submission, now time.Time) *entry {
	r := s.Request.Request()
	e := &entry{
		id: s.ID, detached: r.Modes.Detached, allowed: s.Allowed,
		kase: prompt.Case{Requester: r.Requester.UID, Login: s.Seen.Login, Digest: s.Request.Digest(), Terms: s.Terms},
		key:  s.Request.Key(), since: now.UTC(), deadline: now.Add(r.Expires.Sub(now)), expires: r.Expires,
		about: s.About, reasonRequired: s.ReasonRequired, approvers: s.Approvers,
		lane: make(chan struct{}, 1), done: make(chan struct{}), ended: s.Ended,
		state: action.Received, request: s.Request, claims: s.Claims, seen: s.Seen, at: -1,
	}
	if s.Peer.Login.Set { // the kernel's word at accept, wherever it stands
		e.kase.Login = s.Peer.Login
	}
	e.bytes = weigh(s.Request, s.Claims, s.Seen)
	return e
}

// weigh is about how many bytes of memory a live request takes.
func weigh(r *action.Sealed, c action.Claims, s action.Seen) int64 {
	const fixed = 1 << 10 // what every request takes here
	return int64(fixed + 2*len(r.Text()) + len(c.Reason) + len(c.Session) + len(c.Tool) + len(s.Exe) + len(s.Cgroup))
}

// admit says whether there is room. Caller holds mu.
func (q *Queue) admit(e *entry, now time.Time) error {
	uid := e.kase.Requester
	have := q.uids[uid]
	switch first, twice := q.keys[uidKey{uid, e.key}]; {
	case q.closed:
		return refuse(action.ReasonShutdown)
	case q.live[e.id] != nil || q.past[e.id] != nil:
		return refuse(action.ReasonInternal)
	case !e.allowed && twice:
		return &Refusal{Reason: action.ReasonDuplicate, ID: first}
	case !e.allowed && q.cooling[uidKey{uid, e.key}].After(now):
		return refuse(action.ReasonCoolingDown)
	case !e.allowed && have.pending >= q.limits.PendingPerUID,
		have.live >= q.limits.LivePerUID, len(q.live) >= q.limits.Live, q.bytes+e.bytes > q.limits.Bytes:
		return refuse(action.ReasonBusy)
	}
	return nil
}

// begin writes a new request down and opens it to answers. It has the lane.
func (q *Queue) begin(e *entry, now time.Time) (*Ticket, error) {
	to, kind := action.Pending, audit.Pending
	if e.allowed {
		to, kind = action.Approved, audit.Approved
	}
	q.mu.Lock()
	r := e.record()
	q.mu.Unlock()
	r.State = to // the file never says received: nothing is to be taken up that was not acknowledged
	var err error
	if e.detached || !e.allowed {
		err = q.store.Save(r, e.detached)
	}
	if err == nil {
		err = q.audit.Append(now, audit.Entry{Kind: kind, ID: e.id, Digest: e.kase.Digest})
	}
	q.mu.Lock()
	gone := e.state != action.Received // the queue was closed meanwhile
	if err != nil && !gone {
		q.drop(e)
		e.state = action.Denied
		q.unwake(e)
	} else if !gone {
		e.state = to
		q.wakeAt(e, e.deadline) // the sweeper may have come too early
	}
	q.mu.Unlock()
	if err != nil {
		q.fault("record a new request", e.id, err)
		q.fault("forget it", e.id, q.store.Remove(e.id))
		e.leave()
		return nil, refuse(action.ReasonNoRecord)
	}
	asked := 0
	if !gone {
		asked = q.publish(e, prompt.Event{Kind: to.Event(), ID: e.id, State: to})
	}
	e.leave()
	if e.allowed {
		q.goSpend(e)
	}
	return &Ticket{ID: e.id, Asked: asked, q: q, e: e}, nil
}
