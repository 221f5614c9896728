package prompt

import (
	"slices"

	"snens/broker/action"
)

// Peer is who holds the other end of a connection, fixed when it was accepted.
type Peer struct {
	UID    action.UID
	GID    action.GID
	Groups []action.GID
	Login  action.Login
	// InAction: the process is in the control group of a running action. Such a
	// peer gets nothing on any socket: whoever could start an action could
	// otherwise use it to answer his next request.
	InAction bool
	// Terminal and Supervised are looked at in user mode only: the process has a
	// controlling terminal of its own; it runs inside a supervised tool call.
	Terminal   bool
	Supervised bool
}

// SelectorKind says what a Selector names.
type SelectorKind uint8

// The kinds of selectors. The zero value selects nobody.
const (
	SelectUID SelectorKind = iota + 1
	SelectGID
	SelectPrincipal
)

// Selector is one entry of a rule's approvers, resolved.
type Selector struct {
	Kind      SelectorKind
	UID       action.UID
	GID       action.GID
	Principal string
}

// holds says whether the peer's own identity is the selected one. Root is
// selected by its uid alone: being in a group means nothing for a process that
// can join any.
func (s Selector) holds(p Peer) bool {
	switch s.Kind {
	case SelectUID:
		return s.UID == p.UID && p.UID != action.NoID
	case SelectGID:
		return p.UID != 0 && p.UID != action.NoID && s.GID != action.NoID && (s.GID == p.GID || slices.Contains(p.Groups, s.GID))
	}
	return false
}
