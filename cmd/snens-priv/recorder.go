package main

import (
	"errors"
	"sync"
	"time"

	"snens/approval/queue"
	"snens/internal/audit"
)

// recorder is the log. For the status it remembers whether the last record could
// be written.
type recorder struct {
	*audit.Writer

	mu     sync.Mutex
	failed error // guarded by mu; nil when the last one was written
}

func (r *recorder) Append(at time.Time, e audit.Entry) error {
	return r.note(r.Writer.Append(at, e))
}

func (r *recorder) AppendSync(at time.Time, e audit.Entry) error {
	return r.note(r.Writer.AppendSync(at, e))
}

// Reserve is the queue's.
func (r *recorder) Reserve() (queue.Reservation, error) {
	space, err := r.Writer.Reserve()
	if r.note(err) != nil {
		return nil, err // no typed nil
	}
	return space, nil
}

func (r *recorder) note(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = err
	return err
}

// fault says why a run could not be recorded now; nil when it could. What a run
// needs is tried: the disk may have filled, or been emptied, since the last one.
func (r *recorder) fault() error {
	r.mu.Lock()
	failed := r.failed
	r.mu.Unlock()
	if failed != nil && !errors.Is(failed, audit.ErrFull) {
		return failed
	}
	for range 2 { // for the end, and for all before it
		space, err := r.Writer.Reserve()
		if err != nil {
			return err
		}
		defer space.Release()
	}
	return nil
}
