package store

import (
	"errors"
	"fmt"
	"time"

	"snens/approval/prompt"
	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/strictjson"
)

// Bounds of a file. A request is at most action's 256 KiB of JSON.
const (
	maxFile      = 512 << 10
	maxApprovers = 1024
	maxLifespans = 64
)

var jsonOptions = strictjson.Options{MaxBytes: maxFile, MaxDepth: 10, MaxTokens: 40_000}

// Record is one request as it lies on the disk.
type Record struct {
	ID       action.RequestID
	State    action.State
	Detached bool // goes on when its requester is gone
	Allowed  bool // by the rule alone: nobody is asked
	Case     prompt.Case
	Since    time.Time // when it was taken, UTC

	// Request, and what is told about it, are there until the request has ended.
	Request        *action.Sealed
	Claims         action.Claims
	Seen           action.Seen
	About          string
	ReasonRequired bool
	Approvers      []string

	// Result is there from then on.
	Result action.Result
}

// check refuses a record that contradicts itself.
func (r *Record) check() error {
	switch {
	case r.ID.IsZero():
		return errors.New("it has no id")
	case r.Case.Requester == action.NoID:
		return errors.New("it is nobody's")
	case r.State.Final() != (r.Request == nil):
		return fmt.Errorf("it is %s, and its request is there or not the other way round", r.State)
	case r.State.Final():
		if r.Result.ID != r.ID || r.Result.State != r.State {
			return errors.New("its result is that of another request or state")
		}
		return r.Result.Check()
	case r.Request.Digest() != r.Case.Digest:
		return errors.New("its digest is not that of its request")
	case r.Request.Request().Requester.UID != r.Case.Requester:
		return errors.New("its request is that of another uid")
	}
	return nil
}

// encode is the content of the file.
func (r *Record) encode() ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	m := []strictjson.Member{
		fields.Member("version", fields.Int(1)),
		fields.Member("id", fields.Text(r.ID.String())),
		fields.Member("state", fields.Text(r.State.String())),
		fields.Member("detached", fields.Bool(r.Detached)),
		fields.Member("allowed", fields.Bool(r.Allowed)),
		fields.Member("case", caseValue(r.Case)),
		fields.Member("since", fields.Text(action.FormatInstant(r.Since))),
	}
	if r.State.Final() {
		m = append(m, fields.Member("result", r.Result.Value()))
	} else {
		m = append(m,
			fields.Member("request", r.Request.Value()),
			fields.Member("claims", r.Claims.Value()),
			fields.Member("seen", r.Seen.Value()),
			fields.Member("about", fields.Text(r.About)),
			fields.Member("reason_required", fields.Bool(r.ReasonRequired)),
			fields.Member("approvers", fields.List(r.Approvers, fields.Text)),
		)
	}
	v := fields.Object(m...)
	return append(v.JSON(), '\n'), nil
}

// decode reads what encode makes; the request is checked and sealed anew.
func decode(data []byte) (r Record, err error) {
	o := fields.Parse(data, "record", jsonOptions)
	if o.Field("version").Uint(1) != 1 {
		o.Failf("the only version is 1")
	}
	r.ID = fields.Word(o.Field("id"), action.ParseRequestID)
	r.State = fields.Word(o.Field("state"), action.ParseState)
	r.Detached = o.Field("detached").Bool()
	r.Allowed = o.Field("allowed").Bool()
	r.Case = readCase(o.Field("case").Object())
	r.Since = fields.Word(o.Field("since"), action.ParseInstant)
	if r.State.Final() {
		r.Result = action.ReadResult(o.Field("result").Object())
	} else {
		f := o.Field("request")
		if f.Value() != nil {
			if r.Request, err = action.DecodeValue(f.Value()); err != nil {
				f.Failf("%v", err)
			}
		}
		r.Claims = action.ReadClaims(o.Field("claims").Object())
		r.Seen = action.ReadSeen(o.Field("seen").Object())
		r.About = o.Field("about").Text()
		r.ReasonRequired = o.Field("reason_required").Bool()
		r.Approvers = o.Field("approvers").Texts(maxApprovers)
	}
	if err := o.Close(); err != nil {
		return Record{}, err
	}
	return r, r.check()
}

func caseValue(c prompt.Case) strictjson.Value {
	out := fields.Object(
		fields.Member("requester", fields.Uint(c.Requester)),
		fields.Member("digest", fields.Text(c.Digest.String())),
		fields.Member("from", fields.List(c.Terms.From, selectorValue)),
		fields.Member("need", fields.Uint(uint64(max(c.Terms.Need, 0)))),
		fields.Member("lifespans", fields.List(c.Terms.Lifespans, func(l action.Lifespan) strictjson.Value { return fields.Text(l.String()) })),
	)
	if c.Login.Set {
		out.Members = append(out.Members, fields.Member("login_uid", fields.Uint(c.Login.UID)))
	}
	if c.Terms.Presence != 0 {
		out.Members = append(out.Members, fields.Member("presence", fields.Text(c.Terms.Presence.String())))
	}
	return out
}

func readCase(o *fields.Reader) (c prompt.Case) {
	c.Requester = action.UID(o.Field("requester").Uint(action.NoID - 1))
	c.Digest = fields.Word(o.Field("digest"), action.ParseDigest)
	for _, f := range o.Field("from").Items(maxApprovers) {
		c.Terms.From = append(c.Terms.From, readSelector(f.Object()))
	}
	c.Terms.Need = int(o.Field("need").Uint(prompt.MaxNeed))
	c.Terms.Lifespans = fields.Words(o.Field("lifespans"), maxLifespans, action.ParseLifespan)
	if f, ok := o.Optional("login_uid"); ok {
		c.Login = action.Login{UID: action.UID(f.Uint(action.NoID - 1)), Set: true}
	}
	if f, ok := o.Optional("presence"); ok {
		c.Terms.Presence = fields.Word(f, prompt.ParsePresence)
	}
	return c
}

func selectorValue(s prompt.Selector) strictjson.Value {
	switch s.Kind {
	case prompt.SelectUID:
		return fields.Object(fields.Member("uid", fields.Uint(s.UID)))
	case prompt.SelectGID:
		return fields.Object(fields.Member("gid", fields.Uint(s.GID)))
	}
	return fields.Object(fields.Member("principal", fields.Text(s.Principal)))
}

// readSelector reads the one field that says whom it selects.
func readSelector(o *fields.Reader) prompt.Selector {
	if f, ok := o.Optional("uid"); ok {
		return prompt.Selector{Kind: prompt.SelectUID, UID: action.UID(f.Uint(action.NoID - 1))}
	}
	if f, ok := o.Optional("gid"); ok {
		return prompt.Selector{Kind: prompt.SelectGID, GID: action.GID(f.Uint(action.NoID - 1))}
	}
	return prompt.Selector{Kind: prompt.SelectPrincipal, Principal: o.Field("principal").Text()}
}
