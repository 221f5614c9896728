package prompt

import (
	"slices"

	"snens/broker/action"
)

// Rules decide who may see and answer what.
type Rules struct {
	Persons Persons
	// UserMode is a broker without root for one uid, which asks and approves. A
	// terminal of its own then takes the place of another person. It is no
	// boundary.
	UserMode bool
}

// Ruling is the answer about a ballot. The zero value forbids.
type Ruling struct {
	allowed bool
	vote    Vote
	reason  action.Reason
}

// Vote is the vote that the ballot became; false when it was refused.
func (r Ruling) Vote() (Vote, bool) { return r.vote, r.allowed }

// Reason says why it was refused; 0 when it was not.
func (r Ruling) Reason() action.Reason {
	if !r.allowed && r.reason == 0 {
		return action.ReasonNotFound
	}
	return r.reason
}

// Owns says that the peer may see the request as its requester, wait for it and
// cancel it.
func (r Rules) Owns(p Peer, c Case) bool {
	return !p.InAction && p.UID != action.NoID && p.UID == c.Requester
}

// Oversees says that the peer may see the request on the approval socket, deny
// it, end it when it runs and revoke what it left: one of the rule's approvers,
// in person or by a uid of the person whose key is listed, or root. To a peer
// that neither owns nor oversees a request there is none.
func (r Rules) Oversees(p Peer, c Case) bool {
	if p.InAction || p.UID == action.NoID {
		return false
	}
	return p.UID == 0 || slices.ContainsFunc(c.Terms.From, func(s Selector) bool {
		if s.Kind != SelectPrincipal {
			return s.holds(p)
		}
		owner, known := r.Persons.OfPrincipal(s.Principal)
		return known && owner == r.Persons.OfUID(p.UID)
	})
}

// Judge says whether a ballot counts, given the votes that were counted before.
// A denial needs only Oversees, or a signature of one of the approvers.
func (r Rules) Judge(b Ballot, c Case, before []Vote) Ruling {
	listed := b.Principal != "" && slices.ContainsFunc(c.Terms.From, func(s Selector) bool {
		return s.Kind == SelectPrincipal && s.Principal == b.Principal
	})
	if b.Peer.InAction || !listed && !r.Oversees(b.Peer, c) {
		return Ruling{reason: action.ReasonNotFound}
	}
	person := r.Persons.OfUID(b.Peer.UID)
	if b.Principal != "" {
		var known bool
		if person, known = r.Persons.OfPrincipal(b.Principal); !known {
			return Ruling{reason: action.ReasonUnknownPrincipal}
		}
	}
	if slices.ContainsFunc(before, func(v Vote) bool { return v.Person == person }) && b.Decision != action.Deny {
		return Ruling{reason: action.ReasonAlreadyVoted}
	}
	switch b.Decision {
	case action.Deny:
		return Ruling{allowed: true, vote: Vote{Person: person, Decision: action.Deny}}
	case action.Approve:
		if why := r.refusesApproval(b, c, person); why != 0 {
			return Ruling{reason: why}
		}
		return Ruling{allowed: true, vote: Vote{Person: person, Decision: action.Approve, Lifespan: b.Lifespan}}
	}
	return Ruling{reason: action.ReasonBadRequest}
}

// refusesApproval is 0 when the person may approve in this way.
func (r Rules) refusesApproval(b Ballot, c Case, person PersonID) action.Reason {
	switch {
	case !r.UserMode && r.isSelf(b, c, person):
		return action.ReasonSelfApproval
	case !mayApprove(b, c):
		return action.ReasonNotApprover
	case b.Digest.IsZero() || b.Digest != c.Digest:
		return action.ReasonDigestMismatch
	case !r.shows(b, c.Terms.Presence):
		return action.ReasonPresenceMissing
	case !c.Terms.Offers(b.Lifespan):
		return action.ReasonLifespanRefused
	}
	return 0
}

// isSelf: the same human being asks and answers. Whoever became another user
// since he logged in is betrayed by the login uid. That of the process which
// carries a signature says nothing, though.
func (r Rules) isSelf(b Ballot, c Case, person PersonID) bool {
	asks := []PersonID{r.Persons.OfUID(c.Requester)}
	if c.Login.Set {
		asks = append(asks, r.Persons.OfUID(c.Login.UID))
	}
	if b.Principal == "" && b.Peer.Login.Set && slices.Contains(asks, r.Persons.OfUID(b.Peer.Login.UID)) {
		return true
	}
	return slices.Contains(asks, person)
}

// mayApprove: the rule lists the identity that answers. For a signed ballot
// that is the principal alone, so a uid that is listed cannot lend its place to
// a key that is not.
func mayApprove(b Ballot, c Case) bool {
	return slices.ContainsFunc(c.Terms.From, func(s Selector) bool {
		if b.Principal != "" {
			return s.Kind == SelectPrincipal && s.Principal == b.Principal
		}
		return s.holds(b.Peer)
	})
}

func (r Rules) shows(b Ballot, want Presence) bool {
	tty := b.Peer.Terminal && !b.Peer.Supervised
	if r.UserMode && !tty { // the least there, whatever the rule says
		return false
	}
	switch want {
	case PresencePeer:
		return true
	case PresenceSigned:
		return b.Principal != ""
	case PresenceTTY:
		return r.UserMode && tty
	}
	return false
}
