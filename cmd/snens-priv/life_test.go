package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/audit"
)

// awaits waits until a request of the asker is in a state.
func (c *client) awaits(id, state string) {
	c.t.Helper()
	end := time.Now().Add(patience)
	for {
		v := c.call("result", fmt.Sprintf(`{"request":%q}`, id))
		if field(v, "state") == state {
			return
		}
		if time.Now().After(end) {
			c.t.Fatalf("it is %s, not %s", v.JSON(), state)
		}
	}
}

// pid is that of the request's command, by the log. A state is told before it is
// written down, so the record may still be on its way.
func (p *process) pid(id string) int {
	p.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		for _, r := range p.records() {
			if r.Kind == audit.Started && r.ID.String() == id {
				return int(r.PID)
			}
		}
	}
	p.t.Fatalf("no record says that %s was started", id)
	return 0
}

// gone waits until a process that we have no handle of has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err == unix.ESRCH {
		return
	}
	must(t, err)
	defer unix.Close(fd)
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(patience.Milliseconds()))
	if n != 1 {
		t.Errorf("process %d is still there: %v", pid, err)
	}
}

// A stop tells those who wait, ends what runs and records it all.
func TestStopDrains(t *testing.T) {
	p := newRoot(t, policyText)
	p.start()
	waits, runs, gives := p.asker(), p.asker(), p.asker()
	_, pending := waits.begin(`{"rule":"whoami"}`)
	_, kept := gives.begin(`{"rule":"later","detach":true}`)
	runs.send("run", `{"rule":"nap","slots":{"n":["1000"]}}`)
	if v, _ := runs.next(); field(v, "state") != "send_fds" {
		t.Fatalf("%s", v.JSON())
	}
	must(t, runs.SendFDs())
	var running string
	look := p.asker()
	for end := time.Now().Add(patience); running == "" && time.Now().Before(end); {
		look.send("list", `{}`)
		for v, more := look.next(); more; v, more = look.next() {
			if r := v.Get("request"); r != nil && field(*r, "state") == "running" {
				running = field(*r, "id")
			}
		}
	}
	pid := p.pid(running)
	must(t, p.cmd.Process.Signal(unix.SIGTERM))
	if v, _ := waits.next(); ended(v) != "cancelled shutdown" {
		t.Errorf("who waited hears %s", v.JSON())
	}
	if v, _ := runs.next(); ended(v) != "exited shutdown" {
		t.Errorf("whose command ran hears %s", v.JSON())
	}
	if code := p.wait(); code != 0 {
		t.Errorf("stopped with status %d", code)
	}
	gone(t, pid)
	p.until("STOPPING=1")
	for _, socket := range []string{"request", "approval"} {
		if _, err := os.Lstat(p.path("run/" + socket + ".sock")); !os.IsNotExist(err) {
			t.Errorf("the %s socket is still there: %v", socket, err)
		}
	}
	if got := p.kinds(field(pending, "id")); got != "received decided pending cancelled" {
		t.Errorf("records of what waited: %s", got)
	}
	if got := p.kinds(field(kept, "id")); got != "received decided pending" {
		t.Errorf("records of what was detached: %s", got)
	}
	all := p.records()
	if last := all[len(all)-1]; last.Kind != audit.Stop || last.Detail != "signal: terminated" {
		t.Errorf("the last record: %+v", last)
	}
}

// A crash loses what ran, gives up what waited for somebody, and asks again about
// what was detached. Nothing runs twice, and the log verifies.
func TestCrash(t *testing.T) {
	p := newRoot(t, policyText)
	p.start()
	_, pending := p.asker().begin(`{"rule":"whoami"}`)
	_, kept := p.asker().begin(`{"rule":"later","detach":true}`)
	_, running := p.asker().begin(`{"rule":"nap","slots":{"n":["1000"]},"detach":true}`)
	p.asker().awaits(field(running, "id"), "running")
	pid := p.pid(field(running, "id"))
	p.kill()
	for _, socket := range []string{"request", "approval"} { // a crash leaves them
		if _, err := os.Lstat(p.path("run/" + socket + ".sock")); err != nil {
			t.Error(err)
		}
	}
	p.start()
	gone(t, pid)
	for v, want := range map[string]string{
		field(pending, "id"): "received decided pending cancelled",
		field(kept, "id"):    "received decided pending pending",
		field(running, "id"): "received decided approved spent started lost",
	} {
		if got := p.kinds(v); got != want {
			t.Errorf("records: %s, want %s", got, want)
		}
	}
	asker := p.asker()
	if got := ended(asker.call("result", fmt.Sprintf(`{"request":%q}`, field(running, "id")))); got != "lost lost" {
		t.Errorf("what ran is %s", got)
	}
	p.stop()
}

// The second signal does not wait for a command that does not end.
func TestSecondSignalHurries(t *testing.T) {
	p := newRoot(t, policyText+`
[[rule]]
id = "deaf"
decision = "allow"
command = "/usr/bin/sh"
args = ["-c", "trap '' TERM; echo deaf; while :; do sleep 1000; done"]
from = ["uid:54331"]
run_as = {user = "root", group = "root"}
detach = true
i_know = true
`)
	p.start()
	out, v := p.asker().begin(`{"rule":"deaf","detach":true}`)
	must(t, out.SetReadDeadline(time.Now().Add(patience)))
	if n, err := out.Read(make([]byte, 5)); n != 5 {
		t.Fatalf("it does not run: %v %s", err, v.JSON())
	}
	pid := p.pid(field(v, "id"))
	must(t, p.cmd.Process.Signal(unix.SIGTERM))
	p.until("STOPPING=1")
	must(t, p.cmd.Process.Signal(unix.SIGINT))
	p.wait()
	if !strings.Contains(p.log(), "a second signal") {
		t.Errorf("it did not hear the second signal:\n%s", p.log())
	}
	// The next one ends what was left.
	p.start()
	gone(t, pid)
	p.stop()
}
