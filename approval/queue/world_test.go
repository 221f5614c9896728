package queue_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"snens/approval/prompt"
	"snens/approval/queue"
	"snens/approval/store"
	"snens/broker/action"
	"snens/internal/audit"
)

// The people of the tests. ops is the group of the approvers.
const (
	deploy, ann, bob, other, stranger, logged = 1000, 1001, 1003, 1004, 1005, 1006
	ops                                       = 50
)

const ttl = 10 * time.Minute

func peer(u action.UID, groups ...action.GID) prompt.Peer {
	return prompt.Peer{UID: u, GID: action.GID(u), Groups: groups}
}

// plain is a request of uid for "true WORD"; it expires after ttl.
func plain(t testing.TB, uid action.UID, word string, change ...func(*action.Request)) *action.Sealed {
	t.Helper()
	r := action.Request{
		Argv: []string{"true", word}, Executable: action.File{Path: "/bin/true", SHA256: action.DigestOf("x")}, Cwd: "/", Timeout: time.Second,
		Stdin: action.Stdin{Mode: action.StdinNone}, Requester: action.Requester{UID: uid}, Rule: "r", RuleDigest: action.DigestOf("rule"),
		Expires: time.Now().Add(ttl).UTC().Truncate(time.Second), Nonce: action.Nonce{1}, Install: action.InstallID{1},
	}
	for _, c := range change {
		c(&r)
	}
	s, err := action.Seal(r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func detached(r *action.Request) { r.Modes.Detached = true }

// asks is a submission that the group ops may approve.
func asks(s *action.Sealed) queue.Submission {
	return queue.Submission{
		ID: queue.NewID(), Peer: peer(s.Request().Requester.UID), Request: s, About: "Do it", Approvers: []string{"group:ops"},
		Terms: prompt.Terms{From: []prompt.Selector{{Kind: prompt.SelectGID, GID: ops}}, Need: 1, Presence: prompt.PresencePeer},
	}
}

// memory is a Store that outlives its queue. before is asked before each write.
type memory struct {
	mu     sync.Mutex
	files  map[action.RequestID]store.Record
	before func(r *store.Record, remove bool) error
	drops  func(r *store.Record) bool // forgets a write: a broken store
}

func (m *memory) Save(r *store.Record, durable bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.Detached && !durable {
		return errors.New("a detached request must be on the disk")
	}
	if m.before != nil {
		if err := m.before(r, false); err != nil {
			return err
		}
	}
	if m.drops == nil || !m.drops(r) {
		m.files[r.ID] = *r
	}
	return nil
}

func (m *memory) Remove(id action.RequestID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.before != nil {
		if err := m.before(&store.Record{ID: id}, true); err != nil {
			return err
		}
	}
	delete(m.files, id)
	return nil
}

func (m *memory) Load() (found []store.Record, faults []error, err error) {
	for _, r := range m.files {
		found = append(found, r)
	}
	return found, nil, nil
}

func (m *memory) states() (all []action.State) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.files {
		all = append(all, r.State)
	}
	return all
}

// log is an Audit in memory.
type log struct {
	mu       sync.Mutex
	entries  []audit.Entry
	reserved int
	fails    func(audit.Kind) bool // "" asks about a reservation
}

func (l *log) Append(_ time.Time, e audit.Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fails != nil && l.fails(e.Kind) {
		return audit.ErrFull
	}
	l.entries = append(l.entries, e)
	return nil
}

func (l *log) AppendSync(at time.Time, e audit.Entry) error { return l.Append(at, e) }

func (l *log) Reserve() (queue.Reservation, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fails != nil && l.fails("") {
		return nil, audit.ErrFull
	}
	l.reserved++
	return &space{l: l}, nil
}

type space struct {
	l    *log
	used bool
}

func (s *space) Append(_ time.Time, e audit.Entry) error {
	s.l.mu.Lock()
	s.l.entries = append(s.l.entries, e)
	s.l.mu.Unlock()
	s.Release()
	return nil
}

func (s *space) Release() {
	s.l.mu.Lock()
	defer s.l.mu.Unlock()
	if !s.used {
		s.used = true
		s.l.reserved--
	}
}

// kinds are the kinds of records about a request, in order.
func (l *log) kinds(id action.RequestID) (out []audit.Kind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.entries {
		if e.ID == id {
			out = append(out, e.Kind)
		}
	}
	return out
}

// policy is a Policy whose answer the test sets; wait holds it up.
type policy struct {
	mu      sync.Mutex
	rules   prompt.Rules
	changed *queue.Change
	wait    func(s *action.Sealed)
}

func (p *policy) Rules() prompt.Rules { return p.rules }

func (p *policy) StillHolds(_ context.Context, s *action.Sealed) (queue.Change, bool) {
	if p.wait != nil {
		p.wait(s)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changed != nil {
		return *p.changed, false
	}
	return queue.Change{}, true
}

// runner counts the runs. run is what one does; without it, it exits with 0.
type runner struct {
	mu      sync.Mutex
	runs    []action.RequestID
	cleared []action.RequestID
	run     func(ctx context.Context, started func(uint32)) queue.Ending
}

func (r *runner) Run(ctx context.Context, id action.RequestID, _ *action.Sealed, started func(uint32)) queue.Ending {
	r.mu.Lock()
	r.runs = append(r.runs, id)
	r.mu.Unlock()
	if r.run != nil {
		return r.run(ctx, started)
	}
	started(77)
	return queue.Ending{Reason: action.ReasonExited}
}

func (r *runner) Clear(_ context.Context, id action.RequestID) error {
	r.cleared = append(r.cleared, id)
	return nil
}

func (r *runner) ran(id action.RequestID) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, run := range r.runs {
		if run == id {
			n++
		}
	}
	return n
}

// untilStopped runs until its context ends, and ends for that reason.
func untilStopped(ctx context.Context, started func(uint32)) queue.Ending {
	started(78)
	<-ctx.Done()
	return queue.Ending{Reason: queue.WhyEnded(ctx)}
}

// world is a queue and all that it talks to.
type world struct {
	t      testing.TB
	store  *memory
	log    *log
	policy *policy
	runner *runner
	limits queue.Limits
	q      *queue.Queue

	orphaned func() // called when a crash has cut the old queue off

	mu       sync.Mutex
	problems []error
}

func newWorld(t testing.TB, limits queue.Limits) *world {
	t.Helper()
	w := &world{t: t, store: &memory{files: map[action.RequestID]store.Record{}}, log: &log{}, policy: &policy{}, runner: &runner{}, limits: limits}
	w.open()
	t.Cleanup(func() { // also after a failure: the bubble must be empty then
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = w.q.Close(ctx)
	})
	return w
}

func (w *world) open() {
	w.t.Helper()
	q, err := queue.Open(context.Background(), queue.Options{
		Store: w.store, Audit: w.log, Policy: w.policy, Runner: w.runner, Limits: w.limits, Problem: func(err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.problems = append(w.problems, err)
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.q = q
}

// crash opens a new queue on what the old one has written so far. The old one
// goes on among things that nobody looks at any more.
func (w *world) crash() {
	w.t.Helper()
	old := w.q
	w.store.mu.Lock()
	files := maps.Clone(w.store.files)
	w.store.mu.Unlock()
	w.log.mu.Lock()
	entries := slices.Clone(w.log.entries)
	w.log.mu.Unlock()
	w.runner.mu.Lock()
	runs := slices.Clone(w.runner.runs)
	w.runner.mu.Unlock()
	w.store, w.log, w.runner = &memory{files: files, before: w.store.before, drops: w.store.drops}, &log{entries: entries}, &runner{runs: runs, run: w.runner.run}
	if w.orphaned != nil {
		w.orphaned()
	}
	w.closeOld(old)
	w.open()
}

func (w *world) closeOld(old *queue.Queue) {
	if err := old.Close(context.Background()); err != nil {
		w.t.Error(err)
	}
}

// close ends the queue and demands that nothing was wrong with it.
func (w *world) close() {
	w.t.Helper()
	w.closeOld(w.q)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, err := range w.problems {
		w.t.Error(err)
	}
	if w.log.reserved != 0 {
		w.t.Errorf("%d reservations are still held", w.log.reserved)
	}
}

func (w *world) submit(s queue.Submission) *queue.Ticket {
	w.t.Helper()
	ticket, err := w.q.Submit(s)
	if err != nil {
		w.t.Fatal(err)
	}
	return ticket
}

func ballot(s *action.Sealed, p prompt.Peer, d action.Decision) prompt.Ballot {
	b := prompt.Ballot{Peer: p, Decision: d, Digest: s.Digest()}
	if d == action.Approve {
		b.Lifespan = action.Once
	}
	return b
}

// says is an answer of somebody in the group of approvers.
func (w *world) says(s queue.Submission, who action.UID, d action.Decision) (action.State, error) {
	return w.q.Answer(s.ID, ballot(s.Request, peer(who, ops), d), action.Seen{PID: 1})
}

func (w *world) approve(s queue.Submission) {
	w.t.Helper()
	if state, err := w.says(s, ann, action.Approve); err != nil || state != action.Approved {
		w.t.Fatalf("%v %v", state, err)
	}
}

// ends waits for the end and compares it.
func (w *world) ends(ticket *queue.Ticket, s action.State, why action.Reason) action.Result {
	w.t.Helper()
	r, err := ticket.Wait(context.Background())
	if err != nil || r.State != s || r.Reason != why || r.Check() != nil {
		w.t.Fatalf("%+v, %v; want %s: %s", r, err, s, why)
	}
	return r
}

// refused demands a refusal for a reason.
func refused(t testing.TB, err error, why action.Reason) {
	t.Helper()
	var r *queue.Refusal
	if !errors.As(err, &r) || r.Reason != why {
		t.Fatalf("%v, want %s", err, why)
	}
}

func same[T comparable](t testing.TB, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("got %v\nwant %v", fmt.Sprint(got), fmt.Sprint(want))
	}
}

// pass lets the time of the bubble go on.
func pass(d time.Duration) { <-time.After(d) }
