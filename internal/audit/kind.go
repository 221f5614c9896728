package audit

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is what a record is about. The list is closed.
type Kind string

// The kinds about one request are named like the events of a request.
const (
	Received      Kind = "received"
	Decided       Kind = "decided"
	Pending       Kind = "pending"
	Vote          Kind = "vote"
	VoteRefused   Kind = "vote_refused"
	Approved      Kind = "approved"
	Spent         Kind = "spent"
	Started       Kind = "started"
	Exited        Kind = "exited"
	Denied        Kind = "denied"
	Expired       Kind = "expired"
	Cancelled     Kind = "cancelled"
	Stale         Kind = "stale"
	FailedToStart Kind = "failed_to_start"
	Lost          Kind = "lost"
	Kill          Kind = "kill" // somebody ordered the end of a running action

	Granted Kind = "granted" // an approval is remembered
	Revoked Kind = "revoked"

	Refused        Kind = "refused"         // a peer, before there was a request
	RefusedSummary Kind = "refused_summary" // many refusals of one uid
	RefusedOthers  Kind = "refused_others"  // of uids too many to name

	Start        Kind = "start"
	Stop         Kind = "stop"
	Reload       Kind = "reload"
	ReloadFailed Kind = "reload_failed"

	// Rotated, Torn, Gap, Damaged and HeadLost are written by this package.
	Rotated  Kind = "rotated"
	Torn     Kind = "torn"
	Gap      Kind = "gap"
	Damaged  Kind = "damaged"
	HeadLost Kind = "head_lost"
)

// shape says which fields a kind needs and which it may have besides.
type shape struct{ need, may string }

const final = "id result"

var shapes = map[Kind]shape{
	Received:      {"id uid gid", "argv rule claims seen"},
	Decided:       {"id decision", "rule rule_digest request digest reason detail"},
	Pending:       {"id digest", ""},
	Vote:          {"id uid digest vote", "principal presence seen"},
	VoteRefused:   {"id uid reason", "digest principal seen detail"},
	Approved:      {"id digest", "lifespan detail"},
	Spent:         {"id digest", ""},
	Started:       {"id pid", "detail"},
	Exited:        {final, "detail"},
	Denied:        {final, "uid detail"},
	Expired:       {final, "detail"},
	Cancelled:     {final, "detail"},
	Stale:         {final + " digest", "new_digest detail"},
	FailedToStart: {final, "detail"},
	Lost:          {final, "detail"},
	Kill:          {"id uid", "seen detail"},
	Granted:       {"id uid digest lifespan", "detail"},
	Revoked:       {"id uid", "seen detail"},

	Refused:        {"uid reason", "id seen detail"},
	RefusedSummary: {"uid count first last reasons", ""},
	RefusedOthers:  {"count first last reasons", ""},

	Start:        {"version install", "detail"},
	Stop:         {"", "detail"},
	Reload:       {"digest", "detail"},
	ReloadFailed: {"detail", "digest"},

	Rotated:  {"file", ""},
	Torn:     {"file offset bytes digest", "detail"},
	Gap:      {"missing_from missing_to unsynced", ""},
	Damaged:  {"file line", "detail"},
	HeadLost: {"detail", ""},
}

// Kinds are all kinds, by name.
func Kinds() []Kind {
	all := make([]Kind, 0, len(shapes))
	for k := range shapes {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// ParseKind reads the word of a kind.
func ParseKind(s string) (Kind, error) {
	if _, ok := shapes[Kind(s)]; ok {
		return Kind(s), nil
	}
	return "", fmt.Errorf("%q is no kind of record", s)
}

func (s shape) needs(name string) bool { return slices.Contains(strings.Fields(s.need), name) }
func (s shape) takes(name string) bool { return slices.Contains(strings.Fields(s.may), name) }
