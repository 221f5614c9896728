package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"snens/approval/queue"
	"snens/approval/store"
	"snens/broker"
	"snens/broker/action"
	"snens/broker/execute"
	"snens/broker/prepare"
	"snens/internal/spawn"
)

const (
	// stopBound is what a stop takes at most: the grace of a run, the wait for
	// what was killed, and some for the disk.
	stopBound = 20 * time.Second
	// reopenBound is how long what an earlier process left may take at the start.
	reopenBound = 30 * time.Second
)

// openExecutor makes what prepares and runs actions. The place for control
// groups is tried here, before anybody can connect.
func (d *daemon) openExecutor(a *app, install action.InstallID) (err error) {
	if d.tree, d.noTree = execute.Probe(); d.noTree != nil {
		d.log.Warn("no control groups: processes that hide can outlive their action, and limits of memory and processes keep a rule from running", "why", d.noTree)
	}
	start, err := spawn.NewRunner(d.tree)
	if err != nil {
		return failf(exitFailed, "%w", err)
	}
	owner := a.policyOptions(d.setup.user).Owner
	opener := spawn.NewOpener(int(owner))
	d.maker = prepare.New(prepare.Options{
		Policy: d.holder.Current, Opener: opener, Install: install,
		UserMode: d.setup.user, Owner: owner,
		Discard: func(uid action.UID, f *os.File) { d.closer.AtOnce(uint32(uid), func() { _ = f.Close() }) },
	})
	d.executor, err = execute.New(execute.Options{
		Opener: opener, Runner: start, Groups: d.tree, Closer: d.closer, Install: install,
		Why: queue.WhyEnded, Resume: resume(d.maker), Problem: d.problem,
	})
	if err != nil {
		return failf(exitFailed, "%w", err)
	}
	return nil
}

// openQueue takes up what an earlier process left: what ran is ended and lost,
// what waited is cancelled, or asked about again where it is detached.
func (d *daemon) openQueue() (err error) {
	if d.store, err = store.Open(filepath.Join(d.setup.state, "requests")); err != nil {
		return failf(exitFailed, "%w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), reopenBound)
	defer cancel()
	d.clearLeftovers(ctx) // before anything new runs
	d.queue, err = queue.Open(ctx, queue.Options{
		Store: d.store, Audit: d.audit, Policy: &queuePolicy{holder: d.holder, maker: d.maker},
		Runner: runner{d.executor}, Problem: d.problem,
	})
	if err != nil {
		return failf(exitFailed, "%w", err)
	}
	return nil
}

// clearLeftovers ends actions of earlier processes, of which the store may know
// nothing any more.
func (d *daemon) clearLeftovers(ctx context.Context) {
	left, err := d.executor.Leftovers()
	if err != nil {
		d.problem(err)
	}
	for _, id := range left {
		if err := d.executor.Clear(ctx, id); err != nil {
			d.problem(err)
		}
	}
}

// openServers makes both servers; they serve nobody yet.
func (d *daemon) openServers() (err error) {
	within := inAction(d.executor, d.tree != nil)
	owner := action.UID(os.Geteuid())
	d.requests, err = broker.New(broker.Options{
		Policy: d.holder.Current, Maker: d.maker, Queue: requestQueue{d.queue}, Requests: d.queue,
		Keeper: d.executor, Log: d.audit, NewID: queue.NewID, InAction: within,
		Status: d.status, Reload: d.reload, Closer: d.closer,
		UserMode: d.setup.user, Owner: owner, Problem: d.problem,
	})
	if err != nil {
		return failf(exitFailed, "%w", err)
	}
	d.approvals, err = d.newApprovals(within, owner)
	if err != nil {
		return failf(exitFailed, "%w", err)
	}
	return nil
}
