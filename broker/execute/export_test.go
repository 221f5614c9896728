package execute

import (
	"snens/broker/action"
	"snens/internal/spawn"
)

// For tests of what this machine does not show.
var (
	CheckDumpable = checkDumpable
	CheckSignals  = checkSignals
	Crowded       = crowded
)

// GroupName is the name of the control group of a request, for package cgroup.
func (x *Executor) GroupName(id action.RequestID) string { return x.groupName(id) }

// Remembered is how many requests' runs are remembered.
func (x *Executor) Remembered() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.ran)
}

// EndingOf is the ending of a result.
var EndingOf = func(r spawn.Result) Ending { return ending(r, 0) }

// GoStuck counts something as unkillable until gone is closed.
func (x *Executor) GoStuck(uid uint32, gone <-chan struct{}) { x.goStuck(uid, gone, func() {}) }
