package prompt

import (
	"fmt"
	"slices"

	"snens/broker/action"
)

// Outcome is how asking ended. The zero value is "not yet", which allows
// nothing; only Approved allows.
type Outcome uint8

// The outcomes.
const (
	Undecided Outcome = iota
	Approved
	Denied
	Expired
	Cancelled
	Stale
)

var outcomeWords = []string{"undecided", "approved", "denied", "expired", "cancelled", "stale"}

func (o Outcome) String() string {
	if int(o) >= len(outcomeWords) {
		return fmt.Sprintf("invalid(%d)", uint8(o))
	}
	return outcomeWords[o]
}

// ParseOutcome reads the word of an outcome.
func ParseOutcome(s string) (Outcome, error) {
	if i := slices.Index(outcomeWords, s); i >= 0 {
		return Outcome(i), nil
	}
	return Undecided, fmt.Errorf("%q is no outcome; allowed are undecided, approved, denied, expired, cancelled, stale", s)
}

// Allows says that the request may be spent.
func (o Outcome) Allows() bool { return o == Approved }

// State is the state of a request whose asking ended so.
func (o Outcome) State() action.State {
	switch o {
	case Approved:
		return action.Approved
	case Denied:
		return action.Denied
	case Expired:
		return action.Expired
	case Cancelled:
		return action.Cancelled
	case Stale:
		return action.Stale
	}
	return action.Pending
}

// Tally is what the votes mean so far: one denial is a veto; as many approving
// persons as needed approve, for the shortest of their lifespans. A vote that
// is neither counts as nothing, and a need below 1 is never met.
func Tally(need int, votes []Vote) (Outcome, action.Lifespan) {
	approving := map[PersonID]bool{}
	var shortest action.Lifespan
	for _, v := range votes {
		switch {
		case v.Decision == action.Deny:
			return Denied, 0
		case v.Decision != action.Approve || v.Person == "" || !v.Lifespan.Valid():
			continue
		}
		if approving[v.Person] = true; shortest == 0 || v.Lifespan < shortest {
			shortest = v.Lifespan
		}
	}
	if need < 1 || len(approving) < need {
		return Undecided, 0
	}
	return Approved, shortest
}
