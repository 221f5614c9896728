package client_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"snens/broker/action"
	"snens/broker/client"
	"snens/internal/strictjson"
)

var ctx = context.Background()

func TestListAndResult(t *testing.T) {
	id := anID.String()
	path := fake(t, once(t, "list", `{}`,
		`{"request":{"id":"`+id+`","state":"pending"}}`,
		`{"request":{"id":"`+id+`","state":"exited","reason":"signalled","signal":9}}`, `{"count":2}`))
	list, err := dial(t, path).List(ctx)
	want := []action.Result{{ID: anID, State: action.Pending}, {ID: anID, State: action.Exited, Reason: action.ReasonSignalled, Signal: 9}}
	if err != nil || !reflect.DeepEqual(list, want) {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := dial(t, fake(t, once(t, "list", `{}`, `{"count":0}`))).List(ctx); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	path = fake(t, once(t, "result", `{"request":"`+id+`"}`, `{"id":"`+id+`","state":"running"}`))
	if r, err := dial(t, path).Result(ctx, anID, false); err != nil || r != (action.Result{ID: anID, State: action.Running}) {
		t.Errorf("%+v, %v", r, err)
	}
	path = fake(t, once(t, "result", `{"request":"`+id+`","wait":true}`, `{"id":"`+id+`","state":"expired","reason":"expired"}`))
	if r, err := dial(t, path).Result(ctx, anID, true); err != nil || r.ExitStatus() != action.ExitExpired {
		t.Errorf("%+v, %v", r, err)
	}
	if err := dial(t, fake(t, once(t, "cancel", `{"request":"`+id+`"}`, `{}`))).Cancel(ctx, anID); err != nil {
		t.Error(err)
	}
}

func TestRules(t *testing.T) {
	first := `{"id":"web","about":"restart","decision":"ask","command":"/bin/systemctl","args":[{"text":"restart"},` +
		`{"slot":"unit","kind":"enum","values":["a","b"],"many":2,"optional":true},{"slot":"n","kind":"int","min":-1,"max":9,"many":1,"optional":false},` +
		`{"slot":"p","kind":"path","beneath":"/srv","pattern":"x+"}],"run_as":"root","stdin":"none","detach":true,"cwd":"/","env_pass":["LANG"],` +
		`"timeout":"1m","approvers":["group:ops"],"ttl":"15m","reason_required":true}`
	path := fake(t, once(t, "rules", `{}`, `{"rule":`+first+`}`, `{"rule":{"id":"id","decision":"allow"}}`, `{"count":2}`))
	rules, err := dial(t, path).Rules(ctx)
	if err != nil || len(rules) != 2 {
		t.Fatalf("%+v, %v", rules, err)
	}
	if raw := string(rules[0].Raw.JSON()); raw != first {
		t.Errorf("as it came: %s", raw)
	}
	low, high := int64(-1), int64(9)
	want := client.Rule{
		ID: "web", About: "restart", Decision: client.Ask, Command: "/bin/systemctl", RunAs: "root", Stdin: "none", Detach: true, Cwd: "/",
		EnvPass: []string{"LANG"}, Timeout: time.Minute, Approvers: []string{"group:ops"}, TTL: 15 * time.Minute, ReasonRequired: true,
		Args: []client.Arg{
			{Text: "restart"},
			{Slot: "unit", Kind: "enum", Values: []string{"a", "b"}, Many: 2, Optional: true},
			{Slot: "n", Kind: "int", Min: &low, Max: &high, Many: 1},
			{Slot: "p", Kind: "path", Beneath: "/srv", Pattern: "x+"},
		},
	}
	rules[0].Raw, rules[1].Raw = strictjson.Value{}, strictjson.Value{}
	if !reflect.DeepEqual(rules[0], want) {
		t.Errorf("got  %+v\nwant %+v", rules[0], want)
	}
	if !reflect.DeepEqual(rules[1], client.Rule{ID: "id", Decision: client.Allow}) {
		t.Errorf("%+v", rules[1])
	}
}

func TestCheck(t *testing.T) {
	path := fake(t, once(t, "check", `{"argv":["ls"]}`,
		`{"decision":"ask","rule":"web","argv":["/bin/ls"],"approvers":["ann"],"stdin":"pass","reason_required":true}`))
	j, err := dial(t, path).Check(ctx, client.Command{Argv: []string{"ls"}})
	j.Raw = strictjson.Value{}
	want := client.Judgement{Decision: client.Ask, Rule: "web", Argv: []string{"/bin/ls"}, Approvers: []string{"ann"}, Stdin: "pass", ReasonRequired: true}
	if err != nil || !reflect.DeepEqual(j, want) {
		t.Errorf("%+v, %v", j, err)
	}
	path = fake(t, once(t, "check", `{"rule":"web","slots":{}}`, `{"decision":"deny","reason":"denied","why":"argument 1"}`))
	if j, err := dial(t, path).Check(ctx, client.Command{Rule: "web"}); err != nil || j.Decision != client.Deny || j.Reason != action.ReasonDenied || j.Why != "argument 1" {
		t.Errorf("%+v, %v", j, err)
	}
	// No word that is not known is ever a yes.
	for _, answer := range []string{`{"decision":"maybe"}`, `{}`, `{"decision":"allow","new":1}`} {
		if j, err := dial(t, fake(t, once(t, "check", `{"rule":"web","slots":{}}`, answer))).Check(ctx, client.Command{Rule: "web"}); err == nil {
			t.Errorf("%s: %+v", answer, j)
		}
	}
}

func TestStatusAndReload(t *testing.T) {
	path := fake(t, once(t, "reload", `{}`, `{"generation":7}`))
	if n, err := dial(t, path).Reload(ctx); n != 7 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	path = fake(t, once(t, "status", `{}`, `{"anything":{"it":"says"}}`))
	if v, err := dial(t, path).Status(ctx); string(v.JSON()) != `{"anything":{"it":"says"}}` || err != nil {
		t.Errorf("%s, %v", v.JSON(), err)
	}
}
