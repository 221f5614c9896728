package policy

import (
	"slices"
	"time"

	"snens/broker/action"
)

// Rule is one [[rule]], checked, with all defaults and ids filled in. It does
// not change after Load; do not change it.
type Rule struct {
	ID       RuleID           `toml:"id"`
	About    string           `toml:"about"`
	Decision Decision         `toml:"decision"`
	Command  string           `toml:"command"`
	Args     []Arg            `toml:"args"`
	From     []Principal      `toml:"from"`
	RunAs    RunAs            `toml:"run_as"`
	Env      []Var            `toml:"env"`      // the rule's own, sorted
	EnvPass  []string         `toml:"env_pass"` // names the requester may set, sorted
	Timeout  time.Duration    `toml:"timeout"`
	Approve  Approve          `toml:"approve"`
	Match    [][]string       `toml:"match"` // arguments without the command
	NoMatch  [][]string       `toml:"no_match"`
	Cwd      string           `toml:"cwd"` // an absolute folder, or CwdRequester
	Umask    uint16           `toml:"umask"`
	Stdin    action.StdinMode `toml:"stdin"`
	Detach   bool             `toml:"detach"`
	Limits   action.Limits    `toml:"limits"`
	SHA256   string           `toml:"sha256"` // of the executable, in hexadecimal; "" = not pinned
	IKnow    bool             `toml:"i_know"`

	Digest Digest // see Canonical
	Where  string // FILE:LINE:COLUMN of its id, or of the rule

	// AnyArgs: a rule that denies and says nothing about arguments is about all.
	AnyArgs bool

	base []Var // the whole environment but what the requester passes, sorted
}

// CwdRequester as the cwd of a rule means the folder the requester is in.
const CwdRequester = "requester"

// Arg is one entry of args: a literal word, or a slot.
type Arg struct {
	Literal string
	Slot    *Slot // nil for a literal
}

// RunAs is who the command runs as.
type RunAs struct {
	action.RunAs
	Home string
}

// Approve says who decides on a request that a rule with ask matched, and how.
type Approve struct {
	From           []Principal     `toml:"from"`
	Need           int             `toml:"need"` // always 1 in this version
	Presence       Presence        `toml:"presence"`
	TTL            time.Duration   `toml:"ttl"`      // how long a request may wait
	Remember       []time.Duration `toml:"remember"` // always empty in this version
	ReasonRequired bool            `toml:"reason"`
}

// Holds says whether s may decide, as far as from goes: whether s is the
// requester's own person is another question (Policy.SamePerson).
func (a Approve) Holds(s Subject) bool { return holds(a.From, s) }

// Person is one [[person]]: the uids and keys of one human being.
type Person struct {
	Name       string   `toml:"name"`
	UIDs       []UID    `toml:"uids"`
	Principals []string `toml:"principals"`
}

// Policy is everything that was loaded. It does not change; a reload makes
// another one.
type Policy struct {
	Rules      []*Rule  // in the order of the files
	Persons    []Person // likewise
	SecurePath []string `toml:"secure_path"`
	Files      []string // what was read
	Notes      []string // what was passed over, for people
	UserMode   bool     // --user: a guard against mistakes, no boundary

	host     Host
	findings []Finding
}

// Rule finds a rule by its id, nil when there is none.
func (p *Policy) Rule(id RuleID) *Rule {
	i := slices.IndexFunc(p.Rules, func(r *Rule) bool { return r.ID == id })
	if i < 0 {
		return nil
	}
	return p.Rules[i]
}

// Visible lists the rules that s may ask for: those with allow or ask that
// name him.
func (p *Policy) Visible(s Subject) []*Rule {
	var out []*Rule
	for _, r := range p.Rules {
		if r.Decision != Deny && holds(r.From, s) {
			out = append(out, r)
		}
	}
	return out
}

// Names says whether any rule with allow or ask names s. Whoever is not named
// gets one answer to everything: denied.
func (p *Policy) Names(s Subject) bool { return len(p.Visible(s)) > 0 }
