package action_test

import (
	"slices"
	"testing"

	"snens/broker/action"
)

// The words are part of the protocol and of records: they are written here
// once more by hand, with the exit status each must have.
var exits = map[string]int{
	"denied": 77, "rule_denies": 77, "rule_shadowed": 77, "approver_denied": 77,
	"expired": 76,
	"busy":    75, "duplicate": 75, "cooling_down": 75, "stale_rule": 75, "stale_file": 75, "cancelled": 75,
	"requester_gone": 75, "daemon_restart": 75, "shutdown": 75, "no_record": 75,
	"unreachable": 69, "untrusted_broker": 69,
	"bad_request": 64, "bad_descriptors": 64, "too_long": 64, "reason_required": 64, "not_found": 64,
	"internal": 70, "lost": 70, "unkillable": 70,
	"timed_out": 124, "cannot_start": 126, "command_missing": 127, "killed": 137,
	"gone": 1, "self_approval": 1, "not_approver": 1, "digest_mismatch": 1, "lifespan_refused": 1,
	"presence_missing": 1, "bad_signature": 1, "unknown_principal": 1, "already_voted": 1,
	"exited": 70, "signalled": 70, // the command's own status, never a refusal's
}

func TestReasons(t *testing.T) {
	all := action.Reasons()
	if len(all) != len(exits) {
		t.Errorf("%d reasons, %d are listed here", len(all), len(exits))
	}
	for i, r := range all {
		if int(r) != i+1 {
			t.Fatalf("%v stands at %d, but is number %d", r, i+1, r)
		}
		want, ok := exits[r.String()]
		if !ok || r.ExitStatus() != want {
			t.Errorf("%v: exit %d, want %d (%v)", r, r.ExitStatus(), want, ok)
		}
		if back, err := action.ParseReason(r.String()); err != nil || back != r {
			t.Errorf("%v came back as %v, %v", r, back, err)
		}
		if r.Text() == "" {
			t.Errorf("%v has no text", r)
		}
		for _, s := range r.States() {
			if !s.Final() || !r.Explains(s) {
				t.Errorf("%v explains %v", r, s)
			}
		}
	}
	for _, bad := range []string{"", "Denied", "approved", "allow", "ok", action.Reason(0).String()} {
		if r, err := action.ParseReason(bad); err == nil || r != 0 {
			t.Errorf("%q is %v", bad, r)
		}
	}
	for _, r := range []action.Reason{0, 200, action.Reason(len(all) + 1)} {
		if r.ExitStatus() != action.ExitInternal || r.Explains(action.Exited) || r.States() != nil || r.Text() == "" {
			t.Errorf("%v is a reason", r)
		}
	}
}

func TestStates(t *testing.T) {
	finals := []action.State{
		action.Exited, action.Denied, action.Expired, action.Cancelled, action.Stale, action.FailedToStart, action.Lost,
	}
	events := map[action.Event]bool{}
	for _, s := range action.States() {
		if s.Final() != slices.Contains(finals, s) {
			t.Errorf("%v final: %v", s, s.Final())
		}
		if back, err := action.ParseState(s.String()); err != nil || back != s {
			t.Errorf("%v came back as %v, %v", s, back, err)
		}
		e := s.Event()
		if back, err := action.ParseEvent(e.String()); err != nil || back != e || events[e] {
			t.Errorf("%v has the event %v, %v", s, e, err)
		}
		events[e] = true
		explained := slices.ContainsFunc(action.Reasons(), func(r action.Reason) bool { return r.Explains(s) })
		if explained != s.Final() {
			t.Errorf("%v has a reason: %v", s, explained)
		}
		if s.Final() && s.Event().String() != s.String() {
			t.Errorf("%v ends with the event %v", s, s.Event())
		}
	}
	var zero action.State
	if _, err := action.ParseState(zero.String()); err == nil || zero.Final() || zero.Event() != 0 {
		t.Error("the zero state is one")
	}
	for _, bad := range []string{"", "Exited", "done"} {
		if _, err := action.ParseState(bad); err == nil {
			t.Errorf("%q is a state", bad)
		}
		if _, err := action.ParseEvent(bad); err == nil {
			t.Errorf("%q is an event", bad)
		}
	}
}

// The machine itself: nothing leaves a final state, nothing runs that was not
// spent, nothing is spent that was not approved, every state can end.
func TestStateMachine(t *testing.T) {
	states := append(action.States(), 0, 99)
	into := func(to action.State) (from []action.State) {
		for _, s := range states {
			if s.CanBecome(to) {
				from = append(from, s)
			}
		}
		return from
	}
	for to, from := range map[action.State][]action.State{
		action.Received: nil,
		action.Pending:  {action.Received},
		action.Approved: {action.Received, action.Pending},
		action.Spent:    {action.Approved},
		action.Running:  {action.Spent},
		action.Exited:   {action.Running},
		action.Lost:     {action.Spent, action.Running},
		action.Expired:  {action.Pending, action.Approved},
		action.Stale:    {action.Pending, action.Approved},
		0:               nil,
	} {
		if got := into(to); !slices.Equal(got, from) {
			t.Errorf("%v is reached from %v, want %v", to, got, from)
		}
	}
	for _, s := range states {
		ends := 0
		for _, to := range states {
			if s.CanBecome(to) {
				ends++
				if s.Final() || to == s {
					t.Errorf("%v can become %v", s, to)
				}
			}
		}
		if (ends > 0) != (s != 0 && s != 99 && !s.Final()) {
			t.Errorf("%v has %d ways on", s, ends)
		}
	}
}
