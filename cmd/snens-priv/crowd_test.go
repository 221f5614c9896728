package main

import (
	"fmt"
	"net"
	"os"
	"testing"
	"time"
)

// descriptors is how many the broker has open.
func (p *process) descriptors() int {
	p.t.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	must(p.t, err)
	return len(list)
}

// 10,000 connections that say nothing, on both sockets, keep nobody else from
// being served, and leave nothing behind.
func TestHostileConnections(t *testing.T) {
	p := newRoot(t, policyText)
	p.start()
	p.asker().call("list", `{}`)
	base := p.descriptors()
	var open []*net.UnixConn
	for i := range 10_000 {
		socket, gid := "request", gidAskers
		if i%2 == 1 {
			socket, gid = "approval", gidApprove
		}
		uc, err := connect(p.path("run/"+socket+".sock"), uidStranger+i%7, gid)
		must(t, err)
		if open = append(open, uc); len(open) > 300 {
			must(t, open[0].Close())
			open = open[1:]
		}
		if i%2500 == 2499 {
			out, v := p.asker().begin(`{"rule":"hello","slots":{"who":["world"]}}`)
			if got := output(t, out); got != "hello world\n" {
				t.Fatalf("after %d connections: %s %q", i, v.JSON(), got)
			}
		}
	}
	if kib := p.resident(); kib >= crowdedLimit {
		t.Errorf("it takes %d KiB, more than %d", kib, crowdedLimit)
	}
	for _, uc := range open {
		must(t, uc.Close())
	}
	for end := time.Now().Add(patience); p.descriptors() > base+8; { // those of our own clients, and of the runtime
		if time.Now().After(end) {
			t.Fatalf("%d descriptors, %d before", p.descriptors(), base)
		}
	}
	p.stop()
}
