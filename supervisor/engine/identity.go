package engine

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"snens/internal/cgroup"
)

// bootID tells this boot from every other: a pid or a group written down before
// a restart of the machine means nothing after it.
var bootID = sync.OnceValue(func() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
})

// identity is what is written down of the call once its child runs.
func (l *loop) identity() Identity {
	id := Identity{BootID: bootID(), Cgroup: l.tree.cgroup(), CallID: l.spec.CallID, PID: l.pid}
	if p, ok := lookAt(l.pid); ok {
		id.StartTime = p.start
	}
	return id
}

// End ends the processes of a call whose supervisor died. It is for identities
// from folders whose lock is free, and waits until nothing is left or two
// seconds are over, which is an error. An identity of an earlier boot is no
// work.
func (e *Engine) End(id Identity) error {
	if id.BootID != bootID() {
		return nil
	}
	var t tree = &sessionTree{id: string(id.CallID), orph: &orphanage{}, pid: id.PID, start: id.StartTime, foreign: true}
	if id.Cgroup != "" {
		g, err := cgroup.Open(id.Cgroup)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil
		case err != nil:
			return fmt.Errorf("cannot end call %s: %w", id.CallID, err)
		}
		t = &groupTree{group: g, orph: &e.orphans}
	}
	defer t.close()
	until := time.Now().Add(settleFor)
	for !t.empty() {
		if time.Now().After(until) {
			return fmt.Errorf("cannot end call %s: processes survive SIGKILL: %v", id.CallID, t.members())
		}
		t.kill()
		pause(lookAgain / 10)
	}
	return nil
}

// pause lets the kernel carry out a kill before the next look.
func pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	<-t.C
}
