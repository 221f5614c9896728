package policy

import "snens/broker/action"

// The ids are those of the request's vocabulary.
type (
	UID    = action.UID
	GID    = action.GID
	RuleID = action.RuleID
	Digest = action.Digest
	Var    = action.Var
)

// NoID is no id: to setuid(2) it means "leave it", so it never stands for
// anybody.
const NoID = action.NoID

// Decision is what a policy says about a request. The zero value is Deny, and
// every unknown value counts as Deny.
type Decision int

// The decisions.
const (
	Deny Decision = iota
	Ask
	Allow
)

var decisionWords = []string{"deny", "ask", "allow"}

// String is the word of a policy file.
func (d Decision) String() string {
	if d < Deny || d > Allow {
		return decisionWords[Deny]
	}
	return decisionWords[d]
}

// stdinWords are the words of stdin.
var stdinWords = []struct {
	word string
	mode action.StdinMode
}{
	{"none", action.StdinNone},
	{"sealed", action.StdinSealed},
	{"pass", action.StdinPass},
}

func stdinWord(mode action.StdinMode) string {
	for _, w := range stdinWords {
		if w.mode == mode {
			return w.word
		}
	}
	return ""
}

// Presence is what an approver has to show besides being who he is.
type Presence string

// The words of presence that this version knows.
const (
	PresencePeer Presence = "peer" // the identity of the connection
	PresenceTTY  Presence = "tty"  // --user mode only: a terminal of its own
)
