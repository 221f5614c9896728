package broker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"snens/broker/action"
	"snens/broker/execute"
	"snens/broker/policy"
	"snens/broker/prepare"
	"snens/internal/audit"
	"snens/internal/fields"
	"snens/internal/wire"
)

// attempt is a run on its way to the queue.
type attempt struct {
	*conn
	id     action.RequestID
	ask    prepare.Ask
	judged policy.Judgement
	made   *prepare.Prepared
}

// run is the method run.
func run(ctx context.Context, c *conn, q wire.Request) error {
	if c.busy() {
		return &refusal{reason: action.ReasonBusy, message: "a run goes on already on this connection; use another one"}
	}
	p, err := readRun(q.Fields())
	if err != nil {
		return malformed(err)
	}
	if ctx.Err() != nil {
		return &refusal{reason: action.ReasonShutdown}
	}
	if err := weigh(&p.ask); err != nil {
		return err
	}
	a := &attempt{conn: c, id: c.s.o.NewID(), ask: p.ask}
	a.ask.From = c.subject()
	if err := a.prepare(ctx); err != nil {
		return err
	}
	defer a.made.Close()
	sub := a.submission()
	if err := c.s.o.Queue.Room(sub); err != nil {
		return err
	}
	if err := c.s.o.Keeper.Room(uint32(c.who.UID)); err != nil {
		return err
	}
	if !sub.Allowed && !c.s.asks.take(c.who.UID, time.Now()) {
		return &refusal{reason: action.ReasonBusy, message: "too many requests were made in a short time; wait a moment"}
	}
	files, err := c.takeFDs(q.ID, p.fds)
	if err != nil {
		return err
	}
	ticket, asked, err := a.submit(sub, files)
	if err != nil {
		return err
	}
	return a.answer(q.ID, sub, ticket, asked)
}

func (c *conn) busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ticket != nil
}

// prepare judges and makes the request.
func (a *attempt) prepare(ctx context.Context) error {
	maker := a.s.o.Maker
	a.judged = maker.Judge(a.ask)
	if d := a.judged.Decision; d != policy.Allow && d != policy.Ask {
		return a.denied()
	}
	var err error
	a.made, err = maker.Make(ctx, a.ask, a.judged, time.Now())
	return err
}

// denied refuses what the policy refuses, and records it unless its uid has had
// many such records already.
func (a *attempt) denied() error {
	no := &refusal{reason: a.judged.Reason, why: a.judged.Detail}
	if no.reason == 0 {
		no.reason = action.ReasonDenied
	}
	if a.judged.Rule != nil {
		no.rule = a.judged.Rule.ID
	}
	now := time.Now()
	if a.s.denials.take(a.who.UID, now) {
		if err := a.record(now, no.reason); err != nil {
			a.s.fault(a.who.UID, err)
			return no
		}
		no.recorded = true
	}
	return no
}

// takeFDs asks the client for descriptors, and checks them.
func (c *conn) takeFDs(id wire.ID, want int) (*wire.Files, error) {
	files, err := c.c.TakeFDs(id, want)
	if err != nil {
		var e *wire.Error
		switch {
		case !errors.As(err, &e): // he has left, or we stop
		case e.Code == wire.Busy:
			return nil, &refusal{reason: action.ReasonBusy}
		case e.Code == wire.BadDescriptors:
			c.s.refused.Add(c.who.UID, action.ReasonBadDescriptors)
		}
		return nil, over{err}
	}
	if err := files.CheckStdio(); err != nil {
		files.Close()
		return nil, &refusal{reason: action.ReasonBadDescriptors, why: err.Error()}
	}
	return files, nil
}

// submit records the request, has its descriptors kept and gives it to the
// queue. It takes files over.
func (a *attempt) submit(sub Submission, files *wire.Files) (Ticket, int, error) {
	now := time.Now()
	if err := a.record(now, 0); err != nil {
		files.Close()
		a.s.fault(a.who.UID, err)
		return nil, 0, &refusal{reason: action.ReasonNoRecord}
	}
	held := execute.Held{Program: a.made.Program, Files: files, Opened: a.made.Opened}
	a.made.Program, a.made.Opened = nil, nil
	if err := a.s.o.Keeper.Keep(a.id, uint32(a.who.UID), held); err != nil {
		return nil, 0, a.undone(now, err)
	}
	ticket, asked, err := a.s.o.Queue.Submit(sub)
	if err != nil {
		a.s.o.Keeper.Drop(a.id)
		return nil, 0, a.undone(now, err)
	}
	return ticket, asked, nil
}

// undone records that a recorded request came to nothing.
func (a *attempt) undone(now time.Time, err error) error {
	state, kind, why := action.Denied, audit.Denied, action.ReasonInternal
	switch r := refused(context.Background(), err); {
	case r == nil:
	case r.reason.Explains(action.Denied):
		why = r.reason
	case r.reason.Explains(action.Expired): // he took his time with the descriptors
		state, kind, why = action.Expired, audit.Expired, r.reason
	}
	end := &action.Result{ID: a.id, State: state, Reason: why, Ended: now.UTC()}
	if err := a.s.o.Log.Append(now, audit.Entry{Kind: kind, ID: a.id, UID: a.who.UID, Result: end}); err != nil {
		a.s.fault(a.who.UID, fmt.Errorf("cannot record the end of request %s: %w", a.id, err))
	}
	return err
}

// answer tells the client what was submitted, and has him told how it ends.
func (a *attempt) answer(id wire.ID, sub Submission, t Ticket, asked int) error {
	state := action.Pending
	if sub.Allowed {
		state = action.Approved
	}
	if a.ask.Detach {
		return a.reply(id, fields.Object(
			fields.Member("id", fields.Text(a.id.String())),
			fields.Member("state", fields.Text(state.String())),
		))
	}
	var err error
	if !sub.Allowed {
		err = a.more(id, notice(sub, asked))
	}
	a.follow(id, t)
	return err
}
