package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"snens/internal/wire"
)

// Budgets of memory, in KiB.
const (
	idleLimit    = 20 << 10
	crowdedLimit = 64 << 10
)

// resident is the memory of the running broker, in KiB.
func (p *process) resident() int {
	p.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	must(p.t, err)
	for l := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(l, ":"); name == "VmRSS" {
			kib, err := strconv.Atoi(strings.Fields(value)[0])
			must(p.t, err)
			return kib
		}
	}
	p.t.Fatal("/proc/PID/status has no VmRSS")
	return 0
}

func TestIdleMemory(t *testing.T) {
	p := newRoot(t, policyText)
	p.start()
	out, _ := p.asker().begin(`{"rule":"hello","slots":{"who":["world"]}}`) // it has worked once
	output(t, out)
	kib := p.resident()
	t.Logf("resident: %d KiB", kib)
	if kib >= idleLimit {
		t.Errorf("idle it takes %d KiB, more than %d", kib, idleLimit)
	}
	p.stop()
}

// As many requests wait as may: 5 of each of 2000 uids.
func TestCrowdedMemory(t *testing.T) {
	const uids, each, first = 2000, 5, 60_000
	var from []string
	for i := range uids {
		from = append(from, fmt.Sprintf("%q", fmt.Sprintf("uid:%d", first+i)))
	}
	p := newRoot(t, `
[[rule]]
id = "later"
decision = "ask"
command = "/usr/bin/true"
args = [{slot = "n", kind = "int", min = 1, max = 5}]
from = [`+strings.Join(from, ", ")+`]
run_as = {user = "root", group = "root"}
detach = true
approve = {from = ["uid:54332"], ttl = "10m"}
`)
	p.start()
	for i := range uids {
		uc, err := connect(p.path("run/request.sock"), first+i, gidAskers)
		must(t, err)
		conn, err := wire.New(uc, wire.Options{})
		must(t, err)
		_, err = conn.Hello()
		must(t, err)
		c := &client{t: t, Conn: conn, socket: uc}
		for n := range each {
			c.send("run", fmt.Sprintf(`{"rule":"later","slots":{"n":["%d"]},"detach":true}`, n+1))
			if v, more := c.next(); !more {
				t.Fatalf("uid %d, request %d: %s", first+i, n, v.JSON())
			}
			must(t, c.SendFDs())
			for v, more := c.next(); ; v, more = c.next() {
				if !more {
					if field(v, "state") != "pending" {
						t.Fatalf("uid %d, request %d: %s", first+i, n, v.JSON())
					}
					break
				}
			}
		}
		must(t, conn.Close())
	}
	kib := p.resident()
	t.Logf("resident: %d KiB", kib)
	if kib >= crowdedLimit {
		t.Errorf("with %d requests it takes %d KiB, more than %d", uids*each, kib, crowdedLimit)
	}
	if code, text, _ := do("status", "--socket", p.path("run/request.sock")); code != 0 || !strings.Contains(text, fmt.Sprint(uids*each, " wait for people")) {
		t.Errorf("status: %d %s", code, text)
	}
	p.stop()
}
