package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"snens/approval/prompt"
	"snens/approval/queue"
	"snens/broker/action"
	"snens/broker/policy"
	"snens/broker/prepare"
	"snens/internal/escape"
)

// queuePolicy is the loaded policy as the queue asks it.
type queuePolicy struct {
	holder *policy.Holder
	maker  *prepare.Maker

	mu    sync.Mutex // guards the two below, which belong together
	of    *policy.Policy
	rules prompt.Rules
}

// Rules are who may see and answer what, by the policy in force.
func (q *queuePolicy) Rules() prompt.Rules {
	now := q.holder.Current()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.of == now {
		return q.rules
	}
	rules, err := promptRules(now)
	if err != nil {
		// The holder lets no policy in that has such a table (loadChecked).
		panic(fmt.Sprintf("the table of persons changed: %v", err))
	}
	q.of, q.rules = now, rules
	return rules
}

func (q *queuePolicy) StillHolds(ctx context.Context, s *action.Sealed) (queue.Change, bool) {
	c, holds := q.maker.StillHolds(ctx, s)
	return queue.Change(c), holds
}

// promptRules turns the policy's table of persons into the vocabulary's.
func promptRules(p *policy.Policy) (prompt.Rules, error) {
	table := make([]prompt.Person, len(p.Persons))
	for i, one := range p.Persons {
		table[i] = prompt.Person{Name: one.Name, UIDs: one.UIDs, Principals: one.Principals}
	}
	persons, err := prompt.NewPersons(table)
	return prompt.Rules{Persons: persons, UserMode: p.UserMode}, err
}

// loadChecked loads the policy and lets only one through whose persons the
// approving side takes as well.
func (a *app) loadChecked(s *setup) (*policy.Policy, error) {
	p, err := policy.LoadSystem(s.config, dropIns(s.config), a.policyOptions(s.user))
	if err != nil {
		return nil, err
	}
	if _, err := promptRules(p); err != nil {
		return nil, fmt.Errorf("cannot use the policy: %w", err)
	}
	return p, nil
}

// policyDigest is the same for policies that mean the same: every rule as it
// counts, in order, the persons and where bare names are looked up.
func policyDigest(p *policy.Policy) action.Digest {
	var b strings.Builder
	for _, r := range p.Rules {
		fmt.Fprintf(&b, "rule %s\n", r.Digest)
	}
	for _, one := range p.Persons {
		fmt.Fprintf(&b, "person %s", escape.Escape(one.Name))
		for _, uid := range one.UIDs {
			fmt.Fprintf(&b, " uid:%s", uid)
		}
		for _, principal := range one.Principals {
			fmt.Fprintf(&b, " principal:%q", principal)
		}
		b.WriteString("\n")
	}
	for _, dir := range p.SecurePath {
		fmt.Fprintf(&b, "path %q\n", dir)
	}
	return action.DigestOf(b.String())
}
