package main

import (
	"slices"

	"snens/approval"
	"snens/approval/prompt"
	"snens/approval/queue"
	"snens/broker/action"
	"snens/broker/policy"
	"snens/internal/peer"
)

// newApprovals makes the server of the approval socket.
func (d *daemon) newApprovals(within func(*peer.Peer) bool, owner action.UID) (server, error) {
	o := approval.Options{
		Queue: approvalQueue{d.queue}, InAction: within, Log: d.audit, Closer: d.carrier, Problem: d.problem,
		Holds: func(p prompt.Peer) bool {
			return p.UID == 0 || d.setup.user && p.UID == owner || approves(d.holder.Current(), p)
		},
	}
	if d.setup.user {
		o.Terminal, o.Supervised = atTerminal, supervised
	}
	return approval.New(o)
}

// approves says whether any rule lists the peer among its approvers.
func approves(p *policy.Policy, who prompt.Peer) bool {
	subject := policy.Subject{UID: who.UID, GID: who.GID, Groups: who.Groups}
	return slices.ContainsFunc(p.Rules, func(r *policy.Rule) bool {
		return r.Decision == policy.Ask && r.Approve.Holds(subject)
	})
}

// approvalQueue is the queue as the approval socket watches it.
type approvalQueue struct{ *queue.Queue }

func (q approvalQueue) Watch(p prompt.Peer) (approval.Watch, error) {
	w, err := q.Queue.Watch(p)
	if err != nil {
		return nil, err // no typed nil
	}
	return w, nil
}
