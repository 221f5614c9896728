package prompt

import (
	"time"

	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/strictjson"
)

// Most of what one pending request can carry.
const (
	MaxNeed      = 16
	maxLifespans = 16
	maxApprovers = 256
)

// Pending is a request as approvers' clients get it. There is no digest in it:
// the client renders Request and hashes that.
type Pending struct {
	ID      action.RequestID
	Request *action.Sealed
	Claims  action.Claims
	Seen    action.Seen
	Since   time.Time // when people were asked, UTC
	// What the rule says about the answer.
	About          string
	Need           int
	Presence       Presence
	Lifespans      []action.Lifespan // offered besides once
	ReasonRequired bool
	Approvers      []string // as the policy writes them: "group:ops"
	Votes          []Vote
}

// Value is the JSON form.
func (p *Pending) Value() strictjson.Value {
	return fields.Object(
		fields.Member("id", fields.Text(p.ID.String())),
		fields.Member("request", p.Request.Value()),
		fields.Member("claims", p.Claims.Value()),
		fields.Member("seen", p.Seen.Value()),
		fields.Member("since", fields.Text(action.FormatInstant(p.Since))),
		fields.Member("about", fields.Text(p.About)),
		fields.Member("need", fields.Int(int64(p.Need))),
		fields.Member("presence", fields.Text(p.Presence.String())),
		fields.Member("lifespans", fields.List(p.Lifespans, lifespanValue)),
		fields.Member("reason_required", fields.Bool(p.ReasonRequired)),
		fields.Member("approvers", fields.List(p.Approvers, fields.Text)),
		fields.Member("votes", fields.List(p.Votes, Vote.Value)),
	)
}

func lifespanValue(l action.Lifespan) strictjson.Value { return fields.Text(l.String()) }

// ReadPending reads what Value makes; the request is checked and sealed anew.
func ReadPending(o *fields.Reader) (p Pending) {
	p.ID = fields.Word(o.Field("id"), action.ParseRequestID)
	if f := o.Field("request"); f.Value() != nil {
		sealed, err := action.DecodeValue(f.Value())
		if err != nil {
			f.Failf("%v", err)
		}
		p.Request = sealed
	}
	p.Claims = action.ReadClaims(o.Field("claims").Object())
	p.Seen = action.ReadSeen(o.Field("seen").Object())
	p.Since = fields.Word(o.Field("since"), action.ParseInstant)
	p.About = o.Field("about").Text()
	need := o.Field("need")
	if p.Need = int(need.Uint(MaxNeed)); p.Need == 0 {
		need.Failf("must be at least 1")
	}
	p.Presence = fields.Word(o.Field("presence"), ParsePresence)
	p.Lifespans = fields.Words(o.Field("lifespans"), maxLifespans, action.ParseLifespan)
	p.ReasonRequired = o.Field("reason_required").Bool()
	p.Approvers = o.Field("approvers").Texts(maxApprovers)
	for _, f := range o.Field("votes").Items(MaxNeed) {
		p.Votes = append(p.Votes, ReadVote(f.Object()))
	}
	return p
}

// Value is the JSON form of a vote.
func (v Vote) Value() strictjson.Value {
	out := fields.Object(
		fields.Member("person", fields.Text(string(v.Person))),
		fields.Member("decision", fields.Text(v.Decision.String())),
	)
	if v.Decision == action.Approve {
		out.Members = append(out.Members, fields.Member("lifespan", lifespanValue(v.Lifespan)))
	}
	return out
}

// ReadVote reads what Value makes.
func ReadVote(o *fields.Reader) (v Vote) {
	v.Person = PersonID(o.Field("person").Text())
	v.Decision = fields.Word(o.Field("decision"), action.ParseDecision)
	if v.Decision == action.Approve {
		v.Lifespan = fields.Word(o.Field("lifespan"), action.ParseLifespan)
	}
	if v.Person == "" {
		o.Failf("a vote is somebody's")
	}
	return v
}
