package action_test

import (
	"strings"
	"testing"
	"time"

	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/strictjson"
)

func readResult(data string) (action.Result, error) {
	o := fields.Parse([]byte(data), "result", strictjson.Options{})
	r := action.ReadResult(o)
	return r, o.Close()
}

func TestExitStatusOfResults(t *testing.T) {
	for _, c := range []struct {
		r    action.Result
		exit int
		ours bool
	}{
		{action.Result{State: action.Exited, Reason: action.ReasonExited}, 0, false},
		{action.Result{State: action.Exited, Reason: action.ReasonExited, Code: 77}, 77, false},
		{action.Result{State: action.Exited, Reason: action.ReasonSignalled, Signal: 15}, 143, false},
		{action.Result{State: action.Exited, Reason: action.ReasonTimedOut}, 124, true},
		{action.Result{State: action.Exited, Reason: action.ReasonKilled}, 137, true},
		{action.Result{State: action.Exited, Reason: action.ReasonCancelled}, 137, true},
		{action.Result{State: action.Exited, Reason: action.ReasonRequesterGone}, 137, true},
		{action.Result{State: action.Exited, Reason: action.ReasonShutdown}, 137, true},
		{action.Result{State: action.Exited, Reason: action.ReasonUnkillable}, 70, true},
		{action.Result{State: action.Cancelled, Reason: action.ReasonCancelled}, 75, true},
		{action.Result{State: action.Denied, Reason: action.ReasonDenied}, 77, true},
		{action.Result{State: action.Expired, Reason: action.ReasonExpired}, 76, true},
		{action.Result{State: action.FailedToStart, Reason: action.ReasonCommandMissing}, 127, true},
		{action.Result{State: action.Lost, Reason: action.ReasonLost}, 70, true},
		{action.Result{}, 70, true},
		{action.Result{State: action.Running}, 70, true},
		{action.Result{State: action.Exited}, 70, true},
		{action.Result{State: action.Denied, Reason: action.ReasonExited}, 70, true},
		{action.Result{State: action.Exited, Reason: action.ReasonExited, Code: 256}, 70, true},
		{action.Result{State: action.Exited, Reason: action.ReasonExited, Code: -1}, 70, true},
		{action.Result{State: action.Exited, Reason: action.ReasonSignalled}, 70, true},
		{action.Result{State: action.Exited, Reason: action.ReasonKilled, Code: 1}, 70, true},
		{action.Result{State: 99, Reason: action.ReasonDenied}, 70, true},
	} {
		if got := c.r.ExitStatus(); got != c.exit || c.r.Ours() != c.ours {
			t.Errorf("%+v: exit %d, ours %v; want %d, %v", c.r, got, c.r.Ours(), c.exit, c.ours)
		}
	}
}

// Only a command that ran to its own end can end a call with 0.
func TestNothingElseIsSuccess(t *testing.T) {
	for _, s := range append(action.States(), 0, 99) {
		for _, reason := range append(action.Reasons(), 0, 99) {
			r := action.Result{State: s, Reason: reason}
			if r.ExitStatus() == 0 && (s != action.Exited || reason != action.ReasonExited) {
				t.Errorf("%v, %v ends with 0", s, reason)
			}
		}
	}
}

func TestResultComesBack(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 678000, time.UTC)
	for _, r := range []action.Result{
		{ID: action.RequestID{1}, State: action.Pending},
		{ID: action.RequestID{1}, State: action.Exited, Reason: action.ReasonExited, Started: at, Ended: at.Add(time.Hour)},
		{ID: action.RequestID{1}, State: action.Exited, Reason: action.ReasonExited, Code: 255},
		{ID: action.RequestID{1}, State: action.Exited, Reason: action.ReasonSignalled, Signal: 9},
		{ID: action.RequestID{1}, State: action.Stale, Reason: action.ReasonStaleFile},
	} {
		v := r.Value()
		got, err := readResult(string(v.JSON()))
		if err != nil || got != r {
			t.Errorf("%s came back as %+v, %v", v.JSON(), got, err)
		}
	}
}

func TestReadResultRefuses(t *testing.T) {
	id := action.RequestID{1}.String()
	for _, c := range []struct{ in, want string }{
		{`{"state":"pending"}`, `"id" is missing`},
		{`{"id":"` + id + `","state":"approved","reason":"denied"}`, "no reason yet"},
		{`{"id":"` + id + `","state":"denied"}`, "no reason for the state"},
		{`{"id":"` + id + `","state":"denied","reason":"expired"}`, "no reason for the state"},
		{`{"id":"` + id + `","state":"denied","reason":"no"}`, "no reason code"},
		{`{"id":"` + id + `","state":"allowed"}`, "allowed are received, pending"},
		{`{"id":"` + id + `","state":"exited","reason":"exited"}`, "has an exit_code"},
		{`{"id":"` + id + `","state":"exited","reason":"exited","exit_code":256}`, "from 0 to 255"},
		{`{"id":"` + id + `","state":"exited","reason":"signalled"}`, "signal"},
		{`{"id":"` + id + `","state":"exited","reason":"exited","exit_code":0,"signal":9}`, "signal"},
		{`{"id":"` + id + `","state":"pending","started":"2030-01-02T03:04:05Z"}`, "no time"},
		{`{"id":"` + id + `","state":"pending","x":1}`, "not known"},
	} {
		if r, err := readResult(c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v; want %q", c.in, r, err, c.want)
		}
	}
}

func TestClaimsAndSeenComeBack(t *testing.T) {
	claims := action.Claims{Session: "s\x80", Tool: "service", Reason: "approved by root already\n"}
	v := claims.Value()
	o := fields.Of(&v, "claims")
	if got := action.ReadClaims(o); o.Close() != nil || got != claims {
		t.Errorf("%+v", got)
	}
	for _, seen := range []action.Seen{{}, {PID: 7, Command: "sh", Exe: "/bin/\xff", Cgroup: "/a", Login: action.Login{UID: 0, Set: true}}} {
		v = seen.Value()
		o = fields.Of(&v, "seen")
		if got := action.ReadSeen(o); o.Close() != nil || got != seen {
			t.Errorf("%+v", got)
		}
	}
	for _, long := range []action.Claims{
		{Session: strings.Repeat("x", action.MaxClaim+1)},
		{Tool: strings.Repeat("x", action.MaxClaim+1)},
		{Reason: strings.Repeat("x", action.MaxReason+1)},
	} {
		v = long.Value()
		o = fields.Of(&v, "claims")
		action.ReadClaims(o)
		if long.Check() == nil || o.Close() == nil {
			t.Errorf("%+v was taken", long)
		}
	}
	if (action.Claims{Reason: " \n"}).HasReason() || !claims.HasReason() {
		t.Error("blanks are a reason")
	}
}
