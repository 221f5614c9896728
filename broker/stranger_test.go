package broker_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"snens/broker"
	"snens/broker/action"
	"snens/internal/sockets"
	"snens/internal/testneed"
)

// lines sends lines on a connection that is greeted, and gives the answer to each.
func lines(t *testing.T, uc *net.UnixConn, send []string) (got []string) {
	t.Helper()
	r := bufio.NewReader(uc)
	for i, line := range append([]string{`{"hello":{"version":1,"capabilities":[]}}`}, send...) {
		_, err := uc.Write([]byte(line + "\n"))
		must(t, err)
		answer, err := r.ReadString('\n')
		must(t, err)
		if i > 0 {
			got = append(got, answer)
		}
	}
	return got
}

// Whoever no rule names gets the same bytes to everything, and nothing is done
// for him: what exists, what he spelled wrong and who asked for what stays hidden.
func TestAStrangerLearnsNothing(t *testing.T) {
	testneed.Root(t)
	w := newWorld(t, func(w *world, _ *broker.Options) {
		w.mine = []action.Result{{ID: action.RequestID{9}, State: action.Pending}}
		w.reload = func() (int, []string) { t.Error("reloaded"); return 1, nil }
	})
	id := action.RequestID{9}.String()
	var send []string
	for _, c := range []string{
		`"run","params":` + showA, `"run","params":` + restartA, `"run","params":{"argv":["/usr/bin/true","stop"]}`,
		`"run","params":{"argv":["/usr/bin/true","show","a"],"fds":3}`, `"run","params":{"rule":"none"}`, `"run"`,
		`"run","params":{"argv":[]}`, `"run","params":{"unknown":1}`, `"run","params":{"argv":["` + strings.Repeat("x", 70_000) + `"]}`,
		`"check","params":{"rule":"show"}`, `"check","params":{"argv":["/etc/shadow"]}`, `"rules"`, `"rules","params":{"x":1}`,
		`"list"`, `"result","params":{"request":"` + id + `"}`, `"result","params":{"request":"x","wait":true}`, `"cancel","params":{"request":"` + id + `"}`,
		`"status"`, `"reload"`, `"grants"`, `"answer","params":{"request":"` + id + `"}`,
	} {
		send = append(send, `{"id":1,"method":`+c+`}`)
	}
	const want = `{"id":1,"error":{"code":"denied","message":"this is not allowed"}}` + "\n"
	for i, got := range lines(t, connectAs(t, w.path, stranger, stranger), send) {
		if got != want {
			t.Errorf("%.80s\ntold %s", send[i], got)
		}
	}
	if did := w.did(); len(did) != 0 {
		t.Errorf("did %q", did)
	}
	if n := w.counted(action.ReasonDenied); n != uint64(len(send)) {
		t.Errorf("counted %d of %d", n, len(send))
	}
	for _, e := range w.records() {
		if e.UID != stranger {
			t.Errorf("recorded %+v", e)
		}
	}
}

// Groups count as the kernel had them at connect, and nothing that he says.
func TestGroupsAreTheKernels(t *testing.T) {
	testneed.Root(t)
	w := newWorld(t)
	w.policy.Store(parsePolicy(t, strings.Replace(fmt.Sprintf(rulesText, 0, approver), `from = ["uid:0"]`, `from = ["group:ops"]`, 1)))
	for _, c := range []struct {
		gid    int
		groups []int
		named  bool
	}{{stranger, nil, false}, {54550, nil, true}, {stranger, []int{54550}, true}, {stranger, []int{54551, 4}, false}} {
		cl := greet(t, connectAs(t, w.path, stranger, c.gid, c.groups...))
		r := cl.ask("check", `{"rule":"show"}`)
		if named := r.Err == nil; named != c.named {
			t.Errorf("gid %d, groups %v: told %s", c.gid, c.groups, said(r))
		}
		cl.Close()
	}
}

// A requester of the policy is no administrator; root is, also where no rule
// names him.
func TestWhoMayReload(t *testing.T) {
	testneed.Root(t)
	var times atomic.Int64
	change := func(w *world, _ *broker.Options) { w.reload = func() (int, []string) { return int(times.Add(1)), nil } }
	w := newWorld(t, change)
	w.policy.Store(parsePolicy(t, fmt.Sprintf(rulesText, stranger, approver)))
	c := greet(t, connectAs(t, w.path, stranger, stranger))
	for _, method := range []string{"reload", "status"} {
		says(t, c.ask(method, `{}`), "denied: this is not allowed")
	}
	root := w.dial()
	says(t, root.ask("reload", `{}`), `{"generation":1}`)
	says(t, root.ask("status", `{}`), `{"fine":true}`)
	says(t, root.ask("rules", `{}`), "denied: this is not allowed")
	says(t, root.ask("nothing", `{}`), "denied: this is not allowed")
	if r := root.ask("reload", `{"x":1}`); r.Err == nil || r.Err.Code != "bad_request" {
		t.Errorf("told %s", said(r))
	}
	if times.Load() != 1 {
		t.Errorf("reloaded %d times", times.Load())
	}
	// In --user mode the owner is, and nobody else.
	u := newWorld(t, change, func(_ *world, o *broker.Options) { o.UserMode, o.Owner = true, stranger })
	says(t, greet(t, connectAs(t, u.path, stranger, stranger)).ask("reload", `{}`), `{"generation":2}`)
	says(t, greet(t, connectAs(t, u.path, approver, approver)).ask("reload", `{}`), "denied: this is not allowed")
	// The owner means nothing without it.
	n := newWorld(t, change, func(_ *world, o *broker.Options) { o.Owner = stranger })
	says(t, greet(t, connectAs(t, n.path, stranger, stranger)).ask("reload", `{}`), "denied: this is not allowed")
}

// What a process has in its environment says nothing about who it is.
func TestIdentityIsTheConnections(t *testing.T) {
	testneed.Root(t)
	for _, name := range []string{"SUDO_UID", "PKEXEC_UID", "DOAS_USER"} {
		t.Setenv(name, "0")
	}
	w := newWorld(t)
	says(t, greet(t, connectAs(t, w.path, stranger, 0, 0)).ask("status", `{}`), "denied: this is not allowed")
	if os.Getuid() == 0 {
		c := w.dial()
		c.start(showA)
		(<-w.tickets).end(action.Exited, action.ReasonKilled)
		c.last()
		if s := w.ids()[0]; s.Peer.UID != 0 || s.Seen.Exe == "" {
			t.Errorf("%+v", s)
		}
	}
}

// Who has no place is told so, and counted.
func TestWhoFindsNoPlace(t *testing.T) {
	w := newWorld(t, func(_ *world, o *broker.Options) { o.Gate = sockets.NewGate(sockets.Limits{PerUID: 1, Total: 1}) })
	c := w.dial()
	uc, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: w.path, Net: "unix"})
	must(t, err)
	defer uc.Close()
	got, err := bufio.NewReader(uc).ReadString('\n')
	if want := `{"id":null,"error":{"code":"busy","message":"` + action.ReasonBusy.Text() + `"}}` + "\n"; err != nil || got != want {
		t.Errorf("told %s, %v", got, err)
	}
	says(t, c.ask("list", `{}`), `{"count":0}`)
	if n := w.counted(action.ReasonBusy); n != 1 {
		t.Errorf("counted %d", n)
	}
}
