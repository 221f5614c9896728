package execute

import "snens/internal/spawn"

// For tests of what this machine does not show.
var (
	CheckDumpable = checkDumpable
	CheckSignals  = checkSignals
	Crowded       = crowded
)

// EndingOf is the ending of a result.
var EndingOf = func(r spawn.Result) Ending { return ending(r, 0) }

// GoStuck counts something as unkillable until gone is closed.
func (x *Executor) GoStuck(uid uint32, gone <-chan struct{}) { x.goStuck(uid, gone, func() {}) }
