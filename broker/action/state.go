package action

import "slices"

// State is where a request is. The zero value is none of them.
type State uint8

// The states. Everything from Exited on is final.
const (
	Received State = iota + 1
	Pending        // waits for people
	Approved       // by people, or by a rule that allows
	Spent          // the approval is used up, nothing was executed yet
	Running
	Exited        // ran; how it ended says the reason
	Denied        // refused, by whatever
	Expired       // nobody answered in time
	Cancelled     // given up before anything ran
	Stale         // what was approved is no longer what would run
	FailedToStart // spent, but the kernel would not execute it
	Lost          // the daemon died while it was spent or running; never run again
)

var stateWords = words{
	"", "received", "pending", "approved", "spent", "running", "exited",
	"denied", "expired", "cancelled", "stale", "failed_to_start", "lost",
}

// next is the state machine: what each state can become.
var next = map[State][]State{
	Received: {Pending, Approved, Denied, Cancelled},
	Pending:  {Approved, Denied, Expired, Cancelled, Stale},
	Approved: {Spent, Denied, Expired, Cancelled, Stale},
	Spent:    {Running, FailedToStart, Lost},
	Running:  {Exited, Lost},
}

// States are all states, in order.
func States() []State {
	var all []State
	for s := Received; s <= Lost; s++ {
		all = append(all, s)
	}
	return all
}

func (s State) String() string { return stateWords.at(uint8(s)) }

// ParseState reads the word of a state.
func ParseState(word string) (State, error) {
	s, err := stateWords.parse("state", word)
	return State(s), err
}

// Final says that nothing can happen to the request any more.
func (s State) Final() bool { return s >= Exited && s <= Lost }

// CanBecome says that the request may go from s to t in one step.
func (s State) CanBecome(t State) bool { return slices.Contains(next[s], t) }

// Event is what a change of a request is called, in audit records and in what
// approvers and requesters are told. The zero value is none of them.
type Event uint8

// The events. Those that end a request are named like its final state.
const (
	EventReceived Event = iota + 1
	EventDecided        // judged by the policy
	EventPending        // people were asked
	EventVote           // one of them answered
	EventApproved
	EventSpent
	EventStarted
	EventExited
	EventDenied
	EventExpired
	EventCancelled
	EventStale
	EventFailedToStart
	EventLost
)

var eventWords = words{
	"", "received", "decided", "pending", "vote", "approved", "spent", "started", "exited",
	"denied", "expired", "cancelled", "stale", "failed_to_start", "lost",
}

func (e Event) String() string { return eventWords.at(uint8(e)) }

// ParseEvent reads the word of an event.
func ParseEvent(word string) (Event, error) {
	e, err := eventWords.parse("event", word)
	return Event(e), err
}

// Event is what entering the state is called; 0 for the zero state.
func (s State) Event() Event {
	return map[State]Event{
		Received: EventReceived, Pending: EventPending, Approved: EventApproved, Spent: EventSpent,
		Running: EventStarted, Exited: EventExited, Denied: EventDenied, Expired: EventExpired,
		Cancelled: EventCancelled, Stale: EventStale, FailedToStart: EventFailedToStart, Lost: EventLost,
	}[s]
}
