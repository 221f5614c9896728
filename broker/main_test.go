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

	"snens/broker"
	"snens/broker/action"
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
	looks      error
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

func eventually(t testing.TB, what string, have func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !have(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("still not: %s", what)
		}
	}
}

func uid() action.UID { return action.UID(os.Getuid()) }
