package broker_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"snens/broker"
	"snens/broker/action"
)

func TestRules(t *testing.T) {
	w := newWorld(t)
	c := w.dial()
	c.send("rules", `{}`)
	says(t, c.read(), `{"rule":{"id":"show","about":"Show a thing","decision":"allow","command":"/usr/bin/true","args":[`+
		`{"text":"show"},{"slot":"thing","kind":"word","max":255,"pattern":"[a-z]+","many":3,"optional":false},{"slot":"n","kind":"int","min":1,"max":9,"many":1,"optional":true}],`+
		`"run_as":"root","stdin":"none","detach":true,"cwd":"/","env_pass":["NOTE"],"timeout":"1m"}}`)
	says(t, c.read(), `{"rule":{"id":"restart","about":"Restart a thing","decision":"ask","command":"/usr/bin/true","args":[`+
		`{"text":"restart"},{"slot":"unit","kind":"enum","values":["a.service","b.service"],"many":1,"optional":false}],`+
		`"run_as":"root","stdin":"sealed","detach":true,"cwd":"/","env_pass":[],"timeout":"1m","approvers":["uid:54501","group:ops"],"ttl":"5m","reason_required":true}}`)
	says(t, c.last(), `{"count":2}`)
	says(t, c.ask("rules", `{"x":1}`), `bad_request: params: the field "x" is not known here; known are: `)
}

func TestCheck(t *testing.T) {
	w := newWorld(t)
	c := w.dial()
	for params, want := range map[string]string{
		`{"rule":"show","slots":{"thing":["a"]}}`: `{"decision":"allow","rule":"show","argv":["/usr/bin/true","show","a"],"stdin":"none"}`,
		`{"argv":["true","restart","b.service"]}`: `{"decision":"ask","rule":"restart","argv":["/usr/bin/true","restart","b.service"],"approvers":["uid:54501","group:ops"],"reason_required":true,"stdin":"sealed"}`,
		`{"argv":["/usr/bin/true","stop"]}`:       `{"decision":"deny","rule":"no-stop","reason":"rule_denies","why":"rule no-stop denies this","argv":["/usr/bin/true","stop"]}`,
		`{"rule":"none"}`:                         `{"decision":"deny","reason":"bad_request","why":"no rule \"none\" is for you"}`,
	} {
		says(t, c.ask("check", params), want)
	}
	for params, want := range map[string]string{
		`{}`: "neither rule nor argv", `{"rule":"show","fds":1}`: `"fds" is not known`, `{"argv":[]}`: "must begin with the command",
	} {
		if r := c.ask("check", params); r.Err == nil || r.Err.Code != "bad_request" || !strings.Contains(r.Err.Message, want) {
			t.Errorf("%s: told %s", params, said(r))
		}
	}
	// What would not fit into the answer is no fault of ours.
	if r := c.ask("check", `{"argv":["/x","`+strings.Repeat(`\u0001`, 40_000)+`"]}`); r.Err != nil && r.Err.Code != "too_long" {
		t.Errorf("told %.200s", said(r))
	}
	if len(w.did()) != 0 || len(w.told()) != 0 {
		t.Errorf("did %q, told of %v", w.did(), w.told())
	}
}

func TestOnesOwnRequests(t *testing.T) {
	one, two := action.RequestID{1}, action.RequestID{2}
	w := newWorld(t, func(w *world, _ *broker.Options) {
		w.mine = []action.Result{{ID: one, State: action.Pending}, {ID: two, State: action.Exited, Reason: action.ReasonExited, Code: 3}}
	})
	c := w.dial()
	c.send("list", `{}`)
	says(t, c.read(), `{"request":{"id":"`+one.String()+`","state":"pending"}}`)
	says(t, c.read(), `{"request":{"id":"`+two.String()+`","state":"exited","reason":"exited","exit_code":3}}`)
	says(t, c.last(), `{"count":2}`)
	says(t, c.ask("result", `{"request":"`+one.String()+`"}`), `{"id":"`+one.String()+`","state":"pending"}`)
	says(t, c.ask("result", `{"request":"`+two.String()+`","wait":true}`), `{"id":"`+two.String()+`","state":"exited","reason":"exited","exit_code":3}`)
	says(t, c.ask("cancel", `{"request":"`+one.String()+`"}`), `{}`)
	foreign := action.RequestID{3}.String()
	for _, method := range []string{"result", "cancel"} {
		says(t, c.ask(method, `{"request":"`+foreign+`"}`), "not_found: there is no such request")
		for params, want := range map[string]string{
			`{}`: `"request" is missing`, `{"request":null}`: "not null", `{"request":"x"}`: "params.request", `{"request":1}`: "must be a string",
			`{"id":"` + foreign + `","request":"` + foreign + `"}`:               `"id" is not known`,
			`{"request":"` + foreign + `","wait":1}`:                             "wait",
			`{"request":"` + action.RequestID{}.String() + `"}`:                  "params.request",
			`{"request":"` + strings.ToUpper(one.String()) + `"}`:                "params.request",
			`{"request":{"base64":"` + strings.Repeat("A", 100_000) + `/////"}}`: "must be a string",
		} {
			if r := c.ask(method, params); r.Err == nil || r.Err.Code != "bad_request" || !strings.Contains(r.Err.Message, want) {
				t.Errorf("%s %.80s: told %s", method, params, said(r))
			}
		}
	}
}

// Waiting for a result holds nothing up, is bounded, and ends with the connection.
func TestWaitingForResults(t *testing.T) {
	one := action.RequestID{1}
	w := newWorld(t, func(w *world, _ *broker.Options) { w.mine = []action.Result{{ID: one, State: action.Pending}} })
	c := w.dial()
	wait := `{"request":"` + one.String() + `","wait":true}`
	for range broker.MaxWaits {
		c.send("result", wait)
	}
	says(t, c.ask("result", wait), "busy: too many results are waited for on this connection")
	says(t, c.ask("cancel", `{"request":"`+one.String()+`"}`), `{}`)
	c.Close()
	eventually(t, "nobody waits any more", func() bool {
		return strings.Count(strings.Join(w.did(), "\n"), "waited") == broker.MaxWaits
	})
	if n := w.counted(action.ReasonShutdown); n != 0 {
		t.Errorf("counted %d who had left", n)
	}
}

func TestReloadTellsEveryFault(t *testing.T) {
	fails := func(faults []string) func(*world, *broker.Options) {
		return func(w *world, o *broker.Options) {
			w.reload = func() (int, []string) { return 4, faults }
			o.UserMode, o.Owner = true, uid()
		}
	}
	w := newWorld(t, fails([]string{"priv.toml:3:1: one", "priv.toml:9:1: two"}))
	says(t, w.dial().ask("reload", `{}`), `reload_failed: the policy has faults, so the one before stays in force {"faults":["priv.toml:3:1: one","priv.toml:9:1: two"]}`)
	var many []string
	for i := range 5000 {
		many = append(many, fmt.Sprintf("priv.toml:%d:1: %s", i, strings.Repeat("\x01", 60)))
	}
	r := newWorld(t, fails(many)).dial().ask("reload", `{}`)
	list := r.Err.Detail.Get("faults").Items
	if last := list[len(list)-1].Text; len(list) < 100 || last != fmt.Sprintf("and %d more; snens-priv check lists them all", 5000-len(list)+1) {
		t.Errorf("%d faults, the last %q", len(list), last)
	}
}

func TestUnknownMethods(t *testing.T) {
	w := newWorld(t)
	says(t, w.dial().ask("answer", `{}`), "unknown_method: there is no method answer here")
}

// What waits when the server stops is told; what ends in time is told how.
func TestStopping(t *testing.T) {
	one := action.RequestID{1}
	w := newWorld(t, func(w *world, _ *broker.Options) { w.mine = []action.Result{{ID: one, State: action.Pending}} })
	quick, slow, waits, idle := w.dial(), w.dial(), w.dial(), w.dial()
	quick.start(restartA)
	quick.read()
	first := <-w.tickets
	slow.start(restartA)
	slow.read()
	second := <-w.tickets
	waits.send("result", `{"request":"`+one.String()+`","wait":true}`)
	eventually(t, "it waits", func() bool { return strings.Contains(strings.Join(w.did(), " "), "wait") })
	go w.stop()
	says(t, waits.last(), "shutdown: "+action.ReasonShutdown.Text())
	first.end(action.Cancelled, action.ReasonShutdown)
	if r := quick.last(); r.Err != nil || !strings.Contains(said(r), `"cancelled","reason":"shutdown"`) {
		t.Errorf("told %s", said(r))
	}
	says(t, slow.last(), "shutdown: "+action.ReasonShutdown.Text())
	w.stop()
	if len(idle.ends()) != 0 || len(first.left) != 0 || len(second.left) != 0 {
		t.Error("something was said to whoever waits for nothing, or given up")
	}
	second.end(action.Cancelled, action.ReasonShutdown)
}

// A run that comes when the server stops does not begin.
func TestNoRunWhileStopping(t *testing.T) {
	w := newWorld(t)
	c := w.dial()
	c.send("run", showA)
	c.read()
	go w.stop()
	if why := c.ends(); len(why) > 1 {
		t.Errorf("told %v", why)
	}
	if got := strings.Join(w.did(), " "); got != "make" {
		t.Errorf("did %q", got)
	}
}

func TestNewNeedsAll(t *testing.T) {
	if _, err := broker.New(broker.Options{}); err == nil {
		t.Error("made of nothing")
	}
}

// What nobody but us did wrong is told to us alone.
func TestFaultsStayOurs(t *testing.T) {
	w := newWorld(t, func(w *world, _ *broker.Options) { w.room = errors.New("/secret/path") })
	says(t, w.dial().ask("run", showA), "internal: "+action.ReasonInternal.Text())
	if p := w.told(); len(p) != 1 || !strings.Contains(p[0].Error(), "/secret/path") {
		t.Errorf("told of %v", p)
	}
}

// A client that does not read what it asked for is hung up on, and its run is
// given up.
func TestAClientThatDoesNotRead(t *testing.T) {
	w := newWorld(t, func(w *world, o *broker.Options) {
		o.Times.Write = 100 * time.Millisecond
		for range 2000 {
			w.mine = append(w.mine, action.Result{ID: action.RequestID{1}, State: action.Pending})
		}
	})
	c := w.dial()
	c.start(restartA)
	c.read()
	ticket := <-w.tickets
	for range 20 {
		c.send("list", `{}`)
	}
	<-ticket.left
	ticket.end(action.Cancelled, action.ReasonRequesterGone)
}
