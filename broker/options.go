package broker

import (
	"context"
	"errors"
	"time"

	"snens/approval/prompt"
	"snens/broker/action"
	"snens/broker/execute"
	"snens/broker/policy"
	"snens/broker/prepare"
	"snens/internal/audit"
	"snens/internal/peer"
	"snens/internal/sockets"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

// Maker judges and makes requests: prepare.Maker.
type Maker interface {
	Judge(a prepare.Ask) policy.Judgement
	Make(ctx context.Context, a prepare.Ask, j policy.Judgement, now time.Time) (*prepare.Prepared, error)
}

// Keeper keeps what belongs to a waiting request: execute.Executor. Keep takes
// all of h over, also when it fails; Drop may come twice, and late.
type Keeper interface {
	Room(uid uint32) error
	// Look judges descriptors that lie unreceived in a socket.
	Look(uid uint32, socket, want int) error
	Keep(id action.RequestID, uid uint32, h execute.Held) error
	Drop(id action.RequestID)
}

// Submission is what the queue takes. It has the fields of queue.Submission, and
// converts to it.
type Submission struct {
	ID             action.RequestID
	Peer           prompt.Peer
	Request        *action.Sealed
	Claims         action.Claims
	Seen           action.Seen
	Allowed        bool // nobody has to be asked; the fields down to Approvers are empty then
	Terms          prompt.Terms
	About          string
	ReasonRequired bool
	Approvers      []string
	Ended          func() // called once when the request has ended; not when Submit fails
}

// Queue takes requests in. Its refusals are errors with the method
// Refused() (action.Reason, action.RequestID), as queue.Refusal is.
type Queue interface {
	// Room gives the refusal that Submit would give, and takes nothing.
	Room(s Submission) error
	// Submit takes the request; asked is how many approvers were told.
	Submit(s Submission) (t Ticket, asked int, err error)
}

// Ticket follows a request: queue.Ticket.
type Ticket interface {
	Done() <-chan struct{} // closed when it has ended
	Result() action.Result // how far it has come
	Leave()                // the requester has left
}

// Requests are the requests of a peer's own: queue.Queue, with its refusals.
type Requests interface {
	Mine(p prompt.Peer) []action.Result
	Result(p prompt.Peer, id action.RequestID) (action.Result, error)
	Wait(ctx context.Context, p prompt.Peer, id action.RequestID) (action.Result, error)
	Cancel(p prompt.Peer, id action.RequestID) error
}

// Log takes records: audit.Writer.
type Log interface {
	Append(at time.Time, e audit.Entry) error
}

// Options are what a Server is made of. All down to Closer are needed.
type Options struct {
	Policy   func() *policy.Policy // the one in force
	Maker    Maker
	Queue    Queue
	Requests Requests
	Keeper   Keeper
	Log      Log
	NewID    func() action.RequestID // queue.NewID
	// InAction says whether the peer is part of an action that runs: by its
	// control group (execute.InAction), in the fallback by its session too.
	InAction func(p *peer.Peer) bool
	// Status is the answer to status, an object.
	Status func() strictjson.Value
	// Reload loads the policy again, and records that. Any fault means that the
	// old one stays.
	Reload func() (generation int, faults []string)
	Closer *wire.Closer // the one of Keeper: both count against the same uid

	// UserMode is --user: Owner may do what root may.
	UserMode bool
	Owner    action.UID

	Gate   *sockets.Gate // nil: the default limits
	Budget *wire.Budget  // nil: the default bytes
	Times  wire.Times
	// Drain is how long a connection whose request has not ended may outlive the
	// ctx of Serve; 0 is DefaultDrain.
	Drain time.Duration
	// Problem is told of faults that nobody else hears of; nil for nobody.
	Problem func(error)
}

// DefaultDrain is above what the end of a run takes: its grace, and the wait for
// what was killed.
const DefaultDrain = 15 * time.Second

// Server serves the request socket.
type Server struct {
	o       Options
	refused *audit.Counter
	denials *allowance // denied requests that have records of their own
	asks    *allowance // requests that people are asked about
	faults  *allowance // lines of our log that a peer causes
}

// New makes a Server. Close it.
func New(o Options) (*Server, error) {
	if o.Policy == nil || o.Maker == nil || o.Queue == nil || o.Requests == nil || o.Keeper == nil || o.Log == nil ||
		o.NewID == nil || o.InAction == nil || o.Status == nil || o.Reload == nil || o.Closer == nil {
		return nil, errors.New("cannot serve requests: the policy, one of those who do the work, or the closer is missing")
	}
	if o.Gate == nil {
		o.Gate = sockets.NewGate(sockets.DefaultLimits())
	}
	if o.Budget == nil {
		o.Budget = wire.NewBudget(wire.BudgetPerUID, wire.BudgetTotal)
	}
	if o.Drain <= 0 {
		o.Drain = DefaultDrain
	}
	if o.Problem == nil {
		o.Problem = func(error) {}
	}
	return &Server{
		o: o, refused: audit.NewCounter(o.Log, o.Problem),
		denials: newAllowance(10, time.Second), asks: newAllowance(60, time.Second), faults: newAllowance(10, time.Second),
	}, nil
}

// fault tells of something that a peer's request brought about.
func (s *Server) fault(uid action.UID, err error) {
	if s.faults.take(uid, time.Now()) {
		s.o.Problem(err)
	}
}

// Close writes the refusals that are still counted. Serve has ended before, and
// the log is closed afterwards.
func (s *Server) Close() { s.refused.Close() }
