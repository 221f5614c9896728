package client

import (
	"context"
	"errors"
	"os"
	"time"

	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

// Request is a command to be run. Zero fields are left to the rule.
type Request struct {
	Command
	Cwd    string
	Env    []string    // NAME=value; the rule says which names may be passed
	Stdin  *string     // content to be sealed into the request
	Files  [3]*os.File // the command's 0, 1 and 2; nil is the null file. None with Detach.
	Claims action.Claims
	TTL    time.Duration // shortens the rule's; whole milliseconds
	Detach bool          // do not wait, and run on without us
}

// Pending says that people were asked.
type Pending struct {
	ID        action.RequestID
	Digest    action.Digest
	Rule      action.RuleID
	Expires   time.Time
	Approvers []string // "group:ops"
	Asked     int      // how many approvers listen now; 0: nobody
}

// Run asks for a command and waits for its end; with Detach, until it is
// accepted, and the Result is not final then. notice, which may be nil, is called
// when people are asked. The end of ctx hangs up for good: the request is
// cancelled or the command ended, and the connection is of no further use.
func (c *Client) Run(ctx context.Context, q Request, notice func(Pending)) (action.Result, error) {
	params, err := q.params()
	if err != nil {
		return action.Result{}, err
	}
	streams, err := newStreams(q)
	if err != nil {
		return action.Result{}, err
	}
	defer streams.close()
	params = append(params, fields.Member("fds", fields.Int(int64(len(streams.files)))))

	over, hungUp := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(hungUp)
		c.hangUp(over, streams)
	})
	defer func() {
		close(over)
		if !stop() {
			<-hungUp
		}
	}()

	id, err := c.send("run", params...)
	if err != nil {
		return action.Result{}, c.lostRun(ctx, err, false)
	}
	result, err := c.follow(ctx, id, streams, notice)
	streams.finish() // whatever the command wrote is there by now
	return result, err
}

// hangUp ends our direction. The broker may still say how it
// ended; when it takes too long, so does what is being copied.
func (c *Client) hangUp(over <-chan struct{}, s *streams) {
	_ = c.uc.CloseWrite()
	patience := time.NewTimer(c.o.Patience)
	defer patience.Stop()
	select {
	case <-over:
	case <-patience.C:
		c.conn.End()
		s.abort()
	}
}

// follow reads the answers to a run until the last.
func (c *Client) follow(ctx context.Context, id wire.ID, s *streams, notice func(Pending)) (action.Result, error) {
	sent := false
	for {
		reply, err := c.conn.ReadReply(0)
		switch {
		case err != nil:
			return action.Result{}, c.lostRun(ctx, err, sent)
		case reply.ID != id:
			continue
		case reply.Err != nil:
			return action.Result{}, refusedBy(reply.Err)
		}
		o := reply.Fields()
		if !reply.More {
			result := action.ReadResult(o)
			if err := o.Close(); err != nil {
				return action.Result{}, refuse(action.ReasonInternal, err, "cannot understand how the command ended")
			}
			return result, nil
		}
		switch state := o.Field("state").String(); state {
		case "send_fds":
			// A failure is told by what is read next: the broker has hung up,
			// or we have.
			sent = s.send(c.conn) == nil
		case action.Pending.String():
			p := readPending(o)
			if err := o.Close(); err != nil {
				return action.Result{}, refuse(action.ReasonInternal, err, "cannot understand who was asked")
			}
			if notice != nil {
				notice(p)
			}
		}
	}
}

func readPending(o *fields.Reader) (p Pending) {
	p.ID = fields.Word(o.Field("id"), action.ParseRequestID)
	p.Digest = fields.Word(o.Field("digest"), action.ParseDigest)
	p.Rule = fields.Word(o.Field("rule"), action.ParseRuleID)
	p.Expires = fields.Word(o.Field("expires"), action.ParseInstant)
	p.Approvers = o.Field("approvers").Texts(maxItems)
	p.Asked = int(o.Field("asked").Uint(maxItems))
	return p
}

// lostRun says what the end of the connection means for a run. After the
// descriptors were sent it may have begun.
func (c *Client) lostRun(ctx context.Context, err error, sent bool) *Refused {
	var told *wire.Error
	switch {
	case errors.As(err, &told):
		return refusedBy(told)
	case sent && ctx.Err() != nil:
		return refuse(action.ReasonLost, ctx.Err(), "hung up, and the broker did not say how the command ended")
	case sent:
		return refuse(action.ReasonLost, err, "the broker hung up; how the command ended is not known")
	}
	return c.lost(ctx, err)
}

// params are those of run, but for the number of descriptors.
func (q *Request) params() ([]strictjson.Member, error) {
	m, err := q.Command.params()
	if err != nil {
		return nil, err
	}
	if q.Cwd != "" {
		m = append(m, fields.Member("cwd", fields.Text(q.Cwd)))
	}
	if len(q.Env) > 0 {
		m = append(m, fields.Member("env", fields.List(q.Env, fields.Text)))
	}
	if q.Stdin != nil {
		m = append(m, fields.Member("stdin", fields.Text(*q.Stdin)))
	}
	if q.Claims != (action.Claims{}) {
		m = append(m, fields.Member("claims", q.Claims.Value()))
	}
	if q.TTL > 0 {
		m = append(m, fields.Member("ttl", fields.Text(action.FormatDuration(q.TTL.Truncate(time.Millisecond)))))
	}
	if q.Detach {
		m = append(m, fields.Member("detach", fields.Bool(true)))
	}
	return m, nil
}
