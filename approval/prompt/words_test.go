package prompt_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"snens/approval/prompt"
	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/strictjson"
)

func TestOutcome(t *testing.T) {
	var zero prompt.Outcome
	if zero.Allows() || zero.State() != action.Pending {
		t.Error("the zero outcome means something")
	}
	allowing := 0
	for i := range 256 {
		o := prompt.Outcome(i)
		back, err := prompt.ParseOutcome(o.String())
		if known := o <= prompt.Stale; known != (err == nil) || known && back != o {
			t.Errorf("%v came back as %v, %v", o, back, err)
		}
		if o.Allows() != (o.State() == action.Approved) || o.Allows() != (o.String() == "approved") {
			t.Errorf("%v allows: %v", o, o.Allows())
		}
		if o.Allows() {
			allowing++
		}
		if o.State() != action.Pending && !action.Pending.CanBecome(o.State()) {
			t.Errorf("what is pending cannot become %v", o.State())
		}
	}
	if allowing != 1 {
		t.Errorf("%d outcomes allow", allowing)
	}
	for _, bad := range []string{"", "allow", "Approved", "yes"} {
		if o, err := prompt.ParseOutcome(bad); err == nil || o.Allows() {
			t.Errorf("%q is %v", bad, o)
		}
	}
}

func TestTally(t *testing.T) {
	yes := func(who prompt.PersonID, l action.Lifespan) prompt.Vote {
		return prompt.Vote{Person: who, Decision: action.Approve, Lifespan: l}
	}
	no := prompt.Vote{Person: "carl", Decision: action.Deny}
	for _, c := range []struct {
		name  string
		need  int
		votes []prompt.Vote
		want  prompt.Outcome
		span  action.Lifespan
	}{
		{"nobody", 1, nil, prompt.Undecided, 0},
		{"one", 1, []prompt.Vote{yes("ann", hour)}, prompt.Approved, hour},
		{"one of two", 2, []prompt.Vote{yes("ann", hour)}, prompt.Undecided, 0},
		{"one person twice", 2, []prompt.Vote{yes("ann", hour), yes("ann", quarter)}, prompt.Undecided, 0},
		{"two", 2, []prompt.Vote{yes("ann", hour), yes("bob", quarter)}, prompt.Approved, quarter},
		{"once is the shortest", 2, []prompt.Vote{yes("ann", action.Once), yes("bob", hour)}, prompt.Approved, action.Once},
		{"a veto first", 1, []prompt.Vote{no, yes("ann", hour)}, prompt.Denied, 0},
		{"a veto last", 1, []prompt.Vote{yes("ann", hour), yes("bob", hour), no}, prompt.Denied, 0},
		{"no need", 0, nil, prompt.Undecided, 0},
		{"no need, one vote", 0, []prompt.Vote{yes("ann", hour)}, prompt.Undecided, 0},
		{"negative need", -1, []prompt.Vote{yes("ann", hour)}, prompt.Undecided, 0},
		{"zero votes", 1, []prompt.Vote{{}, {Person: "ann"}, {Person: "ann", Lifespan: hour}}, prompt.Undecided, 0},
		{"nobody's vote", 1, []prompt.Vote{yes("", hour)}, prompt.Undecided, 0},
		{"no lifespan", 1, []prompt.Vote{yes("ann", 0)}, prompt.Undecided, 0},
		{"unknown decision", 1, []prompt.Vote{{Person: "ann", Decision: 9, Lifespan: hour}}, prompt.Undecided, 0},
	} {
		if got, span := prompt.Tally(c.need, c.votes); got != c.want || span != c.span {
			t.Errorf("%s: %v for %v, want %v for %v", c.name, got, span, c.want, c.span)
		}
	}
}

func TestPersons(t *testing.T) {
	p := persons(t)
	for u, want := range map[action.UID]prompt.PersonID{ann: "ann", ann2: "ann", bob: "bob", dave: "uid:1004", 0: "uid:0"} {
		if got := p.OfUID(u); got != want {
			t.Errorf("uid %v is %q, want %q", u, got, want)
		}
	}
	if who, ok := p.OfPrincipal("ann@example"); !ok || who != "ann" {
		t.Errorf("%q, %v", who, ok)
	}
	for _, unknown := range []string{"", "eve@example", "ann", "ANN@example"} {
		if who, ok := p.OfPrincipal(unknown); ok || who != "" {
			t.Errorf("%q is %q", unknown, who)
		}
	}
	var empty prompt.Persons
	if empty.OfUID(7) != "uid:7" {
		t.Error("the empty table knows somebody")
	}
	for _, bad := range [][]prompt.Person{
		{{Name: ""}},
		{{Name: "uid:0", UIDs: []action.UID{1}}},
		{{Name: "a"}, {Name: "a"}},
		{{Name: "a", UIDs: []action.UID{1}}, {Name: "b", UIDs: []action.UID{1}}},
		{{Name: "a", UIDs: []action.UID{1, 1}}},
		{{Name: "a", UIDs: []action.UID{action.NoID}}},
		{{Name: "a", Principals: []string{"x"}}, {Name: "b", Principals: []string{"x"}}},
		{{Name: "a", Principals: []string{""}}},
	} {
		if _, err := prompt.NewPersons(bad); err == nil {
			t.Errorf("accepted %+v", bad)
		}
	}
}

func TestPresence(t *testing.T) {
	for _, p := range []prompt.Presence{prompt.PresencePeer, prompt.PresenceSigned, prompt.PresenceTTY} {
		if got, err := prompt.ParsePresence(p.String()); err != nil || got != p {
			t.Errorf("%v came back as %v, %v", p, got, err)
		}
	}
	for _, bad := range []string{"", "Peer", "none", prompt.Presence(0).String()} {
		if p, err := prompt.ParsePresence(bad); err == nil || p != 0 {
			t.Errorf("%q is %v", bad, p)
		}
	}
}

func pending(t testing.TB) prompt.Pending {
	t.Helper()
	s, err := action.Seal(action.Request{
		Argv: []string{"true", "\x80"}, Executable: action.File{Path: "/bin/true", SHA256: right}, Cwd: "/", Timeout: time.Second,
		Stdin: action.Stdin{Mode: action.StdinNone}, Requester: action.Requester{UID: deploy}, Rule: "r", RuleDigest: right,
		Expires: time.Unix(2e9, 0).UTC(), Nonce: action.Nonce{1}, Install: action.InstallID{1},
	})
	if err != nil {
		t.Fatal(err)
	}
	return prompt.Pending{
		ID: action.RequestID{1}, Request: s, Claims: action.Claims{Reason: "please"}, Seen: action.Seen{PID: 3},
		Since: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), About: "Restart", Need: 2, Presence: prompt.PresencePeer,
		Lifespans: []action.Lifespan{quarter}, ReasonRequired: true, Approvers: []string{"group:ops"},
		Votes: []prompt.Vote{{Person: "ann", Decision: action.Approve, Lifespan: action.Once}, {Person: "bob", Decision: action.Deny}},
	}
}

func readPending(data []byte) (prompt.Pending, error) {
	o := fields.Parse(data, "pending", strictjson.Options{})
	p := prompt.ReadPending(o)
	return p, o.Close()
}

func TestPendingComesBack(t *testing.T) {
	p := pending(t)
	v := p.Value()
	data := string(v.JSON())
	got, err := readPending([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	if got.Request.Digest() != p.Request.Digest() {
		t.Error("the request changed")
	}
	got.Request, p.Request = nil, nil
	if !reflect.DeepEqual(got, p) {
		t.Errorf("came back as %+v\nwas %+v", got, p)
	}
	// What a server might add to be shown instead is refused.
	for _, c := range []struct{ from, to, want string }{
		{`"need":2`, `"need":2,"digest":"00"`, `"digest" is not known`},
		{`"need":2`, `"need":2,"text":"harmless"`, `"text" is not known`},
		{`"need":2`, `"need":0`, "at least 1"},
		{`"need":2`, `"need":17`, "from 0 to 16"},
		{`"argv":["true"`, `"argv":[""`, "argv"},
		{`"presence":"peer"`, `"presence":""`, "allowed are peer"},
		{`"15m"`, `"15 m"`, "lifespan"},
		{`"decision":"approve"`, `"decision":"yes"`, "allowed are approve, deny"},
		{`"person":"ann"`, `"person":""`, "somebody's"},
		{`"decision":"deny"`, `"decision":"deny","lifespan":"once"`, `"lifespan" is not known`},
		{`"request":{`, `"request":null,"x":{`, "request"},
	} {
		bad := strings.Replace(data, c.from, c.to, 1)
		if _, err := readPending([]byte(bad)); bad == data || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.to, err, c.want)
		}
	}
}

func FuzzReadPending(f *testing.F) {
	p := pending(f)
	v := p.Value()
	f.Add(v.JSON())
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := readPending(data)
		if err != nil {
			return
		}
		v := p.Value()
		again, err := readPending(v.JSON())
		w := again.Value()
		if err != nil || string(v.JSON()) != string(w.JSON()) {
			t.Fatalf("%s came back as %s, %v", v.JSON(), w.JSON(), err)
		}
	})
}

func TestEvents(t *testing.T) {
	read := func(data string) (prompt.Event, error) {
		o := fields.Parse([]byte(data), "event", strictjson.Options{})
		e := prompt.ReadEvent(o)
		return e, o.Close()
	}
	id := action.RequestID{1}
	for _, c := range []struct {
		e  prompt.Event
		ok bool
	}{
		{prompt.Event{Kind: action.EventPending, ID: id, State: action.Pending}, true},
		{prompt.Event{Kind: action.EventVote, ID: id, State: action.Pending, Missed: 3}, true},
		{prompt.Event{Kind: action.EventDenied, ID: id, State: action.Denied, Reason: action.ReasonApproverDenied}, true},
		{prompt.Event{Kind: action.EventExited, ID: id, State: action.Exited, Reason: action.ReasonExited}, true},
		{prompt.Event{Kind: action.EventApproved, ID: id, State: action.Pending}, false},
		{prompt.Event{Kind: action.EventVote, ID: id, State: action.Approved}, false},
		{prompt.Event{Kind: action.EventDenied, ID: id, State: action.Denied}, false},
		{prompt.Event{Kind: action.EventDenied, ID: id, State: action.Denied, Reason: action.ReasonExpired}, false},
		{prompt.Event{Kind: action.EventPending, ID: id, State: action.Pending, Reason: action.ReasonDenied}, false},
		{prompt.Event{ID: id, State: action.Pending}, false},
		{prompt.Event{Kind: action.EventPending, ID: id}, false},
		{prompt.Event{}, false},
	} {
		v := c.e.Value()
		got, err := read(string(v.JSON()))
		if (err == nil) != c.ok || c.ok && got != c.e {
			t.Errorf("%s came back as %+v, %v", v.JSON(), got, err)
		}
	}
}
