package prompt

import (
	"fmt"
	"slices"

	"snens/broker/action"
)

// Presence is what an approver must show besides who he is. The zero value can
// be shown by nobody.
type Presence uint8

// The kinds of presence.
const (
	PresencePeer   Presence = iota + 1 // the identity of the connection
	PresenceSigned                     // a signature by a key of the approvers' file
	PresenceTTY                        // a terminal of his own; user mode only
)

var presenceWords = []string{"", "peer", "sshsig", "tty"}

func (p Presence) String() string {
	if p == 0 || int(p) >= len(presenceWords) {
		return fmt.Sprintf("invalid(%d)", uint8(p))
	}
	return presenceWords[p]
}

// ParsePresence reads peer, sshsig or tty.
func ParsePresence(s string) (Presence, error) {
	if i := slices.Index(presenceWords, s); i > 0 {
		return Presence(i), nil
	}
	return 0, fmt.Errorf("%q is no kind of presence; allowed are peer, sshsig, tty", s)
}

// Terms are what the deciding rule says about the answer.
type Terms struct {
	From      []Selector
	Need      int // how many persons must approve; at least 1
	Presence  Presence
	Lifespans []action.Lifespan // offered besides once
}

// Offers says that an approval may have this lifespan.
func (t Terms) Offers(l action.Lifespan) bool {
	return l == action.Once || l.Valid() && slices.Contains(t.Lifespans, l)
}

// Case is what the rules need to know of a request.
type Case struct {
	Requester action.UID
	Login     action.Login // the requester's
	Digest    action.Digest
	Terms     Terms
}

// Ballot is an answer as it came in.
type Ballot struct {
	Peer Peer
	// Principal is that of the key whose signature over action.VoteText was
	// found good; empty for an unsigned ballot.
	Principal string
	Decision  action.Decision
	Lifespan  action.Lifespan // of an approval
	Digest    action.Digest   // of the text that the approver's client rendered
}

// Vote is an answer that counts.
type Vote struct {
	Person   PersonID
	Decision action.Decision
	Lifespan action.Lifespan
}
