package broker_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snens/approval/prompt"
	"snens/broker"
	"snens/broker/action"
	"snens/broker/execute"
	"snens/broker/prepare"
	"snens/internal/audit"
)

const (
	showA    = `{"rule":"show","slots":{"thing":["a"]}}`
	restartA = `{"argv":["true","restart","a.service"],"claims":{"reason":"it hangs"},"stdin":"x"}`
)

func TestAllowedRun(t *testing.T) {
	w := newWorld(t)
	c := w.dial()
	c.start(`{"rule":"show","slots":{"thing":["a","b"],"n":["7"]},"cwd":"/tmp","env":["NOTE=\u001b","A=b"],"claims":{"tool":"x"},"ttl":"1m","fds":2}`, devNull(t), devNull(t))
	ticket := <-w.tickets
	if got, want := w.did(), []string{"make", "record received", "record decided", "keep", "submit"}; !slices.Equal(got, want) {
		t.Errorf("did %q\nwant %q", got, want)
	}
	a := w.asks()[0]
	if a.From.UID != action.UID(os.Getuid()) || a.Rule != "show" || !slices.Equal(a.Slots["thing"], []string{"a", "b"}) || a.Cwd != "/tmp" ||
		!slices.Equal(a.Env, []string{"NOTE=\x1b", "A=b"}) || a.Claims.Tool != "x" || a.TTL.String() != "1m0s" || a.Detach || a.Stdin != nil {
		t.Errorf("made of %+v", a)
	}
	s := w.ids()[0]
	if !s.Allowed || s.Peer.UID != a.From.UID || s.Seen.PID != os.Getpid() || s.Terms.From != nil || !slices.Equal(seen(w, &w.files), []int{2}) {
		t.Errorf("submitted %+v with %d files", s, seen(w, &w.files))
	}
	asked, decided := w.records()[0], w.records()[1]
	if asked.ID != s.ID || asked.UID != s.Peer.UID || strings.Join(asked.Argv, " ") != "/usr/bin/true show a b 7" || asked.Rule != "show" || asked.Claims.Tool != "x" || asked.Seen.PID != os.Getpid() {
		t.Errorf("recorded %+v", asked)
	}
	if decided.ID != s.ID || decided.Decision != "allow" || decided.Rule != "show" || decided.RuleDigest.IsZero() || decided.Digest != s.Request.Digest() || decided.Request != s.Request || decided.Reason != 0 {
		t.Errorf("recorded %+v", decided)
	}
	ticket.end(action.Exited, action.ReasonTimedOut)
	says(t, c.last(), fmt.Sprintf(`{"id":"%s","state":"exited","reason":"timed_out","ended":"1970-01-01T00:00:01.000000Z"}`, s.ID))
	eventually(t, "what was kept is dropped", func() bool { return slices.Contains(w.did(), "drop") })
	// The connection goes on.
	c.start(showA)
	(<-w.tickets).end(action.Exited, action.ReasonKilled)
	c.last()
}

func TestAskedRun(t *testing.T) {
	w := newWorld(t)
	c := w.dial()
	c.start(restartA)
	notice := c.read()
	ticket := <-w.tickets
	s := w.ids()[0]
	says(t, notice, fmt.Sprintf(`{"state":"pending","id":"%s","digest":"%s","rule":"restart","expires":"%s","approvers":["uid:54501","group:ops"],"asked":2}`,
		s.ID, s.Request.Digest(), action.FormatInstant(s.Request.Request().Expires)))
	want := prompt.Terms{Need: 1, Presence: prompt.PresencePeer, From: []prompt.Selector{{Kind: prompt.SelectUID, UID: approver}, {Kind: prompt.SelectGID, GID: 54550}}}
	if s.Allowed || !s.ReasonRequired || s.About != "Restart a thing" || !slices.Equal(s.Approvers, []string{"uid:54501", "group:ops"}) || s.Claims.Reason != "it hangs" ||
		fmt.Sprint(s.Terms) != fmt.Sprint(want) {
		t.Errorf("submitted %+v", s)
	}
	if asked := w.records()[0]; strings.Join(asked.Argv, " ") != "true restart a.service" || asked.Rule != "" {
		t.Errorf("recorded %+v", asked)
	}
	ticket.end(action.Denied, action.ReasonApproverDenied)
	says(t, c.last(), fmt.Sprintf(`{"id":"%s","state":"denied","reason":"approver_denied","ended":"1970-01-01T00:00:01.000000Z"}`, s.ID))
}

func TestTheEndOfTheConnectionGivesUp(t *testing.T) {
	for name, hangUp := range map[string]func(c *client){
		"end":      func(c *client) { c.Close() },
		"half":     func(c *client) { must(c.t, c.uc.CloseWrite()) },
		"nonsense": func(c *client) { _, _ = c.uc.Write([]byte("{}{}\n")) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := w.dial()
			c.start(restartA)
			c.read()
			ticket := <-w.tickets
			hangUp(c)
			<-ticket.left
			ticket.end(action.Cancelled, action.ReasonRequesterGone)
			if name == "half" { // who only said that he asks no more hears the end
				if !strings.Contains(said(c.last()), "requester_gone") {
					t.Error("the end was not told")
				}
			}
		})
	}
}

func TestDetachedRunsGoOn(t *testing.T) {
	w := newWorld(t)
	c := w.dial()
	c.start(`{"rule":"show","slots":{"thing":["a"]},"detach":true}`)
	r := c.last()
	says(t, r, fmt.Sprintf(`{"id":"%s","state":"approved"}`, w.ids()[0].ID))
	c.start(`{"rule":"restart","slots":{"unit":["a.service"]},"detach":true,"stdin":"","claims":{"reason":"r"}}`)
	says(t, c.last(), fmt.Sprintf(`{"id":"%s","state":"pending"}`, w.ids()[1].ID))
	c.Close()
	w.stop() // the connection is gone for good
	for range 2 {
		ticket := <-w.tickets
		if len(ticket.left) != 0 {
			t.Error("given up with its connection")
		}
		ticket.end(action.Exited, action.ReasonKilled)
	}
	if got := w.did(); got[len(got)-1] != "drop" {
		t.Errorf("did %q", got)
	}
}

func TestOneRunAtATime(t *testing.T) {
	w := newWorld(t)
	c := w.dial()
	c.start(restartA)
	c.read()
	says(t, c.ask("run", showA), "busy: a run goes on already on this connection; use another one")
	says(t, c.ask("list", `{}`), `{"count":0}`) // other methods are answered
	ticket := <-w.tickets
	ticket.end(action.Expired, action.ReasonExpired)
	c.next = 1
	c.last()
	c.next = 3
	c.start(showA)
	(<-w.tickets).end(action.Exited, action.ReasonKilled)
	c.last()
	if n := w.counted(action.ReasonBusy); n != 1 {
		t.Errorf("counted %d", n)
	}
}

func TestWrongNumberOfDescriptorsEndsTheConnection(t *testing.T) {
	for name, c := range map[string]struct{ announced, sent int }{
		"more": {1, 2}, "fewer": {3, 2}, "none": {1, 0}, "unannounced": {0, 1}, "four": {3, 4},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			before := openFDs(t)
			cl := w.dial()
			cl.send("run", strings.Replace(showA, "}}", fmt.Sprintf(`},"fds":%d}`, c.announced), 1))
			cl.read()
			null := devNull(t)
			var oob []byte
			if c.sent > 0 {
				oob = unix.UnixRights(slices.Repeat([]int{null}, c.sent)...)
			}
			_, _, err := cl.uc.WriteMsgUnix([]byte{0}, oob, nil)
			must(t, err)
			why := cl.ends()
			if len(why) != 1 || why[0].Err == nil || why[0].Err.Code != "bad_descriptors" {
				t.Errorf("told %v", why)
			}
			cl.Close()
			if got := w.did(); !slices.Equal(got, []string{"make"}) {
				t.Errorf("did %q", got)
			}
			if n := w.counted(action.ReasonBadDescriptors); n != 1 {
				t.Errorf("counted %d", n)
			}
			unix.Close(null)
			must(t, w.closer.Wait(t.Context()))
			if now := openFDs(t); now > before {
				t.Errorf("%d descriptors are open, before %d", now, before)
			}
		})
	}
}

func TestDescriptorsThatCannotBeUsed(t *testing.T) {
	w := newWorld(t)
	c := w.dial()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	folder, err := os.Open("/")
	must(t, err)
	defer folder.Close()
	null := devNull(t)
	defer unix.Close(null)
	for what, fds := range map[string][]int{
		"a socket": {pair[0]}, "a folder": {null, int(folder.Fd())},
	} {
		c.start(strings.Replace(showA, "}}", fmt.Sprintf(`},"fds":%d}`, len(fds)), 1), fds...)
		if r := c.last(); r.Err == nil || r.Err.Code != "bad_descriptors" || r.Err.Detail == nil {
			t.Errorf("%s: told %s", what, said(r))
		}
	}
	says(t, c.ask("list", `{}`), `{"count":0}`) // the connection goes on
	if slices.Contains(w.did(), "keep") || len(w.records()) != 0 {
		t.Errorf("did %q", w.did())
	}
}

// What cannot be recorded is not run, whichever record it is.
func TestNoRecordNoRequest(t *testing.T) {
	for _, kind := range []audit.Kind{audit.Received, audit.Decided} {
		w := newWorld(t, func(w *world, _ *broker.Options) { w.logFails = func(e audit.Entry) bool { return e.Kind == kind } })
		c := w.dial()
		c.start(showA)
		says(t, c.last(), "no_record: "+action.ReasonNoRecord.Text())
		if got := w.did(); slices.Contains(got, "keep") || slices.Contains(got, "submit") {
			t.Errorf("%s failed, and did %q", kind, got)
		}
		if len(w.told()) != 1 || !errors.Is(w.told()[0], audit.ErrFull) {
			t.Errorf("told of %v", w.told())
		}
	}
}

// What can be refused before descriptors are asked for is refused then, and
// leaves nothing behind.
func TestRefusedBeforeDescriptors(t *testing.T) {
	first := action.RequestID{7}
	for name, c := range map[string]struct {
		change func(w *world)
		want   string
	}{
		"duplicate": {func(w *world) { w.room = refused{action.ReasonDuplicate, first} }, `duplicate: the same request is waiting already {"id":"` + first.String() + `"}`},
		"busy":      {func(w *world) { w.room = refused{why: action.ReasonBusy} }, "busy: " + action.ReasonBusy.Text()},
		"closing":   {func(w *world) { w.keeperRoom = fmt.Errorf("%w: too many", execute.ErrBusy) }, "busy: " + action.ReasonBusy.Text()},
		"made": {func(w *world) {
			w.makes = func(prepare.Ask) (*prepare.Prepared, error) {
				return nil, &prepare.Refusal{Reason: action.ReasonCannotStart, Rule: "show", Why: "not as it is", Cause: errors.New("the folder is writable")}
			}
		}, `cannot_start: ` + action.ReasonCannotStart.Text() + ` {"rule":"show","why":"not as it is"}`},
		"fault": {func(w *world) {
			w.makes = func(prepare.Ask) (*prepare.Prepared, error) { return nil, errors.New("secret") }
		}, "internal: " + action.ReasonInternal.Text()},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(w *world, _ *broker.Options) { c.change(w) })
			cl := w.dial()
			says(t, cl.ask("run", showA), c.want)
			says(t, cl.ask("list", `{}`), `{"count":0}`)
			if got := w.did(); !slices.Equal(got, []string{"make"}) {
				t.Errorf("did %q", got)
			}
			if told := len(w.told()) == 1; told != (name == "made" || name == "fault") {
				t.Errorf("told of %v", w.told())
			}
		})
	}
}

// What is recorded and then refused has an end in the record, and nothing is kept.
func TestRefusedAfterTheRecords(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *world)
		want   action.Reason
		told   string
		last   string
	}{
		"no room to keep": {func(w *world) { w.keepFails = fmt.Errorf("x: %w", execute.ErrBusy) }, action.ReasonBusy, "busy", "record denied"},
		"cannot keep":     {func(w *world) { w.keepFails = errors.New("x") }, action.ReasonInternal, "internal", "record denied"},
		"taken meanwhile": {func(w *world) { w.submits = refused{why: action.ReasonDuplicate} }, action.ReasonDuplicate, "duplicate", "record denied"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(w *world, _ *broker.Options) { c.change(w) })
			cl := w.dial()
			cl.start(showA)
			if r := cl.last(); r.Err == nil || string(r.Err.Code) != c.told {
				t.Errorf("told %s", said(r))
			}
			all := w.records()
			end := all[len(all)-1]
			if end.Kind != audit.Denied || end.Result.Reason != c.want || end.Result.Check() != nil || end.ID != all[0].ID {
				t.Errorf("recorded %+v", end)
			}
			if (keeper{w}).keeps(end.ID) {
				t.Error("something is still kept")
			}
		})
	}
}

func TestDenials(t *testing.T) {
	w := newWorld(t)
	c := w.dial()
	says(t, c.ask("run", `{"argv":["/usr/bin/true","stop"]}`), `rule_denies: a rule denies this {"rule":"no-stop","why":"rule no-stop denies this"}`)
	if r := c.ask("run", `{"argv":["/usr/bin/true","show","A"]}`); r.Err.Code != "denied" || r.Err.Detail.Get("why") == nil {
		t.Errorf("told %s", said(r))
	}
	if r := c.ask("run", `{"rule":"none"}`); r.Err.Code != "bad_request" {
		t.Errorf("told %s", said(r))
	}
	if got := w.did(); slices.Contains(got, "make") {
		t.Errorf("did %q", got)
	}
	e := w.records()
	if len(e) != 6 || e[0].Kind != audit.Received || e[1].Kind != audit.Decided || e[1].Decision != "deny" || e[1].Reason != action.ReasonRuleDenies || e[1].Rule != "no-stop" || e[1].Request != nil {
		t.Errorf("recorded %+v", e)
	}
	if n := w.counted(action.ReasonRuleDenies); n != 0 {
		t.Errorf("counted %d as well", n)
	}
}

// A flood of what is denied is not a flood of records.
func TestAFloodOfDenials(t *testing.T) {
	w := newWorld(t)
	c := w.dial()
	const times = 2000
	for range times {
		if r := c.ask("run", `{"argv":["/usr/bin/true","stop"]}`); r.Err == nil || r.Err.Code != "rule_denies" {
			t.Fatalf("told %s", said(r))
		}
	}
	counted := w.counted(action.ReasonRuleDenies)
	of := map[audit.Kind]int{}
	for _, e := range w.records() {
		of[e.Kind]++
	}
	if uint64(of[audit.Decided])+counted != times || of[audit.Received] != of[audit.Decided] || of[audit.Decided] < 10 || of[audit.Decided] > 60 || of[audit.RefusedSummary] > 61 {
		t.Errorf("recorded %v, counted %d", of, counted)
	}
}

func TestTooLongIsRefusedFirst(t *testing.T) {
	w := newWorld(t)
	c := w.dial()
	long := strings.Repeat("x", action.MaxText)
	for _, params := range []string{
		fmt.Sprintf(`{"argv":["/usr/bin/true",%q]}`, long),
		fmt.Sprintf(`{"rule":"show","slots":{"thing":[%q]}}`, long+"x"),
		fmt.Sprintf(`{"rule":"restart","slots":{"unit":["a.service"]},"stdin":%q}`, long+"x"),
	} {
		says(t, c.ask("run", params), "too_long: "+action.ReasonTooLong.Text())
	}
	if got := w.did(); len(got) != 0 {
		t.Errorf("did %q", got)
	}
}

// Who asks, gives up and asks anew does not have people asked for ever.
func TestAFloodOfAsking(t *testing.T) {
	w := newWorld(t)
	c := w.dial()
	asked := 0
	for range 300 {
		c.send("run", restartA)
		r := c.read()
		if r.Err != nil {
			says(t, r, "busy: too many requests were made in a short time; wait a moment")
			continue
		}
		asked++
		must(t, c.SendFDs())
		c.read()
		(<-w.tickets).end(action.Cancelled, action.ReasonCancelled)
		c.last()
	}
	if asked < 60 || asked > 120 {
		t.Errorf("people were asked %d times", asked)
	}
	c.start(showA) // what nobody is asked about goes on
	(<-w.tickets).end(action.Exited, action.ReasonKilled)
	c.last()
}

// What waits without a connection takes no goroutine.
func TestDetachedRequestsTakeLittle(t *testing.T) {
	w := newWorld(t)
	c := w.dial()
	detached := `{"rule":"show","slots":{"thing":["a"]},"detach":true}`
	c.start(detached)
	c.last()
	before := runtime.NumGoroutine()
	for range 80 {
		c.start(detached)
		c.last()
	}
	if n := runtime.NumGoroutine(); n > before+10 {
		t.Errorf("%d goroutines, before %d", n, before)
	}
}

// The rule's own words count: a name that a requester builds argv with does not
// choose the rule.
func TestShadowedRule(t *testing.T) {
	w := newWorld(t)
	text := fmt.Sprintf(rulesText, os.Getuid(), approver) + fmt.Sprintf(`
[[rule]]
id = "late"
about = "Later"
decision = "allow"
command = "/usr/bin/true"
args = ["restart", "a.service"]
from = ["uid:%d"]
i_know = true
`, os.Getuid())
	w.policy.Store(parsePolicy(t, text))
	r := w.dial().ask("run", `{"rule":"late"}`)
	if r.Err == nil || r.Err.Code != "rule_shadowed" || slices.Contains(w.did(), "make") {
		t.Errorf("told %s, did %q", said(r), w.did())
	}
}

func TestInsideAnAction(t *testing.T) {
	w := newWorld(t, func(w *world, _ *broker.Options) { w.inAction = true })
	uc, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: w.path, Net: "unix"})
	must(t, err)
	defer uc.Close()
	line := make([]byte, 4096)
	n, err := uc.Read(line) // nothing was said yet
	must(t, err)
	if got := string(line[:n]); got != `{"id":null,"error":{"code":"denied","message":"this is not allowed"}}`+"\n" {
		t.Errorf("told %s", got)
	}
	if n, err := uc.Read(line); err == nil {
		t.Errorf("and then %q", line[:n])
	}
	if n := w.counted(action.ReasonDenied); n != 1 {
		t.Errorf("counted %d", n)
	}
}

func devNull(t testing.TB) int {
	t.Helper()
	fd, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	must(t, err)
	t.Cleanup(func() { unix.Close(fd) })
	return fd
}

func openFDs(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(entries)
}
