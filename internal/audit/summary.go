package audit

import (
	"slices"
	"time"

	"snens/broker/action"
)

// maxNamed is how many uids are told apart in one second.
const maxNamed = 256

// Refusals turns a flood of refusals into one record per uid and second. It
// keeps no clock: the caller says when, and asks Due when to come back. The
// zero value is ready; it is not safe for concurrent use.
type Refusals struct {
	second time.Time // what is counted began then
	named  map[action.UID]*tally
	others *tally
}

type tally struct {
	first, last time.Time
	reasons     map[action.Reason]uint64
}

// Add counts a refusal and returns the records of an earlier second, if one is
// complete. Time that runs backwards counts into the current second.
func (r *Refusals) Add(at time.Time, uid action.UID, why action.Reason) []Entry {
	at = at.UTC()
	var out []Entry
	if r.counting() && at.Truncate(time.Second).After(r.second) {
		out = r.Flush()
	}
	if !r.counting() {
		r.second, r.named = at.Truncate(time.Second), map[action.UID]*tally{}
	}
	if _, err := action.ParseReason(why.String()); err != nil {
		why = action.ReasonInternal // counted all the same
	}
	t := r.tallyOf(uid, at)
	if t.reasons[why]++; at.After(t.last) {
		t.last = at
	}
	return out
}

func (r *Refusals) tallyOf(uid action.UID, at time.Time) *tally {
	if t := r.named[uid]; t != nil {
		return t
	}
	fresh := &tally{first: at, reasons: map[action.Reason]uint64{}}
	if len(r.named) < maxNamed {
		r.named[uid] = fresh
		return fresh
	}
	if r.others == nil {
		r.others = fresh
	}
	return r.others
}

func (r *Refusals) counting() bool { return len(r.named) > 0 }

// Due is when what is counted should be flushed; false when nothing is.
func (r *Refusals) Due() (time.Time, bool) {
	if !r.counting() {
		return time.Time{}, false
	}
	return r.second.Add(time.Second), true
}

// Flush returns the records of what was counted, by uid, and forgets it.
func (r *Refusals) Flush() []Entry {
	var out []Entry
	uids := make([]action.UID, 0, len(r.named))
	for uid := range r.named {
		uids = append(uids, uid)
	}
	slices.Sort(uids)
	for _, uid := range uids {
		e := r.named[uid].entry(RefusedSummary)
		e.UID = uid
		out = append(out, e)
	}
	if r.others != nil {
		out = append(out, r.others.entry(RefusedOthers))
	}
	*r = Refusals{}
	return out
}

func (t *tally) entry(kind Kind) Entry {
	e := Entry{Kind: kind, First: t.first, Last: t.last, Reasons: []ReasonCount{}}
	for _, reason := range action.Reasons() {
		if n := t.reasons[reason]; n > 0 {
			e.Count += n
			e.Reasons = append(e.Reasons, ReasonCount{reason, n})
		}
	}
	return e
}
