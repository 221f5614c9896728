package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"snens/approval/queue"
	"snens/approval/store"
	"snens/broker"
	"snens/broker/action"
	"snens/broker/execute"
	"snens/broker/policy"
	"snens/broker/prepare"
	"snens/internal/audit"
	"snens/internal/cgroup"
	"snens/internal/sockets"
	"snens/internal/wire"
)

// daemon is the broker while it is there.
type daemon struct {
	setup   *setup
	log     hclog.Logger
	notify  *sockets.Notifier
	started time.Time

	holder   *policy.Holder
	audit    *recorder
	tree     *cgroup.Tree // nil: the fallback
	noTree   error        // why
	closer   *wire.Closer // of the request socket
	carrier  *wire.Closer // of the approval socket, which no flood of requesters fills
	maker    *prepare.Maker
	executor *execute.Executor
	store    *store.Dir
	queue    *queue.Queue

	request, approval *listening
	requests          *broker.Server
	approvals         server

	loading sync.Mutex // one reload at a time
}

// server is what serves a socket. Close comes after Serve has ended.
type server interface {
	Serve(ctx context.Context, l *net.UnixListener) error
	Close()
}

// open makes everything that serve needs, in the order that the package comment
// gives. On an error what was opened is closed again.
func (a *app) open(s *setup, log hclog.Logger, passed map[string]*net.UnixListener) (_ *daemon, err error) {
	d := &daemon{setup: s, log: log, started: time.Now(), closer: wire.NewCloser(), carrier: wire.NewCloser()}
	defer func() {
		if err != nil {
			ctx, cancel := context.WithTimeout(context.Background(), stopBound)
			err = errors.Join(err, d.shut(ctx, "cannot start: "+err.Error()))
			cancel()
		}
	}()
	if err := execute.Harden(); err != nil {
		return nil, failf(exitFailed, "%w", err)
	}
	if err := s.folders(); err != nil {
		return nil, err
	}
	if d.holder, err = policy.NewHolder(func() (*policy.Policy, error) { return a.loadChecked(s) }); err != nil {
		return nil, failf(exitFailed, "%w", err).hintf("snens-priv check shows the same, and what else is not meant")
	}
	install, err := prepare.LoadInstallID(s.state)
	if err != nil {
		return nil, failf(exitFailed, "%w", err)
	}
	if err := d.openLog(install); err != nil {
		return nil, err
	}
	if err := d.openExecutor(a, install); err != nil {
		return nil, err
	}
	if err := d.openQueue(); err != nil {
		return nil, err
	}
	if err := d.openServers(); err != nil {
		return nil, err
	}
	d.request, d.approval, err = listenAll(s, passed)
	return d, err
}

// openLog opens the log and records the start.
func (d *daemon) openLog(install action.InstallID) error {
	boundary := ""
	if d.setup.user {
		boundary = audit.BoundaryNone
	}
	w, err := audit.Open(audit.Options{Dir: d.setup.logs, StateDir: d.setup.state, Boundary: boundary}, time.Now())
	if err != nil {
		return failf(exitFailed, "%w", err)
	}
	d.audit = &recorder{Writer: w}
	p := d.holder.Current()
	err = d.audit.AppendSync(time.Now(), audit.Entry{
		Kind: audit.Start, Version: version, Install: install,
		Detail: fmt.Sprintf("policy %s, %s in %s", policyDigest(p), count(len(p.Rules), "rule"), count(len(p.Files), "file")),
	})
	if err != nil {
		return failf(exitFailed, "cannot start: %w", err)
	}
	return nil
}

// problem logs a fault that nobody else hears of.
func (d *daemon) problem(err error) { d.log.Error("fault", "error", err) }

// run serves until a signal or a fault ends that.
func (d *daemon) run(sig *signals) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	served := make(chan error, 2)
	go func() { served <- d.requests.Serve(ctx, d.request.UnixListener) }()
	go func() { served <- d.approvals.Serve(ctx, d.approval.UnixListener) }()
	var side sync.WaitGroup
	side.Go(func() {
		if err := d.notify.Watch(ctx, func() bool { d.queue.Counts(); return true }); err != nil {
			d.log.Warn("cannot feed the watchdog", "error", err)
		}
	})
	d.announce()
	why, left, err := d.until(sig, served)
	d.log.Info("stopping", "why", why)
	tell(d.log, d.notify.Stopping())
	tell(d.log, d.notify.Status("stopping: "+why))

	bound, hurry := context.WithTimeout(context.Background(), stopBound)
	defer hurry()
	side.Go(func() {
		select {
		case <-sig.end:
			d.log.Warn("a second signal: not waiting any longer")
			hurry()
		case <-bound.Done():
		}
	})
	cancel() // nothing more is read; who waits is told of the end of the queue
	d.closeQueue(bound)
	for range left {
		select {
		case serr := <-served:
			err = errors.Join(err, serr)
		case <-bound.Done(): // who is not told by now sees the connection end
		}
	}
	err = errors.Join(err, d.shut(bound, why))
	hurry()
	side.Wait()
	if err != nil {
		return failf(exitFailed, "%w", err)
	}
	d.log.Info("stopped")
	return nil
}

// until waits for the end, and says why it is, and how many servers still serve.
// Without a signal it is an error.
func (d *daemon) until(sig *signals, served <-chan error) (why string, left int, err error) {
	for {
		select {
		case <-sig.reload:
			d.reload()
		case s := <-sig.end:
			return "signal: " + s.String(), 2, nil
		case err := <-served:
			err = fmt.Errorf("cannot serve a socket any more: %w", err)
			return err.Error(), 1, err
		}
	}
}
