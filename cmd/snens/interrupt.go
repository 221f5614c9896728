package main

import (
	"context"
	"fmt"

	"snens/supervisor/call"
)

// interruptible does something that a signal may end: its context ends then,
// it tidies up, and the status is 128 plus the signal's number.
func (a *app) interruptible(do func(context.Context) error) error {
	w, ctx := newWatch()
	err := do(ctx)
	w.close()
	if sig := w.asked(); sig != 0 {
		a.endBySignal(sig)
		return &failure{status: call.ExitSignal + int(sig)}
	}
	return err
}

// wrap says what could not be done, unless err is a failure that has its own words.
func wrap(err error, what string) error {
	if _, ok := err.(*failure); ok {
		return err
	}
	return fail(statusFailed, fmt.Errorf("%s: %w", what, err))
}
