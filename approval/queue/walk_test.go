package queue_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"snens/approval/queue"
	"snens/approval/store"
	"snens/broker/action"
)

// The small world of the walk: the first request is detached and needs one
// person, the second waits with its requester and needs two.
const requests = 2

// op is something that can happen to the world.
type op struct {
	what string
	r    int // to which request; -1: to all
	who  action.UID
}

func (o op) String() string { return fmt.Sprintf("%s(%d,%d)", o.what, o.r, o.who) }

var steps = func() (all []op) {
	for r := range requests {
		all = append(all, op{"approve", r, ann}, op{"approve", r, bob}, op{"deny", r, bob}, op{"cancel", r, 0}, op{"spend", r, 0}, op{"leave", r, 0})
	}
	return append(all, op{"expire", -1, 0}, op{"restart", -1, 0}, op{"change", -1, 0})
}()

// model is what must be: the rules of the queue, said once more in the fewest
// words.
type model struct {
	state   [requests]action.State
	votes   [requests][2]bool // of ann and bob
	ran     [requests]int
	hidden  [requests]bool // its trace did not survive a restart
	changed bool
}

func (m model) next(o op) model {
	if o.r < 0 {
		m.changed = m.changed || o.what == "change"
		for r := range requests {
			m.all(o, r)
		}
		return m
	}
	s := &m.state[o.r]
	waits := *s == action.Pending || *s == action.Approved
	switch {
	case o.what == "approve" && *s == action.Pending:
		m.votes[o.r][int(o.who-ann)/2] = true
		if n := m.votes[o.r]; o.r == 0 || n[0] && n[1] {
			*s = action.Approved
		}
	case o.what == "deny" && *s == action.Pending:
		*s = action.Denied
	case (o.what == "cancel" || o.what == "leave" && o.r == 1) && waits:
		*s = action.Cancelled
	case (o.what == "cancel" || o.what == "leave" && o.r == 1) && *s == action.Running:
		*s = action.Exited
	case o.what == "spend" && *s == action.Approved && m.changed:
		*s = action.Stale
	case o.what == "spend" && *s == action.Approved:
		*s = action.Running
		m.ran[o.r]++
	}
	return m
}

// all is what happens to every request.
func (m *model) all(o op, r int) {
	s := &m.state[r]
	waits := *s == action.Pending || *s == action.Approved
	switch {
	case o.what == "expire" && waits:
		*s = action.Expired
	case o.what != "restart":
	case s.Final() && r == 1:
		m.hidden[r] = true
	case *s == action.Running:
		*s = action.Lost
	case waits && r == 1:
		*s = action.Cancelled
	case waits && m.changed:
		*s = action.Stale
	case waits:
		*s, m.votes[r] = action.Pending, [2]bool{}
	}
}

// real is the queue that is held against the model.
type real struct {
	*world
	s     [requests]queue.Submission
	t     [requests]*queue.Ticket
	gates [requests]chan struct{} // what spend waits for
	dead  chan struct{}           // closed for those who wait at a queue of before
	v     variant
	said  int
}

// variant is a queue that forgets something.
type variant struct {
	name  string
	drops func(*store.Record) bool // writes that are forgotten
	need  int                      // instead of what the rule says
	after func(x *real, o op)
	twice bool // a person counts as often as he answers
	blind bool // the policy sees no change
}

func start(t *testing.T, v variant) *real {
	x := &real{world: newWorld(t, queue.Limits{KeepTrace: 1000 * time.Hour, KeepResult: 1000 * time.Hour, Guesses: 1000}), v: v}
	x.runner.run = untilStopped
	x.store.drops = v.drops
	x.hold()
	for r := range requests {
		change := []func(*action.Request){detached}[:1-r]
		x.s[r] = asks(plain(t, deploy, fmt.Sprint(r), change...))
		if x.s[r].Terms.Need = r + 1; v.need != 0 {
			x.s[r].Terms.Need = v.need
		}
		x.t[r] = x.submit(x.s[r])
	}
	return x
}

// hold puts a gate before each spend.
func (x *real) hold() {
	x.dead = make(chan struct{})
	dead, gates := x.dead, [requests]chan struct{}{}
	for r := range gates {
		gates[r] = make(chan struct{})
	}
	x.gates = gates
	x.policy.wait = func(s *action.Sealed) {
		select {
		case <-gates[int(s.Request().Argv[1][0]-'0')]:
		case <-dead:
		}
	}
}

func (x *real) do(o op) {
	switch o.what {
	case "approve", "deny":
		who, d := o.who, action.Approve
		if x.said++; x.v.twice {
			who += action.UID(2000 * x.said)
		}
		if o.what == "deny" {
			d = action.Deny
		}
		_, _ = x.says(x.s[o.r], who, d)
	case "cancel":
		_ = x.q.Cancel(x.s[o.r].Peer, x.s[o.r].ID)
	case "leave":
		x.t[o.r].Leave() // of a queue of before: without effect
	case "spend":
		select {
		case x.gates[o.r] <- struct{}{}:
		default:
		}
	case "expire":
		pass(ttl)
	case "change":
		if !x.v.blind {
			x.policy.mu.Lock()
			x.policy.changed = &queue.Change{Reason: action.ReasonStaleFile}
			x.policy.mu.Unlock()
		}
	case "restart":
		x.orphaned = func() { close(x.dead) }
		x.policy.wait = nil
		x.crash()
		x.hold()
	}
	synctest.Wait()
	if x.v.after != nil {
		x.v.after(x, o)
		synctest.Wait()
	}
}

// differs says how the queue is not what the model says; "" when it is.
func (x *real) differs(m model) string {
	waiting := 0
	for r := range requests {
		got, err := x.q.Result(x.s[r].Peer, x.s[r].ID)
		switch {
		case m.hidden[r] != (err != nil):
			return fmt.Sprintf("request %d: %v", r, err)
		case err == nil && (got.State != m.state[r] || got.Check() != nil):
			return fmt.Sprintf("request %d is %+v, not %s", r, got, m.state[r])
		}
		if ran := x.runner.ran(x.s[r].ID); ran != m.ran[r] || ran > 1 {
			return fmt.Sprintf("request %d ran %d times, not %d", r, ran, m.ran[r])
		}
		if m.state[r] == action.Pending {
			waiting++
		}
	}
	if n := len(x.q.Pending(peer(other, ops))); n != waiting {
		return fmt.Sprintf("%d requests are shown, not %d", n, waiting)
	}
	return ""
}

// replay has a variant go through a trace and returns where it went wrong.
func replay(t *testing.T, v variant, trace []op) (wrong string) {
	synctest.Test(t, func(t *testing.T) {
		x := start(t, v)
		m := begin
		for i, o := range trace {
			m = m.next(o)
			x.do(o)
			if why := x.differs(m); why != "" {
				wrong = fmt.Sprintf("%v: %s", trace[:i+1], why)
				break
			}
		}
		close(x.dead)
		x.closeOld(x.q)
		if wrong == "" && len(x.problems) > 0 {
			wrong = fmt.Sprintf("%v: %v", trace, x.problems)
		}
	})
	return wrong
}

var begin = model{state: [requests]action.State{action.Pending, action.Pending}}

// walk goes through every state of the model that can be reached in depth steps,
// and from each through every step, whether it changes something or not. It
// stops at the first difference.
func walk(t *testing.T, v variant, depth int) (count int, wrong string) {
	t.Helper()
	seen := map[model]bool{begin: true}
	type node struct {
		m     model
		trace []op
	}
	level := []node{{begin, nil}}
	for range depth {
		var deeper []node
		for _, n := range level {
			for _, o := range steps {
				trace := append(slices.Clone(n.trace), o)
				count++
				if wrong := replay(t, v, trace); wrong != "" {
					return count, wrong
				}
				if m := n.m.next(o); !seen[m] {
					seen[m] = true
					deeper = append(deeper, node{m, trace})
				}
			}
		}
		level = deeper
	}
	return count, ""
}

func TestWalk(t *testing.T) {
	n, wrong := walk(t, variant{}, 6)
	if wrong != "" {
		t.Error(wrong)
	}
	t.Logf("%d traces through the states of the model", n)
	for _, a := range steps { // and all of three steps, also those that should change nothing
		for _, b := range steps {
			for _, c := range steps {
				if wrong := replay(t, variant{}, []op{a, b, c}); wrong != "" {
					t.Fatal(wrong)
				}
			}
		}
	}
}

// Each of these forgets one thing, and each is noticed.
func TestTheWalkNoticesWhatIsForgotten(t *testing.T) {
	final := func(r *store.Record) bool { return r.State.Final() }
	for _, v := range []variant{
		{name: "the expiry of what waits", after: func(x *real, o op) {
			for r := range requests {
				x.q.ForgetExpiry(x.s[r].ID)
			}
		}},
		{name: "the expiry at the spend", after: func(x *real, o op) {
			if o.what == "approve" {
				x.q.ForgetExpiry(x.s[o.r].ID)
			}
		}},
		{name: "on the disk, what is spent", drops: func(r *store.Record) bool { return r.State == action.Spent }},
		{name: "on the disk, what has ended", drops: final},
		{name: "on the disk, what waits", drops: func(r *store.Record) bool { return r.State == action.Pending }},
		{name: "that things changed", blind: true},
		{name: "how many must approve", need: 1},
		{name: "who answered already", twice: true},
		{name: "a cancellation", after: func(x *real, o op) {
			if o.what == "cancel" {
				x.q.ForgetEnd(x.s[o.r].ID, x.s[o.r].Request)
				synctest.Wait()
				x.do(op{"spend", o.r, 0})
			}
		}},
	} {
		t.Run(strings.ReplaceAll(v.name, " ", "_"), func(t *testing.T) {
			if _, wrong := walk(t, v, 4); wrong == "" {
				t.Error("nobody noticed")
			} else {
				t.Log(wrong)
			}
		})
	}
}
