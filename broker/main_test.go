package broker_test

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
	"golang.org/x/sys/unix"

	"snens/approval/prompt"
	"snens/broker"
	"snens/broker/action"
	"snens/broker/execute"
	"snens/broker/policy"
	"snens/broker/prepare"
	"snens/internal/accounts"
	"snens/internal/audit"
	"snens/internal/fields"
	"snens/internal/peer"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The uids that need no account here.
const approver, stranger = 54501, 54502

// The rules of the tests; %d is the uid that may ask.
const rulesText = `
[[rule]]
id = "show"
about = "Show a thing"
decision = "allow"
command = "/usr/bin/true"
args = ["show", {slot = "thing", kind = "word", pattern = "[a-z]+", many = 3}, {slot = "n", kind = "int", min = 1, max = 9, optional = true}]
from = ["uid:%[1]d"]
env_pass = ["NOTE"]
detach = true

[[rule]]
id = "restart"
about = "Restart a thing"
decision = "ask"
command = "/usr/bin/true"
args = ["restart", {slot = "unit", kind = "enum", values = ["a.service", "b.service"]}]
from = ["uid:%[1]d"]
stdin = "sealed"
detach = true
approve = {from = ["uid:%[2]d", "group:ops"], ttl = "5m", reason = "required"}

[[rule]]
id = "no-stop"
about = "Nobody stops anything"
decision = "deny"
command = "/usr/bin/true"
args = ["stop"]
from = ["everyone"]
`

// machine is a host on which every path is in order.
type machine struct{}

func (machine) Trusted(string) error { return nil }
func (machine) File(p string) (policy.FileInfo, error) {
	return policy.FileInfo{Real: p, Executable: strings.HasPrefix(p, "/usr/bin/")}, nil
}
func (machine) Beneath(string, string) error { return nil }

func parsePolicy(t testing.TB, text string) *policy.Policy {
	t.Helper()
	host := policy.Host{Files: machine{}, Accounts: policy.FromDB(accounts.Parse("root:x:0:0::/root:/bin/sh\n", "root:x:0:\nops:x:54550:\n"))}
	p, err := policy.Parse([]policy.File{{Path: "/etc/snens/priv.toml", Text: text}}, host, policy.Options{})
	must(t, err)
	return p
}

// world is a Server among doubles. The fields of behaviour are set before the
// first request.
type world struct {
	t      testing.TB
	s      *broker.Server
	path   string
	policy atomic.Pointer[policy.Policy]
	closer *wire.Closer
	stop   func() // ends Serve and waits for it

	inAction   bool
	room       error // what Room of the queue says
	keeperRoom error
	keepFails  error
	submits    error
	makes      func(a prepare.Ask) (*prepare.Prepared, error) // nil: as a Maker would, without files
	logFails   func(e audit.Entry) bool
	reload     func() (int, []string)
	mine       []action.Result

	mu       sync.Mutex
	steps    []string // what was called, in order
	entries  []audit.Entry
	made     []prepare.Ask
	files    []int // how many descriptors were kept, each time
	sent     []broker.Submission
	tickets  chan *ticket
	problems []error
	kept     map[action.RequestID]bool
}

func newWorld(t testing.TB, change ...func(*world, *broker.Options)) *world {
	t.Helper()
	w := &world{t: t, closer: wire.NewCloser(), tickets: make(chan *ticket, 100), kept: map[action.RequestID]bool{}}
	w.policy.Store(parsePolicy(t, fmt.Sprintf(rulesText, os.Getuid(), approver)))
	o := broker.Options{
		Policy: w.policy.Load, Maker: maker{w}, Queue: queued{w}, Requests: requests{w}, Keeper: keeper{w}, Log: logged{w},
		NewID:    func() (id action.RequestID) { id[0] = 1; id[15] = byte(len(w.ids()) + 1); return id },
		InAction: func(*peer.Peer) bool { return w.inAction },
		Status:   func() strictjson.Value { return fields.Object(fields.Member("fine", fields.Bool(true))) },
		Reload:   func() (int, []string) { return w.reload() },
		Closer:   w.closer, Drain: 200 * time.Millisecond,
		Problem: func(err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.problems = append(w.problems, err)
		},
	}
	for _, c := range change {
		c(w, &o)
	}
	var err error
	w.s, err = broker.New(o)
	must(t, err)
	w.path, w.stop = serve(t, w.s)
	t.Cleanup(func() {
		w.stop()
		w.s.Close()
		must(t, w.closer.Wait(context.Background()))
	})
	return w
}

// serve serves a socket that all may connect to. stop ends that.
func serve(t testing.TB, s *broker.Server) (path string, stop func()) {
	t.Helper()
	dir, err := os.MkdirTemp("", "broker-")
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

func (w *world) step(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps = append(w.steps, fmt.Sprintf(format, args...))
}

// What was seen so far; the lock is what orders it after its writing.
func (w *world) ids() []broker.Submission { return seen(w, &w.sent) }
func (w *world) did() []string            { return seen(w, &w.steps) }
func (w *world) records() []audit.Entry   { return seen(w, &w.entries) }
func (w *world) asks() []prepare.Ask      { return seen(w, &w.made) }
func (w *world) told() []error            { return seen(w, &w.problems) }

func seen[T any](w *world, list *[]T) []T {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(*list)
}

// counted is how often a refusal was counted, once the server was closed.
func (w *world) counted(why action.Reason) (n uint64) {
	w.stop()
	w.s.Close()
	for _, e := range w.records() {
		for _, r := range e.Reasons {
			if r.Reason == why {
				n += r.Count
			}
		}
	}
	return n
}

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
	l.step("record %s", e.Kind)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, e)
	return nil
}

type keeper struct{ *world }

func (k keeper) Room(uint32) error { return k.keeperRoom }

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

// client is the other end of a connection.
type client struct {
	*wire.Conn
	t    testing.TB
	uc   *net.UnixConn
	next wire.ID
}

func (w *world) dial() *client { w.t.Helper(); return dial(w.t, w.path) }

// dial connects as the uid of the tests, and greets.
func dial(t testing.TB, path string) *client {
	t.Helper()
	uc, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	must(t, err)
	return greet(t, uc)
}

func greet(t testing.TB, uc *net.UnixConn) *client {
	t.Helper()
	c := &client{t: t, uc: uc}
	var err error
	c.Conn, err = wire.New(uc, wire.Options{})
	must(t, err)
	t.Cleanup(func() { c.Close() })
	_, err = c.Hello()
	must(t, err)
	return c
}

// connectAs connects as somebody: the kernel asks the thread that connects, and
// that thread is not used again.
func connectAs(t testing.TB, path string, uid, gid int, groups ...int) *net.UnixConn {
	t.Helper()
	type dialed struct {
		fd  int
		err error
	}
	out := make(chan dialed)
	go func() {
		runtime.LockOSThread()
		list := make([]uint32, len(groups)+1)
		for i, g := range groups {
			list[i] = uint32(g)
		}
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		for _, e := range []unix.Errno{setgroups(list[:len(groups)]), raw(unix.SYS_SETRESGID, gid), raw(unix.SYS_SETRESUID, uid)} {
			if e != 0 && err == nil {
				err = e
			}
		}
		if err == nil {
			err = unix.Connect(fd, &unix.SockaddrUnix{Name: path})
		}
		out <- dialed{fd, err}
	}()
	d := <-out
	must(t, d.err)
	f := os.NewFile(uintptr(d.fd), path)
	defer f.Close()
	c, err := net.FileConn(f)
	must(t, err)
	return c.(*net.UnixConn)
}

// ask sends a request and gives its only answer.
func (c *client) ask(method, params string) wire.Reply {
	c.t.Helper()
	c.send(method, params)
	return c.last()
}

func (c *client) send(method, params string) {
	c.t.Helper()
	v, err := strictjson.Parse([]byte(params), strictjson.Options{})
	must(c.t, err)
	c.next++
	must(c.t, c.Send(wire.Request{ID: c.next, Method: method, Params: v}))
}

// last reads the last answer to the last request.
func (c *client) last() wire.Reply {
	c.t.Helper()
	r := c.read()
	if r.More || r.ID != c.next {
		c.t.Fatalf("answer %d (more %t) %s, want the last one to %d", r.ID, r.More, said(r), c.next)
	}
	return r
}

func (c *client) read() wire.Reply {
	c.t.Helper()
	r, err := c.ReadReply(30 * time.Second)
	must(c.t, err)
	return r
}

// start sends a run and does the step for descriptors. The answers are to be read.
func (c *client) start(params string, fds ...int) {
	c.t.Helper()
	c.send("run", params)
	r := c.read()
	if !r.More || said(r) != `{"state":"send_fds"}` {
		c.t.Fatalf("told %s, want send_fds", said(r))
	}
	must(c.t, c.SendFDs(fds...))
}

// said is what an answer says.
func said(r wire.Reply) string {
	if r.Err == nil {
		return string(r.Result.JSON())
	}
	s := string(r.Err.Code) + ": " + r.Err.Message
	if r.Err.Detail != nil {
		s += " " + string(r.Err.Detail.JSON())
	}
	return s
}

// says demands an answer.
func says(t testing.TB, r wire.Reply, want string) {
	t.Helper()
	if got := said(r); got != want {
		t.Errorf("told %s\nwant %s", got, want)
	}
}

// ends demands that the server hangs up, and gives what it said before.
func (c *client) ends() (why []wire.Reply) {
	c.t.Helper()
	for {
		r, err := c.ReadReply(30 * time.Second)
		if err != nil {
			if e, ok := err.(*wire.Error); ok {
				return append(why, wire.Reply{Err: e})
			}
			return why
		}
		why = append(why, r)
	}
}

func eventually(t testing.TB, what string, have func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !have(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("still not: %s", what)
		}
	}
}

func uid() action.UID { return action.UID(os.Getuid()) }
