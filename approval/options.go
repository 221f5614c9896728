package approval

import (
	"errors"

	"snens/approval/prompt"
	"snens/broker/action"
	"snens/internal/audit"
	"snens/internal/peer"
	"snens/internal/sockets"
	"snens/internal/wire"
)

// Queue holds the requests that wait for people: queue.Queue. Its refusals are
// errors with the method Refused() (action.Reason, action.RequestID), as
// queue.Refusal is.
type Queue interface {
	// Pending are those that the peer oversees, oldest first.
	Pending(p prompt.Peer) []prompt.Pending
	Show(p prompt.Peer, id action.RequestID) (prompt.Pending, error)
	Answer(id action.RequestID, b prompt.Ballot, seen action.Seen) (action.State, error)
	Kill(p prompt.Peer, id action.RequestID, seen action.Seen) error
	Watch(p prompt.Peer) (Watch, error)
}

// Watch is a subscription to events: queue.Watch. Events is closed when the
// watcher was too slow, or the queue has ended.
type Watch interface {
	Events() <-chan prompt.Event
	Close()
}

// Options are what a Server is made of. All down to Closer are needed.
type Options struct {
	Queue Queue
	// Holds says whether the peer may be here: a rule in force lists him among
	// its approvers, or he is root, or the owner in --user mode.
	Holds func(p prompt.Peer) bool
	// InAction says whether the peer is part of an action that runs.
	InAction func(p *peer.Peer) bool
	Log      audit.Appender
	Closer   *wire.Closer // none that a crowd of requesters could fill

	// Terminal and Supervised are asked about each peer at accept: has he a
	// terminal of his own, and is he a tool of a supervisor. They are for --user
	// mode, where the queue looks at the answers; nil is no terminal, and not
	// supervised.
	Terminal, Supervised func(p *peer.Peer) bool

	Gate   *sockets.Gate // nil: the default limits
	Budget *wire.Budget  // nil: the default bytes
	Times  wire.Times
	// Problem is told of faults that nobody else hears of; nil for nobody.
	Problem func(error)
}

// Server serves the approval socket.
type Server struct {
	o       Options
	refused *audit.Counter
}

// New makes a Server. Close it.
func New(o Options) (*Server, error) {
	if o.Queue == nil || o.Holds == nil || o.InAction == nil || o.Log == nil || o.Closer == nil {
		return nil, errors.New("cannot serve approvers: the queue, the log, the closer, or what is asked about peers is missing")
	}
	if o.Gate == nil {
		o.Gate = sockets.NewGate(sockets.DefaultLimits())
	}
	if o.Budget == nil {
		o.Budget = wire.NewBudget(wire.BudgetPerUID, wire.BudgetTotal)
	}
	if o.Problem == nil {
		o.Problem = func(error) {}
	}
	return &Server{o: o, refused: audit.NewCounter(o.Log, o.Problem)}, nil
}

// Close writes the refusals that are still counted. Serve has ended before, and
// the log is closed afterwards.
func (s *Server) Close() { s.refused.Close() }
