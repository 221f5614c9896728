package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snens/internal/strictjson"
)

func TestAllowRuns(t *testing.T) {
	p := newRoot(t, policyText)
	p.start()
	out, v := p.asker().begin(`{"rule":"hello","slots":{"who":["world"]}}`)
	if got := ended(v); got != "exited exited" || field(v, "exit_code") != "0" {
		t.Errorf("it ended %s", v.JSON())
	}
	if got := output(t, out); got != "hello world\n" {
		t.Errorf("it printed %q", got)
	}
	p.stop()
	if got := p.kinds(field(v, "id")); got != "received decided approved spent started exited" {
		t.Errorf("records: %s", got)
	}
}

func TestDeniedDoesNotRun(t *testing.T) {
	p := newRoot(t, policyText)
	p.start()
	asker := p.asker()
	for params, want := range map[string]string{
		`{"argv":["/usr/bin/cat","/etc/shadow"]}`: "rule_denies",
		`{"argv":["/usr/bin/rm","-rf","/"]}`:      "denied",
		`{"rule":"hello","slots":{"who":["-n"]}}`: "denied",
		`{"argv":[]}`:                        "bad_request",
		`{"argv":[""]}`:                      "bad_request",
		`{"argv":null}`:                      "bad_request",
		`{}`:                                 "bad_request",
		`{"rule":"hello","approver":"root"}`: "bad_request",
		`{"rule":"whoami","run_as":{"user":"me"}}`: "bad_request",
	} {
		if got := asker.code("run", params); got != want {
			t.Errorf("%s: %s, want %s", params, got, want)
		}
	}
	p.stop()
}

// Whoever is named nowhere learns nothing, and the sockets are no wider than they
// should be.
func TestStrangersLearnNothing(t *testing.T) {
	p := newRoot(t, policyText)
	p.start()
	for _, c := range []struct {
		socket   string
		uid, gid int
		methods  []string
	}{
		{"request", uidStranger, gidAskers, []string{"rules", "list", "status", "reload", "no_such_method"}},
		{"request", uidAsker, gidAskers, []string{"status", "reload"}},
	} {
		client := p.dial(c.socket, c.uid, c.gid)
		for _, m := range c.methods {
			if got := client.code(m, `{}`); got != "denied" {
				t.Errorf("uid %d, %s on the %s socket: %s", c.uid, m, c.socket, got)
			}
		}
	}
	// Without the socket's group there is not even a connection.
	for _, socket := range []string{"request", "approval"} {
		if _, err := connect(p.path("run/"+socket+".sock"), uidStranger, uidStranger); err != unix.EACCES {
			t.Errorf("a stranger without the group at the %s socket: %v", socket, err)
		}
	}
	for socket, gid := range map[string]uint32{"request": gidAskers, "approval": gidApprove} {
		var st unix.Stat_t
		must(t, unix.Stat(p.path("run/"+socket+".sock"), &st))
		if st.Mode&0o7777 != 0o660 || st.Uid != 0 || st.Gid != gid {
			t.Errorf("the %s socket is %d:%d %#o", socket, st.Uid, st.Gid, st.Mode&0o7777)
		}
	}
	p.stop()
}

func TestReload(t *testing.T) {
	p := newRoot(t, policyText)
	p.start()
	socket := p.path("run/request.sock")
	write(t, p.path("priv.toml"), strings.Replace(policyText, `"hello", {`, `"bonjour", {`, 1))
	if code, out, errs := do("reload", "--socket", socket); code != 0 || out != "the policy was loaded; it is generation 2\n" {
		t.Fatalf("reload: %d %s%s", code, out, errs)
	}
	out, v := p.asker().begin(`{"rule":"hello","slots":{"who":["world"]}}`)
	if got := output(t, out); ended(v) != "exited exited" || got != "bonjour world\n" {
		t.Errorf("%s printed %q", v.JSON(), got)
	}

	// Broken: the last good one stays, and everybody who looks is told.
	write(t, p.path("priv.toml"), policyText+"\nnonsense = 1\n")
	code, _, errs := do("reload", "--socket", socket)
	if code != 1 || !strings.Contains(errs, "nonsense") || !strings.Contains(errs, "priv.toml:") {
		t.Errorf("a broken policy: %d %s", code, errs)
	}
	out, _ = p.asker().begin(`{"rule":"hello","slots":{"who":["world"]}}`)
	if got := output(t, out); got != "bonjour world\n" {
		t.Errorf("after the broken one it printed %q", got)
	}
	code, text, _ := do("status", "--socket", socket)
	if code != 1 || !strings.Contains(text, "THE LAST RELOAD FAILED") || !strings.Contains(text, "generation 2") {
		t.Errorf("status: %d %s", code, text)
	}
	must(t, os.Chmod(p.path("priv.toml"), 0o666))
	if code, _, errs := do("reload", "--socket", socket); code != 1 || !strings.Contains(errs, "writable by others") {
		t.Errorf("a policy that others can write: %d %s", code, errs)
	}
	must(t, os.Chmod(p.path("priv.toml"), 0o644))

	// Mended, by the signal.
	write(t, p.path("priv.toml"), policyText)
	p.drain()
	must(t, p.cmd.Process.Signal(unix.SIGHUP))
	p.until("RELOADING=1\nMONOTONIC_USEC=")
	p.until("READY=1")
	if code, text, errs := do("status", "--socket", socket); code != 0 || !strings.Contains(text, "generation 3") {
		t.Errorf("status: %d %s%s", code, text, errs)
	}
	p.stop()
	var kinds []string
	for _, r := range p.records() {
		if r.ID.IsZero() {
			kinds = append(kinds, string(r.Kind))
		}
	}
	if got := strings.Join(kinds, " "); got != "start reload reload_failed reload_failed reload stop" {
		t.Errorf("records: %s", got)
	}
}

func TestStatus(t *testing.T) {
	p := newRoot(t, policyText)
	p.start()
	_, running := p.asker().begin(`{"rule":"nap","slots":{"n":["1000"]},"detach":true}`)
	_, pending := p.asker().begin(`{"rule":"whoami"}`)
	for _, v := range []strictjson.Value{running, pending} {
		if field(v, "id") == "" {
			t.Fatalf("%s", v.JSON())
		}
	}
	p.asker().awaits(field(running, "id"), "running")
	code, text, errs := do("status", "--socket", p.path("run/request.sock"), "--json")
	if code != 0 {
		t.Fatalf("%d %s", code, errs)
	}
	v, err := strictjson.Parse([]byte(text), strictjson.Options{})
	must(t, err)
	s := answer{&v}
	for _, c := range []struct {
		want string
		at   []string
	}{
		{"1.2.3", []string{"version"}},
		{"root", []string{"boundary"}},
		{fmt.Sprint(p.cmd.Process.Pid), []string{"pid"}},
		{"1", []string{"policy", "generation"}},
		{"5", []string{"policy", "rules"}},
		{"1", []string{"requests", "pending"}},
		{"1", []string{"requests", "running"}},
		{"2", []string{"requests", "live"}},
		{"0", []string{"requests", "unkillable"}},
	} {
		if got := s.at(c.at...); got != c.want {
			t.Errorf("%v is %q, want %q", c.at, got, c.want)
		}
	}
	if list := s.get("sockets"); list == nil || len(list.Items) != 2 || field(list.Items[1], "path") != p.path("run/approval.sock") {
		t.Errorf("sockets: %s", text)
	}
	p.stop()
}
