package main

import (
	"snens/broker/action"
	"snens/internal/audit"
)

// filter lets records through. A user and a rule stand in some records of a
// request alone: the ids of these requests are learnt, and all about them is let
// through.
type filter struct {
	options
	mine  map[action.RequestID]bool // that the user of --uid made
	ruled map[action.RequestID]bool // that the rule of --rule decided
}

func newFilter(o options) *filter {
	return &filter{o, map[action.RequestID]bool{}, map[action.RequestID]bool{}}
}

// learns says that a reading of the log before the one that prints is worth it.
func (f *filter) learns() bool { return f.hasUID || f.rule != "" }

// learn notes the request of a record that names what is looked for.
func (f *filter) learn(r record) {
	if f.hasUID && r.Kind == audit.Received && r.UID == f.uid {
		f.mine[r.ID] = true
	}
	if f.rule != "" && r.Kind == audit.Decided && r.Rule == f.rule {
		f.ruled[r.ID] = true
	}
}

// lets says whether a record is shown.
func (f *filter) lets(r record) bool {
	switch {
	case !f.id.IsZero() && r.ID != f.id,
		f.kind != "" && r.Kind != f.kind,
		r.Time.Before(f.since),
		f.rule != "" && !f.ruled[r.ID]:
		return false
	}
	return !f.hasUID || f.mine[r.ID] || r.has("uid") && r.UID == f.uid
}
