package action

import (
	"errors"
	"fmt"
	"time"
)

// Decision is what an approver says. The zero value says nothing.
type Decision uint8

// The decisions.
const (
	Approve Decision = iota + 1
	Deny
)

var decisionWords = words{"", "approve", "deny"}

func (d Decision) String() string { return decisionWords.at(uint8(d)) }

// ParseDecision reads approve or deny.
func ParseDecision(s string) (Decision, error) {
	d, err := decisionWords.parse("decision", s)
	return Decision(d), err
}

// Lifespan says how long an approval holds: for this one run, or for every
// equal request (same requester, same Key) within a time counted from the
// approval. The zero value is no lifespan. Of two, the smaller is the shorter.
type Lifespan time.Duration

// Once is one run. As a duration it would be a nanosecond, which no other
// lifespan can be.
const Once Lifespan = 1

// ParseLifespan reads "once" or a duration in whole seconds as FormatDuration writes it.
func ParseLifespan(s string) (Lifespan, error) {
	if s == "once" {
		return Once, nil
	}
	d, err := ParseDuration(s)
	if err != nil || d%time.Second != 0 {
		return 0, fmt.Errorf("%q is no lifespan; write once, or a time like 15m or 1h, at most 720h", s)
	}
	return Lifespan(d), nil
}

func (l Lifespan) String() string {
	switch {
	case l == Once:
		return "once"
	case !l.Valid():
		return fmt.Sprintf("invalid(%d)", int64(l))
	}
	return FormatDuration(time.Duration(l))
}

// Valid says that l is Once or a duration in whole seconds up to MaxDuration.
func (l Lifespan) Valid() bool {
	d := time.Duration(l)
	return l == Once || checkDuration(d) == nil && d%time.Second == 0
}

// Duration is how long the approval is remembered; 0 for Once.
func (l Lifespan) Duration() time.Duration {
	if l == Once || !l.Valid() {
		return 0
	}
	return time.Duration(l)
}

// VoteText is what the signature of a vote covers: the review text and two
// lines that no carrier can change then. An approval needs a lifespan; a denial
// has none (0) and says so.
func VoteText(s *Sealed, d Decision, l Lifespan) (string, error) {
	span := l.String()
	switch {
	case d == Approve && !l.Valid():
		return "", fmt.Errorf("cannot make the text of an approval: %s is no lifespan", span)
	case d == Deny && l != 0:
		return "", errors.New("cannot make the text of a denial with a lifespan: it has none")
	case d == Deny:
		span = "none"
	case d != Approve:
		return "", fmt.Errorf("cannot make the text of a vote: %s is no decision", d)
	}
	var out lines
	out.WriteString(s.text)
	out.line("decision", d.String())
	out.line("lifespan", span)
	return out.String(), nil
}
