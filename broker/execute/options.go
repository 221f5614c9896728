package execute

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"snens/broker/action"
	"snens/internal/cgroup"
	"snens/internal/spawn"
	"snens/internal/wire"
)

// Options are what an Executor is made of. Opener, Runner, Closer and Install are
// needed.
type Options struct {
	Opener *spawn.Opener
	Runner *spawn.Runner
	Groups *cgroup.Tree // of the Runner; nil for the fallback
	Closer *wire.Closer // of the request socket: both count against the same uid
	// Install tells the control groups of this installation from those of others
	// beside them.
	Install action.InstallID
	// Why is the reason for which the context of a run ended, 0 when nobody said.
	Why func(context.Context) action.Reason
	// Resume opens again what the run of a request needs that was taken up after
	// a restart (see package prepare); its errors end the request as stale_file.
	// Without it the program alone is opened, and a request with opened files does
	// not run.
	Resume func(context.Context, *action.Sealed) (Held, error)
	// Grace is the time between TERM and KILL; 0 is DefaultGrace.
	Grace time.Duration
	// UnkillablePerUID is how many actions that cannot be ended a uid may have
	// before it is refused; 0 is DefaultUnkillable.
	UnkillablePerUID int
	// Problem is told of faults that nobody else hears of. It may be nil.
	Problem func(error)
}

// The defaults of Options.
const (
	DefaultGrace      = 5 * time.Second
	DefaultUnkillable = 4
)

// ErrBusy is part of the error for what there is no room for, now or for this
// uid: answer it with action.ReasonBusy.
var ErrBusy = errors.New("busy")

// Executor runs actions. Its methods may be called from several goroutines.
type Executor struct {
	o    Options
	mark string // of the installation, in the names of control groups

	mu    sync.Mutex
	kept  map[action.RequestID]*kept // that wait for their run; guarded by mu
	ran   map[action.RequestID]bool  // whose run began, until Drop; guarded by mu
	live  map[action.RequestID]int   // pid of each action of which something is there; guarded by mu
	stuck map[uint32]int             // by uid, what could not be ended; guarded by mu
	work  sync.WaitGroup             // who waits for what is stuck
}

// New makes an Executor.
func New(o Options) (*Executor, error) {
	if o.Opener == nil || o.Runner == nil || o.Closer == nil {
		return nil, errors.New("cannot execute actions: an opener, a runner and a closer are needed")
	}
	if o.Install == (action.InstallID{}) {
		return nil, errors.New("cannot execute actions: the id of this installation is needed")
	}
	if o.Grace < 0 || o.UnkillablePerUID < 0 {
		return nil, errors.New("cannot execute actions: the grace and the limit on unkillable actions are not below zero")
	}
	if o.Grace == 0 {
		o.Grace = DefaultGrace
	}
	if o.UnkillablePerUID == 0 {
		o.UnkillablePerUID = DefaultUnkillable
	}
	if o.Why == nil {
		o.Why = func(context.Context) action.Reason { return 0 }
	}
	if o.Problem == nil {
		o.Problem = func(error) {}
	}
	return &Executor{
		o: o, mark: markOf(o.Install), kept: map[action.RequestID]*kept{}, ran: map[action.RequestID]bool{},
		live: map[action.RequestID]int{}, stuck: map[uint32]int{},
	}, nil
}

// Room says whether more may be taken from uid; the error is ErrBusy with its
// cause.
func (x *Executor) Room(uid uint32) error {
	if !x.o.Closer.Room(uid) {
		return fmt.Errorf("%w: too many descriptors of uid %d are still being closed", ErrBusy, uid)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := x.stuck[uid]; n >= x.o.UnkillablePerUID {
		return fmt.Errorf("%w: %d actions of uid %d cannot be ended", ErrBusy, n, uid)
	}
	return nil
}

// Stuck is how many actions of uid cannot be ended.
func (x *Executor) Stuck(uid uint32) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.stuck[uid]
}

// Close drops what is still kept and waits, as long as ctx lasts, for what
// could not be ended and for the closings. No Run may be under way.
func (x *Executor) Close(ctx context.Context) error {
	x.mu.Lock()
	var ids []action.RequestID
	for id := range x.kept {
		ids = append(ids, id)
	}
	x.mu.Unlock()
	for _, id := range ids {
		x.Drop(id)
	}
	gone := make(chan struct{})
	go func() { // ends with the last stuck action, or with this process
		defer close(gone)
		x.work.Wait()
	}()
	select {
	case <-gone:
		return x.o.Closer.Wait(ctx)
	case <-ctx.Done():
		return errors.New("cannot end every action: some survive SIGKILL")
	}
}
