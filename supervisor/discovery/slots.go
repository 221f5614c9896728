package discovery

import (
	"context"
	"sync"
	"time"
)

// maxProbes bounds the probes that run at once, however long they wait.
const maxProbes = 32

// busyTime is how long a probe counts as computing. One that takes longer is
// taken to wait for something, and the next may start beside it.
const busyTime = 250 * time.Millisecond

// slots bounds probes: so many that are young, maxProbes in all.
type slots struct{ young, all chan struct{} }

func newSlots(parallel int) *slots {
	return &slots{
		young: make(chan struct{}, min(parallel, maxProbes)),
		all:   make(chan struct{}, maxProbes),
	}
}

// run calls probe when there is room. The error is that of ctx, and probe was
// not called then.
func (s *slots) run(ctx context.Context, probe func()) error {
	for _, slot := range []chan struct{}{s.all, s.young} {
		select {
		case slot <- struct{}{}:
		case <-ctx.Done():
			if slot == s.young {
				<-s.all
			}
			return ctx.Err()
		}
	}
	defer func() { <-s.all }()
	leave := sync.OnceFunc(func() { <-s.young })
	defer leave()
	aged := time.AfterFunc(busyTime, leave)
	defer aged.Stop()
	probe()
	return nil
}
