package queue

import (
	"container/heap"
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"snens/broker/action"
)

// Queue holds every request from its judgement to the end of what is told about
// it. It is safe for concurrent use.
type Queue struct {
	store   Store
	audit   Audit
	policy  Policy
	runner  Runner
	limits  Limits
	problem func(error)
	guesses *brake
	life    context.Context // of the questions to the policy; ends with die, in Close
	die     context.CancelFunc
	kick    chan struct{} // wakes the sweeper
	quit    chan struct{} // ends it
	over    chan struct{} // closed when nothing runs any more, or Close gave up
	work    sync.WaitGroup

	mu       sync.Mutex // guards what follows and the second half of every entry; nothing is called or written while it is held
	closed   bool
	seq      uint64
	live     map[action.RequestID]*entry
	past     map[action.RequestID]*entry
	ended    map[action.UID][]*entry // of past, oldest first
	bytes    int64
	uids     map[action.UID]count
	keys     map[uidKey]action.RequestID // live requests that people were asked about
	cooling  map[uidKey]time.Time
	wakes    wakes
	watchers map[*Watch]struct{}
}

type (
	uidKey struct {
		uid action.UID
		key action.Key
	}
	count struct{ live, pending int }
)

// NewID is a fresh request id. It is the caller's to make, because the first
// record about a request is written before the policy was asked.
func NewID() (id action.RequestID) {
	_, _ = rand.Read(id[:]) // never fails: the runtime ends the program instead
	return id
}

// Open makes a queue and takes up what the store holds. ctx bounds the questions
// to the policy and the runner about that.
func Open(ctx context.Context, o Options) (*Queue, error) {
	if o.Store == nil || o.Audit == nil || o.Policy == nil || o.Runner == nil {
		return nil, errors.New("cannot open the queue: it needs a store, a log, a policy and a runner")
	}
	if o.Problem == nil {
		o.Problem = func(error) {}
	}
	limits := o.Limits.withDefaults()
	q := &Queue{
		store: o.Store, audit: o.Audit, policy: o.Policy, runner: o.Runner, limits: limits, problem: o.Problem,
		guesses: newBrake(limits.Guesses, limits.GuessEvery),
		kick:    make(chan struct{}, 1), quit: make(chan struct{}), over: make(chan struct{}),
		live: map[action.RequestID]*entry{}, past: map[action.RequestID]*entry{}, ended: map[action.UID][]*entry{},
		uids: map[action.UID]count{}, keys: map[uidKey]action.RequestID{}, cooling: map[uidKey]time.Time{},
		watchers: map[*Watch]struct{}{},
	}
	q.life, q.die = context.WithCancel(context.Background())
	approved, err := q.reopen(ctx)
	if err != nil {
		q.die()
		return nil, err
	}
	q.work.Go(q.sweep)
	for _, e := range approved {
		q.goSpend(e)
	}
	return q, nil
}

// Close ends the queue: waiting requests are cancelled, detached ones stay on
// the disk for the next process, runs are told to end and waited for, as long
// as ctx lasts. Watchers' channels are closed.
func (q *Queue) Close(ctx context.Context) error {
	now := time.Now()
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return nil
	}
	q.closed = true
	var ended []*entry
	var stops []context.CancelCauseFunc
	for _, e := range q.live {
		switch {
		case e.stop != nil:
			stops = append(stops, e.stop)
		case !e.detached && q.finish(e, now, action.Cancelled, action.ReasonShutdown):
			ended = append(ended, e)
		}
	}
	q.mu.Unlock()
	q.die()
	for _, stop := range stops {
		stop(end{action.ReasonShutdown})
	}
	for _, e := range ended {
		q.settle(e, note{})
	}
	close(q.quit)
	done := make(chan struct{})
	go func() {
		q.work.Wait()
		close(done)
	}()
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = errors.New("cannot close the queue in time: runs have not ended")
	}
	close(q.over)
	q.mu.Lock()
	watchers := q.watchers
	q.watchers = map[*Watch]struct{}{}
	q.mu.Unlock()
	for w := range watchers {
		w.close()
	}
	return err
}

// add makes e live. Caller holds mu.
func (q *Queue) add(e *entry) {
	q.seq++
	e.seq = q.seq
	q.live[e.id] = e
	q.bytes += e.bytes
	c := q.uids[e.kase.Requester]
	c.live++
	if !e.allowed {
		c.pending++
		e.counted = true
		q.keys[uidKey{e.kase.Requester, e.key}] = e.id
	}
	q.uids[e.kase.Requester] = c
	q.wakeAt(e, e.deadline)
}

// decided gives back the place of a request that waits for people no more.
// Caller holds mu.
func (q *Queue) decided(e *entry) {
	if e.counted {
		e.counted = false
		c := q.uids[e.kase.Requester]
		c.pending--
		q.uids[e.kase.Requester] = c
	}
}

// drop takes e out of the live ones. Caller holds mu.
func (q *Queue) drop(e *entry) {
	q.decided(e)
	delete(q.live, e.id)
	q.bytes -= e.bytes
	c := q.uids[e.kase.Requester]
	if c.live--; c.live == 0 {
		delete(q.uids, e.kase.Requester)
	} else {
		q.uids[e.kase.Requester] = c
	}
	if k := (uidKey{e.kase.Requester, e.key}); q.keys[k] == e.id {
		delete(q.keys, k)
	}
	e.request, e.claims, e.seen, e.votes, e.stop = nil, action.Claims{}, action.Seen{}, nil, nil
}

// wakeAt has the sweeper look at e at a time. Caller holds mu.
func (q *Queue) wakeAt(e *entry, at time.Time) {
	e.wake = at
	if e.at < 0 {
		heap.Push(&q.wakes, e)
	} else {
		heap.Fix(&q.wakes, e.at)
	}
	if e.at == 0 {
		q.rouse()
	}
}

// rouse has the sweeper look again.
func (q *Queue) rouse() {
	select {
	case q.kick <- struct{}{}:
	default:
	}
}
