package client_test

import (
	"context"
	"errors"
	"testing"

	"snens/broker/action"
	"snens/broker/client"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

// Every code that a broker can answer with has an exit status, never 0.
func TestEveryRefusalHasItsExitStatus(t *testing.T) {
	want := map[string]int{
		"too_large": 64, "unknown_method": 70, "unsupported_version": 69, "timeout": 69, "reload_failed": 1, "something_new": 70,
	}
	for _, r := range action.Reasons() {
		want[r.String()] = r.ExitStatus()
	}
	for code, exit := range want {
		path := fake(t, func(c *wire.Conn) {
			q, err := c.ReadRequest(0)
			if err != nil {
				return
			}
			_ = c.Fail(q.ID, wire.Errorf(wire.Code(code), "this is why"))
			_, _ = c.ReadRequest(0)
		})
		_, err := dial(t, path).Run(context.Background(), client.Request{Command: client.Command{Rule: "web"}}, nil)
		var refused *client.Refused
		if !errors.As(err, &refused) || refused.Code != code || refused.Message != "this is why" || refused.ExitStatus() != exit || client.ExitStatus(err) != exit {
			t.Errorf("%s: %+v, exit status %d, want %d", code, err, client.ExitStatus(err), exit)
		}
	}
	if client.ExitStatus(nil) != 0 || client.ExitStatus(errors.New("x")) != 70 {
		t.Error("other errors")
	}
}

func TestTheDetailOfARefusal(t *testing.T) {
	for detail, want := range map[string]client.Refused{
		`{"rule":"web","id":"` + anID.String() + `","why":"argument 2","faults":["a","b"]}`: {Rule: "web", ID: anID, Why: "argument 2", Faults: []string{"a", "b"}},
		`{"rule":"web","new":[1]}`: {Rule: "web"},
		`{}`:                       {},
	} {
		path := fake(t, func(c *wire.Conn) {
			q, err := c.ReadRequest(0)
			if err != nil {
				return
			}
			v, err := strictjson.Parse([]byte(detail), strictjson.Options{})
			if err != nil {
				t.Error(err)
			}
			_ = c.Fail(q.ID, &wire.Error{Code: "denied", Message: "no", Detail: &v})
			_, _ = c.ReadRequest(0)
		})
		_, err := dial(t, path).Check(context.Background(), client.Command{Rule: "web"})
		var got *client.Refused
		if !errors.As(err, &got) || got.Reason != action.ReasonDenied || got.Rule != want.Rule || got.ID != want.ID || got.Why != want.Why || len(got.Faults) != len(want.Faults) {
			t.Errorf("%s: %+v", detail, got)
		}
	}
}

// A broker that hangs up: before the descriptors nothing can have run,
// afterwards nobody knows.
func TestTheBrokerHangsUp(t *testing.T) {
	for name, c := range map[string]struct {
		serve func(c *wire.Conn)
		want  action.Reason
	}{
		"before the request":    {func(*wire.Conn) {}, action.ReasonUnreachable},
		"after the request":     {func(c *wire.Conn) { _, _ = c.ReadRequest(0) }, action.ReasonUnreachable},
		"after the descriptors": {runs(t, func(*running) {}), action.ReasonLost},
		"while people are asked": {runs(t, func(r *running) {
			r.pends(anID, 1)
		}), action.ReasonLost},
		"and says why": {func(c *wire.Conn) {
			_, _ = c.ReadRequest(0)
			c.Refuse(wire.Errorf(wire.Busy, "too many"))
		}, action.ReasonBusy},
	} {
		_, err := dial(t, fake(t, c.serve)).Run(context.Background(), client.Request{Command: client.Command{Rule: "web"}}, nil)
		var refused *client.Refused
		if !errors.As(err, &refused) || refused.Reason != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestAnswersThatMakeNoSense(t *testing.T) {
	for _, last := range []string{
		`{}`, `{"id":"x","state":"exited"}`, `{"id":"` + anID.String() + `","state":"exited"}`,
		`{"id":"` + anID.String() + `","state":"exited","reason":"exited","exit_code":300}`,
		`{"id":"` + anID.String() + `","state":"denied","reason":"denied","extra":1}`,
	} {
		path := fake(t, runs(t, func(r *running) { _ = r.Reply(r.id, value(t, last)) }))
		result, err := dial(t, path).Run(context.Background(), client.Request{Command: client.Command{Rule: "web"}}, nil)
		if client.ExitStatus(err) != action.ExitInternal {
			t.Errorf("%s: %+v, %v", last, result, err)
		}
	}
	path := fake(t, runs(t, func(r *running) { _ = r.More(r.id, value(t, `{"state":"pending"}`)) }))
	if _, err := dial(t, path).Run(context.Background(), client.Request{Command: client.Command{Rule: "web"}}, nil); client.ExitStatus(err) != action.ExitInternal {
		t.Errorf("half a notice: %v", err)
	}
}
