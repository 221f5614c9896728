package execute

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/internal/spawn"
)

// Ending is how a run ended. Code and Signal are as in action.Result.
type Ending struct {
	Reason action.Reason
	Code   int
	Signal int
	Detail string // for the record
}

// Run executes the request and returns when all of it has ended, or when what
// is left cannot be ended. It calls started once, when the exec is confirmed,
// and never when nothing ran. When ctx ends it ends the run.
//
// What was kept for id is used up. For a detached request without anything kept
// (it was taken up after a restart) the program is opened afresh and must be the
// approved one; 0, 1 and 2 are the null file, and Run drops it at its end.
func (x *Executor) Run(ctx context.Context, id action.RequestID, s *action.Sealed, started func(pid uint32)) Ending {
	q := s.Request()
	r := &run{x: x, id: id, uid: uint32(q.Requester.UID), request: &q, sealed: s}
	if err := r.take(); err != nil {
		return r.failed(ctx, err)
	}
	if r.resumed { // nobody who made it is there to call Drop
		defer x.Drop(id)
	}
	proc, err := r.start(ctx)
	if err != nil {
		return r.failed(ctx, err)
	}
	r.close()
	x.began(id, proc.PID())
	started(uint32(proc.PID()))
	select {
	case <-proc.Done():
	case <-ctx.Done():
		proc.Cancel()
		<-proc.Done()
	}
	result := proc.Result()
	if result.Outcome == spawn.Unkillable {
		x.o.Problem(fmt.Errorf("cannot end request %s of uid %d: %s", id, r.uid, pids(result.Left)))
		x.goStuck(r.uid, proc.Gone(), func() { x.over(id) })
	} else {
		<-proc.Gone()
		x.over(id)
	}
	return ending(result, x.why(ctx))
}

// run is one execution: what it holds until the exec.
type run struct {
	x       *Executor
	id      action.RequestID
	uid     uint32
	request *action.Request
	sealed  *action.Sealed
	kept    *kept
	resumed bool  // taken up after a restart: nothing was kept
	input   []int // ours: the sealed input
	theirs  []int // the requester's, out of the message
}

// take claims what is kept for the one run.
func (r *run) take() error {
	x := r.x
	x.mu.Lock()
	defer x.mu.Unlock()
	k := x.kept[r.id]
	switch {
	case r.id.IsZero():
		return internalError{"it has no id"}
	case x.ran[r.id]:
		return internalError{"it was run already"}
	case k == nil && !r.request.Modes.Detached:
		return internalError{"nothing is kept for it"}
	case k != nil && k.uid != r.uid:
		return internalError{fmt.Sprintf("what is kept for it belongs to uid %d, not %d", k.uid, r.uid)}
	}
	x.ran[r.id] = true
	delete(x.kept, r.id)
	if r.kept = k; k == nil {
		r.kept = &kept{uid: r.uid, parked: parked{socket: -1}}
		r.resumed = true
	}
	return nil
}

// resume opens what an earlier process had opened.
func (r *run) resume(ctx context.Context) error {
	if !r.resumed || r.x.o.Resume == nil {
		return nil
	}
	h, err := r.x.o.Resume(ctx, r.sealed)
	if err != nil {
		return &resumeError{err}
	}
	r.kept, err = r.x.park(r.uid, h)
	return err
}

// start begins the action. After an error nothing of it has run, and what was
// held is given back.
func (r *run) start(ctx context.Context) (*spawn.Process, error) {
	if err := ctx.Err(); err != nil {
		r.close()
		return nil, context.Cause(ctx)
	}
	if err := r.resume(ctx); err != nil {
		r.close()
		return nil, err
	}
	spec, err := r.spec()
	if err != nil {
		r.close()
		return nil, err
	}
	proc, err := r.x.o.Runner.Start(ctx, spec)
	if err != nil {
		var hung *spawn.StartError
		if errors.As(err, &hung) && hung.Released != nil {
			// Its descriptors must stay as they are until the kernel lets go.
			r.x.o.Problem(fmt.Errorf("cannot end the start of request %s of uid %d: it hangs in the kernel", r.id, r.uid))
			r.x.goStuck(r.uid, hung.Released, r.close)
		} else {
			r.close()
		}
		return nil, err
	}
	return proc, nil
}

// close gives back what is held.
func (r *run) close() {
	r.x.release(r.kept)
	for _, fd := range r.input {
		_ = unix.Close(fd) // in memory
	}
	r.x.o.Closer.CloseFDs(r.uid, r.theirs...)
	r.input, r.theirs = nil, nil
}

func (x *Executor) began(id action.RequestID, pid int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.live[id] = pid
}

func (x *Executor) over(id action.RequestID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.live, id)
}

// goStuck counts something against uid until it is gone, and then calls after.
func (x *Executor) goStuck(uid uint32, gone <-chan struct{}, after func()) {
	x.mu.Lock()
	x.stuck[uid]++
	x.mu.Unlock()
	x.work.Go(func() {
		<-gone
		after()
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.stuck[uid]--; x.stuck[uid] == 0 {
			delete(x.stuck, uid)
		}
	})
}
