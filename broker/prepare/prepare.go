package prepare

import (
	"fmt"
	"os"
	"sync"
	"time"

	"snens/broker/action"
	"snens/broker/policy"
	"snens/internal/spawn"
)

// Ask is what a requester sent, beside who he is by the kernel's word.
type Ask struct {
	From policy.Subject
	// A rule with the words of its slots, or a command.
	Rule  action.RuleID
	Slots map[string][]string
	Argv  []string

	Cwd    string   // the folder he is in; "" = not told
	Env    []string // NAME=value; what the rule does not pass is left out
	Stdin  *string  // content to be sealed; nil = none was sent
	Claims action.Claims
	TTL    time.Duration // how long he would wait; 0 = as long as the rule says, which is the most
	Detach bool
}

// Options are what a Maker is made of.
type Options struct {
	Policy  func() *policy.Policy // the one in force, such as Holder.Current
	Opener  *spawn.Opener         // of the rules' commands
	Install action.InstallID
	// UserMode: --user. Actions run as this process does, and everybody who asks
	// is the owner himself, so files are opened as they are.
	UserMode bool
	// Owner is who besides root may own folders that count as nobody else's.
	Owner policy.UID
	// Discard closes what was opened for a requester and is not needed. Closing
	// can hang where the requester serves the file system, so the broker gives it
	// to workers nobody waits for. nil closes at once.
	Discard func(action.UID, *os.File)
}

// Maker makes sealed requests. Its methods may be called from several
// goroutines.
type Maker struct {
	o Options

	mu      sync.Mutex
	opening map[policy.UID]int // guarded by mu: opens under way, those that hang included
}

// New makes a Maker. Policy, Opener and Install are needed.
func New(o Options) *Maker {
	if o.Discard == nil {
		o.Discard = func(_ action.UID, f *os.File) { f.Close() }
	}
	return &Maker{o: o, opening: map[policy.UID]int{}}
}

// Judge judges by the policy in force. It opens nothing.
func (m *Maker) Judge(a Ask) policy.Judgement {
	return m.o.Policy().Judge(policy.Request{From: a.From, Argv: a.Argv, Rule: a.Rule, Slots: a.Slots})
}

// Prepared is a request that is ready for the queue, with what its run needs.
// Whoever takes Program or Opened over sets the field to nil.
type Prepared struct {
	Rule    *policy.Rule
	Request *action.Sealed
	Program *spawn.Program
	Opened  []*os.File // become descriptors 3, 4, ... of the child; at most one in this version

	discard func(*os.File)
}

// Close gives back what was opened. Once is enough.
func (p *Prepared) Close() {
	if p.Program != nil {
		p.Program.Close()
		p.Program = nil
	}
	for _, f := range p.Opened {
		p.discard(f)
	}
	p.Opened = nil
}

// Refusal is the answer "no" to a requester. Any other error is a fault of ours.
type Refusal struct {
	Reason action.Reason
	Rule   action.RuleID // "" when no rule decided
	Why    string        // for the requester: one line, escaped; may be ""
	Cause  error         // for the log only; nil when Why says it all
}

// Error says everything; it is for the log.
func (r *Refusal) Error() string {
	s := r.Reason.String()
	if r.Rule != "" {
		s += fmt.Sprintf(" (rule %s)", r.Rule)
	}
	if r.Why != "" {
		s += ": " + r.Why
	}
	if r.Cause != nil {
		s += ": " + r.Cause.Error()
	}
	return s
}

// Unwrap is the cause.
func (r *Refusal) Unwrap() error { return r.Cause }

// Change is how a request went stale. It has the fields of the queue's type of
// that name and converts to it.
type Change struct {
	Reason    action.Reason // ReasonStaleRule or ReasonStaleFile
	NewDigest action.Digest // of what would be approved now; zero when there is no such thing
	Detail    string        // for the record; escaped
}
