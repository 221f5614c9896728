package approval_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"snens/approval"
	"snens/approval/prompt"
	"snens/approval/queue"
	"snens/approval/store"
	"snens/broker/action"
	"snens/internal/audit"
	"snens/internal/peer"
	"snens/internal/testneed"
	"snens/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Uids and gids that no account of the system has. asker and twin are one person;
// bob approves something else.
const (
	asker    = 54601
	twin     = 54602
	ann      = 54603
	carl     = 54604 // by his group
	bob      = 54605
	stranger = 54606
	ops      = 54650
)

// approvers are those of the requests of the tests. The requester's person is
// among them, as the rule's author did not think of it.
var approvers = []prompt.Selector{
	{Kind: prompt.SelectUID, UID: ann},
	{Kind: prompt.SelectUID, UID: asker},
	{Kind: prompt.SelectUID, UID: twin},
	{Kind: prompt.SelectGID, GID: ops},
}

// world is a Server over a queue, on disks of its own. Without disk no request
// is written down, and nothing recorded.
type world struct {
	t      testing.TB
	s      *approval.Server
	q      *queue.Queue
	path   string
	log    *audit.Writer
	logs   string
	state  string
	rules  prompt.Rules
	limits queue.Limits
	disk   bool
	huge   bool   // a request waits that cannot be shown
	stop   func() // ends Serve and waits for it
	close  func() // ends all

	run     func(ctx context.Context, started func(uint32)) queue.Ending // nil: exits at once
	ran     atomic.Int32
	watches atomic.Int32 // subscriptions that go on

	mu       sync.Mutex
	no       []action.UID // whom Holds does not let in any more; guarded by mu
	problems []error      // guarded by mu
}

// watched counts the subscriptions.
type watched struct {
	approval.Watch
	w    *world
	once sync.Once
}

func (c *watched) Close() {
	c.Watch.Close()
	c.once.Do(func() { c.w.watches.Add(-1) })
}

type asQueue struct {
	*queue.Queue
	w *world
}

func (q asQueue) Watch(p prompt.Peer) (approval.Watch, error) {
	w, err := q.Queue.Watch(p)
	if err != nil {
		return nil, err
	}
	q.w.watches.Add(1)
	return &watched{Watch: w, w: q.w}, nil
}

func (w *world) Rules() prompt.Rules { return w.rules }

func (w *world) StillHolds(context.Context, *action.Sealed) (queue.Change, bool) {
	return queue.Change{}, true
}

func (w *world) Run(ctx context.Context, _ action.RequestID, _ *action.Sealed, started func(uint32)) queue.Ending {
	w.ran.Add(1)
	if w.run != nil {
		return w.run(ctx, started)
	}
	started(77)
	return queue.Ending{Reason: action.ReasonExited}
}

func (w *world) Clear(context.Context, action.RequestID) error { return nil }

// untilStopped is a run that ends when it is told to.
func untilStopped(ctx context.Context, started func(uint32)) queue.Ending {
	started(78)
	<-ctx.Done()
	return queue.Ending{Reason: queue.WhyEnded(ctx)}
}

// forgetful is a Store without a disk.
type forgetful struct{}

func (forgetful) Save(*store.Record, bool) error         { return nil }
func (forgetful) Remove(action.RequestID) error          { return nil }
func (forgetful) Load() ([]store.Record, []error, error) { return nil, nil, nil }

// mute is an Audit that keeps nothing.
type mute struct{}

func (mute) Append(time.Time, audit.Entry) error     { return nil }
func (mute) AppendSync(time.Time, audit.Entry) error { return nil }
func (mute) Reserve() (queue.Reservation, error)     { return mute{}, nil }
func (mute) Release()                                {}

func newWorld(t testing.TB, change ...func(*world, *approval.Options)) *world {
	t.Helper()
	testneed.Root(t)
	w := &world{t: t, disk: true}
	var err error
	w.rules.Persons, err = prompt.NewPersons([]prompt.Person{{Name: "ada", UIDs: []action.UID{asker, twin}}})
	must(t, err)
	o := approval.Options{
		Holds: w.holds, InAction: func(*peer.Peer) bool { return false },
		Log: mute{}, Closer: wire.NewCloser(), Problem: w.problem,
	}
	for _, c := range change {
		c(w, &o)
	}
	qo := queue.Options{Store: forgetful{}, Audit: mute{}, Policy: w, Runner: w, Limits: w.limits, Problem: w.problem}
	closeDisk := func() {}
	if w.disk {
		closeDisk = w.openDisk(&qo)
		o.Log = w.log
	}
	w.q, err = queue.Open(t.Context(), qo)
	must(t, err)
	o.Queue = asQueue{w.q, w}
	if w.huge {
		o.Queue = huge{asQueue{w.q, w}}
	}
	w.s, err = approval.New(o)
	must(t, err)
	w.path, w.stop = serve(t, w.s)
	w.close = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		w.stop()
		must(t, w.q.Close(ctx))
		w.s.Close()
		must(t, o.Closer.Wait(ctx))
		closeDisk()
		if n := w.watches.Load(); n != 0 {
			t.Errorf("%d subscriptions are left", n)
		}
	})
	t.Cleanup(w.close)
	return w
}

// openDisk makes the store and the log.
func (w *world) openDisk(o *queue.Options) (closes func()) {
	dir := w.t.TempDir()
	w.logs, w.state = filepath.Join(dir, "log"), filepath.Join(dir, "state")
	for _, d := range []string{w.logs, w.state} {
		must(w.t, os.Mkdir(d, 0o700))
	}
	var err error
	w.log, err = audit.Open(audit.Options{Dir: w.logs, StateDir: w.state}, time.Now())
	must(w.t, err)
	kept, err := store.Open(filepath.Join(w.state, "requests"))
	must(w.t, err)
	o.Store, o.Audit = kept, queue.Log(w.log)
	return func() {
		must(w.t, kept.Close())
		must(w.t, w.log.Close())
	}
}

// holds is what the policy would say: root, the approvers, and bob.
func (w *world) holds(p prompt.Peer) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.Contains(w.no, p.UID) {
		return false
	}
	return p.UID == 0 || p.UID == bob || slices.ContainsFunc(approvers, func(s prompt.Selector) bool {
		return s.Kind == prompt.SelectUID && s.UID == p.UID || s.Kind == prompt.SelectGID && slices.Contains(p.Groups, s.GID)
	})
}

func (w *world) problem(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems = append(w.problems, err)
}

// serve serves a socket that all may connect to. stop ends that.
func serve(t testing.TB, s *approval.Server) (path string, stop func()) {
	t.Helper()
	dir, err := os.MkdirTemp("", "approval-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	path = filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	must(t, err)
	must(t, os.Chmod(path, 0o666))
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	return path, sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		l.Close()
	})
}

// submission is a request of uid for "true WORD" that the approvers may answer.
func (w *world) submission(uid action.UID, word string) queue.Submission {
	w.t.Helper()
	s, err := action.Seal(action.Request{
		Argv: []string{"true", word}, Executable: action.File{Path: "/bin/true", SHA256: action.DigestOf("x")}, Cwd: "/", Timeout: time.Minute,
		Stdin: action.Stdin{Mode: action.StdinNone}, Requester: action.Requester{UID: uid}, Rule: "r", RuleDigest: action.DigestOf("rule"),
		Expires: time.Now().Add(10 * time.Minute).UTC().Truncate(time.Second), Nonce: action.Nonce{1}, Install: action.InstallID{1},
	})
	must(w.t, err)
	return queue.Submission{
		ID: queue.NewID(), Peer: prompt.Peer{UID: uid}, Request: s, About: "Do it", Approvers: []string{"group:ops"},
		Terms: prompt.Terms{From: approvers, Need: 1, Presence: prompt.PresencePeer},
	}
}

// pending is a request of asker that waits.
func (w *world) pending(word string, change ...func(*queue.Submission)) (queue.Submission, *queue.Ticket) {
	w.t.Helper()
	s := w.submission(asker, word)
	for _, c := range change {
		c(&s)
	}
	ticket, err := w.q.Submit(s)
	must(w.t, err)
	return s, ticket
}

// yes and no are the parameters of an answer, with what else there is.
func yes(s queue.Submission, more ...string) string {
	return no(s, append([]string{`"lifespan":"once"`}, more...)...)
}

func no(s queue.Submission, more ...string) string {
	decision := "deny"
	if len(more) > 0 && strings.HasPrefix(more[0], `"lifespan"`) {
		decision = "approve"
	}
	params := append([]string{fmt.Sprintf(`"request":%q,"decision":%q,"digest":%q`, s.ID, decision, s.Request.Digest())}, more...)
	return "{" + strings.Join(params, ",") + "}"
}

// about are the parameters of a method about one request.
func about(id action.RequestID) string { return fmt.Sprintf(`{"request":%q}`, id) }

// records are those of the log, once all is closed.
func (w *world) records() (all []audit.Record) {
	w.t.Helper()
	w.close()
	head, err := audit.ReadHead(w.state)
	must(w.t, err)
	_, err = audit.Verify(w.logs, &head)
	must(w.t, err)
	segments, err := audit.Segments(w.logs)
	must(w.t, err)
	for _, s := range segments {
		data, err := os.ReadFile(filepath.Join(w.logs, s.Name))
		must(w.t, err)
		for line := range strings.Lines(string(data)) {
			r, err := audit.ParseRecord([]byte(line))
			must(w.t, err)
			all = append(all, r)
		}
	}
	return all
}

// kinds are those of the records about a request.
func kinds(all []audit.Record, id action.RequestID) string {
	var out []string
	for _, r := range all {
		if r.ID == id {
			out = append(out, string(r.Kind))
		}
	}
	return strings.Join(out, " ")
}

// counted is how often a refusal was counted.
func counted(all []audit.Record, uid action.UID, why action.Reason) (n uint64) {
	for _, r := range all {
		for _, c := range r.Reasons {
			if r.UID == uid && c.Reason == why {
				n += c.Count
			}
		}
	}
	return n
}

func eventually(t testing.TB, what string, have func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !have(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("still not: %s", what)
		}
	}
}
