// Package identity puts what the kernel said of a peer into the words of requests
// and approvals. Both servers use it, so that who asks and who approves are told
// by the same facts. It adds nothing of its own: whether a peer is part of an
// action, or sits at a terminal, is the servers' to find out.
package identity

import (
	"snens/approval/prompt"
	"snens/broker/action"
	"snens/internal/peer"
)

// Of is the peer as the queue knows it, and what records say of its process.
// InAction, Terminal and Supervised are not set.
func Of(p *peer.Peer) (prompt.Peer, action.Seen) {
	groups := make([]action.GID, len(p.Groups))
	for i, g := range p.Groups {
		groups[i] = action.GID(g)
	}
	login := action.Login{UID: action.UID(p.Seen.LoginUID), Set: p.Seen.HasLogin}
	who := prompt.Peer{UID: action.UID(p.UID), GID: action.GID(p.GID), Groups: action.SortGIDs(groups), Login: login}
	return who, action.Seen{PID: p.PID, Exe: p.Seen.Exe, Cgroup: p.Seen.Cgroup, Login: login}
}
