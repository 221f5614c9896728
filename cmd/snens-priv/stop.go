package main

import (
	"context"
	"errors"
	"time"

	"snens/internal/audit"
)

// closeQueue ends what waits and what runs, and hears of it.
func (d *daemon) closeQueue(ctx context.Context) {
	if err := d.queue.Close(ctx); err != nil {
		d.problem(err)
	}
}

// shut closes what is open, in the order opposite to open, and records the stop
// where the start was recorded.
func (d *daemon) shut(ctx context.Context, why string) error {
	var err error
	for _, l := range []*listening{d.request, d.approval} {
		if l != nil {
			err = errors.Join(err, l.close())
		}
	}
	if d.queue != nil {
		d.closeQueue(ctx) // closed already, unless the start failed
	}
	if d.requests != nil {
		d.requests.Close()
	}
	if d.approvals != nil {
		d.approvals.Close()
	}
	if d.executor != nil {
		if cerr := d.executor.Close(ctx); cerr != nil {
			d.problem(cerr)
		}
	}
	if d.store != nil {
		err = errors.Join(err, d.store.Close())
	}
	for _, c := range []interface{ Wait(context.Context) error }{d.closer, d.carrier} {
		if cerr := c.Wait(ctx); cerr != nil {
			d.problem(cerr)
		}
	}
	if d.audit != nil {
		err = errors.Join(err, d.audit.Append(time.Now(), audit.Entry{Kind: audit.Stop, Detail: why}), d.audit.Close())
	}
	return err
}
