package broker_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snens/approval/prompt"
	"snens/approval/queue"
	"snens/approval/store"
	"snens/broker"
	"snens/broker/action"
	"snens/broker/execute"
	"snens/broker/policy"
	"snens/broker/prepare"
	"snens/internal/accounts"
	"snens/internal/audit"
	"snens/internal/fields"
	"snens/internal/peer"
	"snens/internal/spawn"
	"snens/internal/strictjson"
	"snens/internal/testneed"
	"snens/internal/wire"
)

const requester = 54503

// The rules of the whole: DIR/bin/sh is a copy of the shell.
const realRules = `
[[rule]]
id = "now"
about = "Run at once"
decision = "allow"
command = "DIR/bin/sh"
args = ["-c", {slot = "text", kind = "word", pattern = ".*", max = 200}]
from = ["uid:54503", "uid:54502"]
env_pass = ["NOTE"]
stdin = "pass"
detach = true
i_know = true

[[rule]]
id = "asked"
about = "Run when somebody said so"
decision = "ask"
command = "DIR/bin/sh"
args = ["-e", "-c", {slot = "text", kind = "word", pattern = ".*", max = 200}]
from = ["uid:54503"]
approve = {from = ["uid:54501"]}
detach = true
i_know = true

[[rule]]
id = "read"
about = "Read a file of one's own"
decision = "allow"
command = "DIR/bin/cat"
args = [{slot = "file", kind = "path", beneath = "DIR", as = "fd"}]
from = ["uid:54503"]
i_know = true
`

// whole is a Server with all that it stands on.
type whole struct {
	t     *testing.T
	dir   string
	path  string
	queue *queue.Queue
	x     *execute.Executor
	logs  string
	state string
	log   *audit.Writer
	close func()
}

type (
	wholeQueue  struct{ *queue.Queue }
	wholeRunner struct{ *execute.Executor }
	wholePolicy struct{ *prepare.Maker }
)

func (q wholeQueue) Room(s broker.Submission) error { return q.Queue.Room(queue.Submission(s)) }

func (q wholeQueue) Submit(s broker.Submission) (broker.Ticket, int, error) {
	t, err := q.Queue.Submit(queue.Submission(s))
	if err != nil {
		return nil, 0, err
	}
	return t, t.Asked, nil
}

func (r wholeRunner) Run(ctx context.Context, id action.RequestID, s *action.Sealed, started func(uint32)) queue.Ending {
	return queue.Ending(r.Executor.Run(ctx, id, s, started))
}

func (wholePolicy) Rules() prompt.Rules { return prompt.Rules{} }

func (p wholePolicy) StillHolds(ctx context.Context, s *action.Sealed) (queue.Change, bool) {
	c, holds := p.Maker.StillHolds(ctx, s)
	return queue.Change(c), holds
}

func newWhole(t *testing.T) *whole {
	t.Helper()
	testneed.Root(t)
	w := &whole{t: t}
	w.folders()
	p := w.policy()
	// Without control groups: the groups of this machine may be those of another
	// broker too, which ends what it finds there when it starts.
	runner, err := spawn.NewRunner(nil)
	must(t, err)
	closer, opener := wire.NewCloser(), spawn.NewOpener(0)
	problem := func(err error) { t.Logf("told of: %v", err) }
	w.log, err = audit.Open(audit.Options{Dir: w.logs, StateDir: w.state}, time.Now())
	must(t, err)
	kept, err := store.Open(filepath.Join(w.state, "requests"))
	must(t, err)
	maker := prepare.New(prepare.Options{Policy: func() *policy.Policy { return p }, Opener: opener, Install: action.InstallID{1}})
	w.x, err = execute.New(execute.Options{Opener: opener, Runner: runner, Closer: closer, Install: action.InstallID{1}, Why: queue.WhyEnded, Grace: 200 * time.Millisecond, Problem: problem})
	must(t, err)
	w.queue, err = queue.Open(t.Context(), queue.Options{Store: kept, Audit: queue.Log(w.log), Policy: wholePolicy{maker}, Runner: wholeRunner{w.x}, Problem: problem})
	must(t, err)
	s, err := broker.New(broker.Options{
		Policy: func() *policy.Policy { return p }, Maker: maker, Queue: wholeQueue{w.queue}, Requests: w.queue, Keeper: w.x, Log: w.log,
		NewID: queue.NewID, InAction: func(p *peer.Peer) bool { return execute.InAction(p.Seen.Cgroup) || w.x.InSession(p.PID) },
		Status: func() strictjson.Value { return fields.Object() }, Reload: func() (int, []string) { return 1, nil },
		Closer: closer, Problem: problem,
	})
	must(t, err)
	var stop func()
	w.path, stop = serve(t, s)
	w.close = func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		served := make(chan struct{})
		go func() { defer close(served); stop() }()
		must(t, w.queue.Close(ctx)) // tells those who wait, for whom Serve waits
		<-served
		s.Close()
		must(t, w.x.Close(ctx))
		must(t, kept.Close())
		must(t, w.log.Close())
	}
	return w
}

// folders makes the folders of the daemon, and one with commands.
func (w *whole) folders() {
	t := w.t
	var err error
	w.dir, err = os.MkdirTemp("", "broker-whole-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(w.dir) })
	must(t, os.Chmod(w.dir, 0o755))
	w.logs, w.state = filepath.Join(w.dir, "log"), filepath.Join(w.dir, "state")
	for _, dir := range []string{w.logs, w.state} {
		must(t, os.Mkdir(dir, 0o700))
	}
	must(t, os.Mkdir(filepath.Join(w.dir, "bin"), 0o755))
	for _, name := range []string{"sh", "cat"} {
		data, err := os.ReadFile("/bin/" + name)
		must(t, err)
		at := filepath.Join(w.dir, "bin", name)
		must(t, os.WriteFile(at, data, 0o600))
		must(t, os.Chmod(at, 0o755))
	}
}

func (w *whole) policy() *policy.Policy {
	host, err := policy.System(0)
	must(w.t, err)
	host.Accounts = policy.FromDB(accounts.Parse("root:x:0:0::/root:/bin/sh\n", "root:x:0:\n"))
	p, err := policy.Parse([]policy.File{{Path: "priv.toml", Text: strings.ReplaceAll(realRules, "DIR", w.dir)}}, host, policy.Options{})
	must(w.t, err)
	return p
}

// as connects as somebody.
func (w *whole) as(uid int) *client { return greet(w.t, connectAs(w.t, w.path, uid, uid)) }

// verified closes all and checks the log; kinds are those of a request.
func (w *whole) verified(id string) string {
	w.t.Helper()
	w.close()
	head, err := audit.ReadHead(w.state)
	must(w.t, err)
	_, err = audit.Verify(w.logs, &head)
	must(w.t, err)
	segments, err := audit.Segments(w.logs)
	must(w.t, err)
	var kinds []string
	for _, s := range segments {
		data, err := os.ReadFile(filepath.Join(w.logs, s.Name))
		must(w.t, err)
		for line := range strings.Lines(string(data)) {
			r, err := audit.ParseRecord([]byte(line))
			must(w.t, err)
			if r.ID.String() == id {
				kinds = append(kinds, string(r.Kind))
			}
		}
	}
	return strings.Join(kinds, " ")
}

func idOf(r wire.Reply) string {
	if v := r.Result.Get("id"); v != nil {
		return v.Text
	}
	return said(r)
}

// output is a pipe whose end the command gets.
func output(t *testing.T) (read *os.File, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	must(t, err)
	t.Cleanup(func() { read.Close(); write.Close() })
	return read, write
}

// text spells a word in JSON.
func text(s string) string { v := fields.Text(s); return string(v.JSON()) }

func TestTheWholeWayOfAnAllowedRequest(t *testing.T) {
	w := newWhole(t)
	c := w.as(requester)
	read, write := output(t)
	null := devNull(t)
	c.start(`{"rule":"now","slots":{"text":["id -u; echo \"$NOTE\"; tr a-z A-Z; exit 3"]},"env":["NOTE=it's *","LD_PRELOAD=/x"],"fds":3}`, pipeWith(t, "input"), int(write.Fd()), null)
	write.Close()
	r := c.last()
	id := idOf(r)
	if !strings.Contains(said(r), `"state":"exited","reason":"exited","exit_code":3`) {
		t.Errorf("told %s", said(r))
	}
	if out, err := io.ReadAll(read); err != nil || string(out) != "0\nit's *\nINPUT" {
		t.Errorf("wrote %q, %v", out, err)
	}
	if n := w.x.Kept(); n != 0 {
		t.Errorf("%d are kept", n)
	}
	c.Close()
	if got := w.verified(id); got != "received decided approved spent started exited" {
		t.Errorf("recorded %s", got)
	}
}

// pipeWith is a pipe that holds the text and ends.
func pipeWith(t *testing.T, text string) int {
	t.Helper()
	var fds [2]int
	must(t, unix.Pipe2(fds[:], unix.O_CLOEXEC))
	_, err := unix.Write(fds[1], []byte(text))
	must(t, err)
	must(t, unix.Close(fds[1]))
	t.Cleanup(func() { unix.Close(fds[0]) })
	return fds[0]
}

func TestTheWholeWayOfAnAskedRequest(t *testing.T) {
	w := newWhole(t)
	c := w.as(requester)
	read, write := output(t)
	c.start(`{"rule":"asked","slots":{"text":["echo done"]},"fds":2}`, devNull(t), int(write.Fd()))
	write.Close()
	notice := c.read()
	id, err := action.ParseRequestID(notice.Result.Get("id").Text)
	must(t, err)
	ann := prompt.Peer{UID: approver, GID: approver}
	pending, err := w.queue.Show(ann, id)
	must(t, err)
	if pending.Request.Digest().String() != notice.Result.Get("digest").Text {
		t.Error("the requester was told another digest")
	}
	// He himself may not say so, on whatever socket.
	if _, err := w.queue.Answer(id, prompt.Ballot{Peer: prompt.Peer{UID: requester}, Decision: action.Approve, Lifespan: action.Once, Digest: pending.Request.Digest()}, action.Seen{}); err == nil {
		t.Error("approved himself")
	}
	_, err = w.queue.Answer(id, prompt.Ballot{Peer: ann, Decision: action.Approve, Lifespan: action.Once, Digest: pending.Request.Digest()}, action.Seen{})
	must(t, err)
	if r := c.last(); !strings.Contains(said(r), `"exit_code":0`) {
		t.Errorf("told %s", said(r))
	}
	if out, _ := io.ReadAll(read); string(out) != "done\n" {
		t.Errorf("wrote %q", out)
	}
	c.Close()
	if got := w.verified(id.String()); got != "received decided pending vote approved spent started exited" {
		t.Errorf("recorded %s", got)
	}
}

// A requester who leaves takes what waits and what runs with him.
func TestTheWholeEndsWithItsRequester(t *testing.T) {
	w := newWhole(t)
	c := w.as(requester)
	c.start(`{"rule":"asked","slots":{"text":["echo no"]}}`)
	waiting := idOf(c.read())
	must(t, c.uc.CloseWrite())
	if r := c.last(); !strings.Contains(said(r), `"cancelled","reason":"requester_gone"`) {
		t.Errorf("told %s", said(r))
	}
	runs := w.as(requester)
	read, write := output(t)
	runs.start(`{"rule":"now","slots":{"text":["trap '' TERM; (setsid sleep 1000 &) ; echo on; sleep 1000"]},"fds":2}`, devNull(t), int(write.Fd()))
	write.Close()
	_, err := io.ReadFull(read, make([]byte, 3))
	must(t, err)
	runs.Close()
	if _, err := io.ReadAll(read); err != nil { // ends with the last process that holds it
		t.Fatal(err)
	}
	other := w.as(requester)
	eventually(t, "both have ended", func() bool {
		other.send("list", `{}`)
		all := ""
		for r := other.read(); ; r = other.read() {
			all += said(r)
			if !r.More {
				return strings.Count(all, "requester_gone") == 2
			}
		}
	})
	other.Close()
	if got := w.verified(waiting); got != "received decided pending cancelled" {
		t.Errorf("recorded %s", got)
	}
}

// What is another's is not there, and who guesses is slowed down.
func TestTheWholeHidesWhatIsAnothers(t *testing.T) {
	w := newWhole(t)
	c := w.as(requester)
	c.start(`{"rule":"asked","slots":{"text":["echo no"]},"detach":true}`)
	id := idOf(c.last())
	// The same again is there already.
	says(t, c.ask("run", `{"rule":"asked","slots":{"text":["echo no"]},"detach":true}`), `duplicate: the same request is waiting already {"id":"`+id+`"}`)
	thief := w.as(stranger)
	says(t, thief.ask("result", `{"request":"`+id+`"}`), "not_found: there is no such request")
	says(t, thief.ask("cancel", `{"request":"`+id+`"}`), "not_found: there is no such request")
	says(t, thief.ask("list", `{}`), `{"count":0}`)
	busy, found := 0, 0
	for range 2000 {
		switch r := thief.ask("result", `{"request":"`+queue.NewID().String()+`"}`); string(r.Err.Code) {
		case "busy":
			busy++
		case "not_found":
			found++
		default:
			t.Fatalf("told %s", said(r))
		}
	}
	if found > 100 || busy < 1900 {
		t.Errorf("%d guesses were looked up", found)
	}
	// Its owner sees it, from another connection too.
	wait := w.as(requester)
	wait.send("result", `{"request":"`+id+`","wait":true}`)
	says(t, c.ask("cancel", `{"request":"`+id+`"}`), `{}`)
	if r := wait.last(); !strings.Contains(said(r), `"cancelled","reason":"cancelled"`) {
		t.Errorf("told %s", said(r))
	}
	for _, c := range []*client{c, thief, wait} {
		c.Close()
	}
	if got := w.verified(id); got != "received decided pending cancelled" {
		t.Errorf("recorded %s", got)
	}
}

// A file of the requester's is opened with his rights, and the command gets it.
func TestTheWholeReadsAsTheRequester(t *testing.T) {
	w := newWhole(t)
	file := func(name string, uid int) string {
		p := filepath.Join(w.dir, name)
		must(t, os.WriteFile(p, []byte("of "+name), 0o600))
		must(t, os.Chown(p, uid, uid))
		return p
	}
	own, foreign := file("own", requester), file("foreign", stranger)
	c := w.as(requester)
	read, write := output(t)
	c.start(`{"rule":"read","slots":{"file":[`+text(own)+`]},"fds":2}`, devNull(t), int(write.Fd()))
	write.Close()
	r := c.last()
	if out, _ := io.ReadAll(read); string(out) != "of own" {
		t.Errorf("told %s, wrote %q", said(r), out)
	}
	if r := c.ask("run", `{"rule":"read","slots":{"file":[`+text(foreign)+`]}}`); r.Err == nil || r.Err.Code != "bad_request" || !strings.Contains(said(r), "permission denied") {
		t.Errorf("told %s", said(r))
	}
	c.Close()
	w.verified(idOf(r))
}

// The end of the server ends what waits, and tells it.
func TestTheWholeStops(t *testing.T) {
	w := newWhole(t)
	c := w.as(requester)
	c.start(`{"rule":"asked","slots":{"text":["echo no"]}}`)
	id := idOf(c.read())
	got := w.verified(id)
	if r := c.last(); !strings.Contains(said(r), `"cancelled","reason":"shutdown"`) {
		t.Errorf("told %s", said(r))
	}
	if got != "received decided pending cancelled" {
		t.Errorf("recorded %s", got)
	}
}

// A child of a running action gets nothing here.
func TestAnActionCannotAsk(t *testing.T) {
	w := newWhole(t)
	python := testneed.Program(t, "python3")
	c := w.as(requester)
	read, write := output(t)
	script := filepath.Join(w.dir, "ask.py")
	must(t, os.WriteFile(script, []byte(fmt.Sprintf("import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect(%q)\nprint(s.recv(4096).decode(), end='')\nprint(s.recv(4096))\n", w.path)), 0o644))
	c.start(`{"rule":"now","slots":{"text":[`+text(python+" "+script)+`]},"fds":2}`, devNull(t), int(write.Fd()))
	write.Close()
	r := c.last()
	if out, _ := io.ReadAll(read); string(out) != `{"id":null,"error":{"code":"denied","message":"this is not allowed"}}`+"\nb''\n" {
		t.Errorf("told %s, and it %q", said(r), out)
	}
	c.Close()
	w.verified(idOf(r))
}
