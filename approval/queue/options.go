package queue

import (
	"context"
	"time"

	"snens/approval/prompt"
	"snens/approval/store"
	"snens/broker/action"
	"snens/internal/audit"
)

// Store keeps requests across the death of the process; store.Dir is one.
type Store interface {
	Save(r *store.Record, durable bool) error
	Remove(id action.RequestID) error
	Load() (found []store.Record, faults []error, err error)
}

// Audit is the log; Log makes one of an audit.Writer.
type Audit interface {
	Append(at time.Time, e audit.Entry) error
	AppendSync(at time.Time, e audit.Entry) error
	Reserve() (Reservation, error)
}

// Reservation is the space for one record.
type Reservation interface {
	Append(at time.Time, e audit.Entry) error
	Release()
}

// Log is the Audit that w is.
func Log(w *audit.Writer) Audit { return writer{w} }

type writer struct{ *audit.Writer }

func (w writer) Reserve() (Reservation, error) {
	r, err := w.Writer.Reserve()
	if err != nil {
		return nil, err // no typed nil
	}
	return r, nil
}

// Policy is what the queue asks of the loaded policy.
type Policy interface {
	// Rules are those in force now.
	Rules() prompt.Rules
	// StillHolds says that the request would be judged today as it was when it
	// was sealed, by the same rule and with the same files. Only true lets it
	// run; Change says what is different.
	StillHolds(ctx context.Context, s *action.Sealed) (Change, bool)
}

// Change is how a request went stale.
type Change struct {
	Reason    action.Reason // ReasonStaleRule or ReasonStaleFile; others count as the first
	NewDigest action.Digest // of what would be approved now; zero when there is none
	Detail    string        // for the record
}

// Runner runs what was approved.
type Runner interface {
	// Run executes the request and returns when all of it has ended. It calls
	// started once, when the execution is confirmed, and never when there was
	// none. When ctx ends it ends the run; WhyEnded(ctx) is the reason then.
	Run(ctx context.Context, id action.RequestID, s *action.Sealed, started func(pid uint32)) Ending
	// Clear ends whatever an earlier process left of the run.
	Clear(ctx context.Context, id action.RequestID) error
}

// Ending is how a run ended: a reason for Exited, or, when started was not
// called, for FailedToStart. Code and Signal are as in action.Result.
type Ending struct {
	Reason action.Reason
	Code   int
	Signal int
	Detail string // for the record
}

// Options are what a queue is made of. All but Limits and Problem are needed.
type Options struct {
	Store  Store
	Audit  Audit
	Policy Policy
	Runner Runner
	Limits Limits
	// Problem is told of faults that nobody else hears of, such as a record of a
	// refusal that could not be written. It must not call the queue.
	Problem func(error)
}

// Limits bound the queue. Zero fields get the default.
type Limits struct {
	PendingPerUID int           // that wait for people; 5
	LivePerUID    int           // that have not ended; 32
	Live          int           // of all uids; 10,000
	Bytes         int64         // that live requests may take; 40 MiB
	CoolDown      time.Duration // after a person's no, per uid and key; 1 minute
	KeepResult    time.Duration // of a detached request; 24 hours
	KeepTrace     time.Duration // of others, so that a late answer hears gone; 10 minutes
	KeptPerUID    int           // ended requests that are remembered; 100
	Kept          int           // of all uids; 20,000
	Guesses       int           // ids that one uid may get wrong at once; 20
	GuessEvery    time.Duration // after which he may get another one wrong; 1 second
	Watchers      int           // subscriptions; 256
	Buffer        int           // events that a watcher may be behind; 256
}

func (l Limits) withDefaults() Limits {
	orInt := func(n *int, otherwise int) {
		if *n <= 0 {
			*n = otherwise
		}
	}
	orTime := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	orInt(&l.PendingPerUID, 5)
	orInt(&l.LivePerUID, 32)
	orInt(&l.Live, 10_000)
	if l.Bytes <= 0 {
		l.Bytes = 40 << 20
	}
	orTime(&l.CoolDown, time.Minute)
	orTime(&l.KeepResult, 24*time.Hour)
	orTime(&l.KeepTrace, 10*time.Minute)
	orInt(&l.KeptPerUID, 100)
	orInt(&l.Kept, 20_000)
	orInt(&l.Guesses, 20)
	orTime(&l.GuessEvery, time.Second)
	orInt(&l.Watchers, 256)
	orInt(&l.Buffer, 256)
	return l
}
