package broker

import (
	"snens/approval/prompt"
	"snens/broker/action"
	"snens/broker/policy"
	"snens/internal/fields"
	"snens/internal/strictjson"
)

// submission is what the queue gets.
func (a *attempt) submission() Submission {
	id, keeper, r := a.id, a.s.o.Keeper, a.made.Rule
	s := Submission{
		ID: id, Peer: a.who, Request: a.made.Request, Claims: a.ask.Claims, Seen: a.seen,
		Allowed: a.judged.Decision == policy.Allow,
		Ended:   func() { keeper.Drop(id) },
	}
	if !s.Allowed {
		s.Terms, s.About = terms(r.Approve), r.About
		s.ReasonRequired, s.Approvers = r.Approve.ReasonRequired, approvers(r.Approve)
	}
	return s
}

// terms are what a rule says about the answer. A kind of principal or presence
// that is not known here becomes one that nobody has.
func terms(a policy.Approve) prompt.Terms {
	t := prompt.Terms{Need: a.Need}
	switch a.Presence {
	case policy.PresencePeer:
		t.Presence = prompt.PresencePeer
	case policy.PresenceTTY:
		t.Presence = prompt.PresenceTTY
	}
	for _, p := range a.From {
		var s prompt.Selector
		switch p.Kind {
		case policy.UserPrincipal, policy.UIDPrincipal:
			s = prompt.Selector{Kind: prompt.SelectUID, UID: p.UID}
		case policy.GroupPrincipal:
			s = prompt.Selector{Kind: prompt.SelectGID, GID: p.GID}
		}
		t.From = append(t.From, s)
	}
	for _, d := range a.Remember {
		t.Lifespans = append(t.Lifespans, action.Lifespan(d))
	}
	return t
}

// approvers are those a rule names, as it writes them.
func approvers(a policy.Approve) (out []string) {
	for _, p := range a.From {
		out = append(out, p.String())
	}
	return out
}

// notice tells a requester that people are asked, which, and how many of them
// are listening.
func notice(s Submission, asked int) strictjson.Value {
	return fields.Object(
		fields.Member("state", fields.Text(action.Pending.String())),
		fields.Member("id", fields.Text(s.ID.String())),
		fields.Member("digest", fields.Text(s.Request.Digest().String())),
		fields.Member("rule", fields.Text(string(s.Request.Request().Rule))),
		fields.Member("expires", fields.Text(action.FormatInstant(s.Request.Request().Expires))),
		fields.Member("approvers", fields.List(s.Approvers, fields.Text)),
		fields.Member("asked", fields.Int(int64(asked))),
	)
}
