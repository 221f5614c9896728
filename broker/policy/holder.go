package policy

import (
	"sync"
	"sync/atomic"
)

// Holder keeps the policy that is in force. A load that fails leaves the last
// good one in force and is remembered for the status.
type Holder struct {
	load  func() (*Policy, error)
	state atomic.Pointer[Status]
	mu    sync.Mutex // guards against two reloads at once; never held by readers
}

// Status is what is in force.
type Status struct {
	Policy     *Policy // never nil
	Generation int     // 1 for the first policy, one more for each that replaced it
	Err        error   // of the last load; nil when it succeeded
}

// NewHolder loads the first policy. There is no last good one to fall back on:
// an error means not to start.
func NewHolder(load func() (*Policy, error)) (*Holder, error) {
	p, err := load()
	if err != nil {
		return nil, err
	}
	h := &Holder{load: load}
	h.state.Store(&Status{Policy: p, Generation: 1})
	return h, nil
}

// Current is the policy in force. A caller that needs more than one answer from
// the same policy keeps it.
func (h *Holder) Current() *Policy { return h.state.Load().Policy }

// Status tells the policy in force and how the last load went.
func (h *Holder) Status() Status { return *h.state.Load() }

// Reload loads again. On an error the policy in force stays.
func (h *Holder) Reload() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.Status()
	p, err := h.load()
	if now.Err = err; err == nil {
		now.Policy = p
		now.Generation++
	}
	h.state.Store(&now)
	return err
}
