package audit

import (
	"time"
)

// Reservation is space for one record that must not fail for want of it: how
// what was started has ended. One Append uses it up; without one, Release.
type Reservation struct {
	w    *Writer
	left int64 // guarded by w.mu; 0 when used up
}

// Reserve takes space for one record of up to MaxFinal bytes. It fails with
// ErrFull when there is none: then nothing may be started.
func (w *Writer) Reserve() (*Reservation, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.f == nil {
		return nil, errClosed
	}
	if err := w.clean(); err != nil {
		return nil, err
	}
	if err := w.allocate(w.size + w.reserved + MaxFinal); err != nil {
		return nil, err
	}
	w.reserved += MaxFinal
	return &Reservation{w: w, left: MaxFinal}, nil
}

// Append is Writer.Append that may use the reserved space. On an error the
// reservation is kept, so that it can be tried again.
func (r *Reservation) Append(at time.Time, e Entry) error {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	if err := r.w.append(at, e, r.left); err != nil {
		return err
	}
	r.release()
	return nil
}

// Release gives the space back. Releasing what is used up does nothing.
func (r *Reservation) Release() {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	r.release()
}

// release is Release; the caller holds w.mu.
func (r *Reservation) release() {
	r.w.reserved -= r.left
	r.left = 0
}
