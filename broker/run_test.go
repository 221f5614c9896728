package broker_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snens/approval/prompt"
	"snens/broker"
	"snens/broker/action"
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
