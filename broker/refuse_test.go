package broker_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"snens/broker"
	"snens/broker/action"
	"snens/broker/execute"
	"snens/broker/prepare"
	"snens/internal/audit"
	"snens/internal/spawn"
)

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
		"a file of FUSE":  {func(w *world) { w.keepFails = fmt.Errorf("x: %w: not these", execute.ErrDescriptors) }, action.ReasonBadDescriptors, "bad_descriptors", "record denied"},
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

// What was made for a request that then is refused is closed.
func TestWhatIsRefusedIsClosed(t *testing.T) {
	opener := spawn.NewOpener(0)
	w := newWorld(t, func(w *world, _ *broker.Options) {
		w.room = refused{why: action.ReasonBusy}
		w.makes = func(a prepare.Ask) (*prepare.Prepared, error) {
			program, err := opener.Open("/bin/true")
			return &prepare.Prepared{Rule: w.policy.Load().Rule("show"), Program: program, Request: sealed(w.t, a)}, err
		}
	})
	c := w.dial()
	c.ask("run", showA)
	before := openFDs(t)
	for range 20 {
		if r := c.ask("run", showA); r.Err == nil || r.Err.Code != "busy" {
			t.Fatalf("told %s", said(r))
		}
	}
	if now := openFDs(t); now > before+5 {
		t.Errorf("%d descriptors are open, before %d", now, before)
	}
}

func sealed(t testing.TB, a prepare.Ask) *action.Sealed {
	s, err := action.Seal(action.Request{
		Argv: []string{"true"}, Executable: action.File{Path: "/bin/true", SHA256: action.DigestOf("x")}, Cwd: "/", Timeout: time.Second,
		Stdin: action.Stdin{Mode: action.StdinNone}, Requester: action.Requester(a.From), Rule: "show", RuleDigest: action.DigestOf("y"),
		Expires: time.Now().Add(time.Minute).UTC().Truncate(time.Second), Nonce: action.Nonce{1}, Install: action.InstallID{1},
	})
	must(t, err)
	return s
}

// A command that is longer than a record may hold is left out of it.
func TestLongCommandsAreLeftOutOfTheRecord(t *testing.T) {
	w := newWorld(t)
	w.policy.Store(parsePolicy(t, fmt.Sprintf(`
[[rule]]
id = "long"
about = "Say a lot"
decision = "allow"
command = "/usr/bin/true"
args = [{slot = "w", kind = "word", pattern = "[a-z]+", max = 4000, many = 20}]
from = ["uid:%d"]

[[rule]]
id = "no"
about = "Nothing at all"
decision = "deny"
command = "/usr/bin/true"
from = ["everyone"]
`, os.Getuid())))
	c := w.dial()
	long := strings.Repeat(`"`+strings.Repeat("x", 4000)+`",`, 16) + `"` + strings.Repeat("x", 1530) + `"`
	for _, words := range []string{`"x"`, long} { // too long only with the command before it
		if r := c.ask("run", `{"rule":"long","slots":{"w":[`+words+`]}}`); r.Err == nil || r.Err.Code != "rule_shadowed" {
			t.Fatalf("told %.300s", said(r))
		}
	}
	e := w.records()
	if len(e) != 4 || len(e[0].Argv) != 2 || e[2].Argv != nil || e[2].Rule != "long" {
		t.Errorf("%d records, with %d and %d words", len(e), len(e[0].Argv), len(e[2].Argv))
	}
}
