package main

import (
	"context"

	"snens/broker/action"
	"snens/broker/execute"
	"snens/broker/prepare"
)

// resume opens again what a detached request of an earlier process needs, with
// its requester's rights. Its descriptors are gone with that process.
func resume(m *prepare.Maker) func(context.Context, *action.Sealed) (execute.Held, error) {
	return func(ctx context.Context, s *action.Sealed) (execute.Held, error) {
		p, err := m.Resume(ctx, s)
		if err != nil {
			return execute.Held{}, err
		}
		held := execute.Held{Program: p.Program, Opened: p.Opened}
		p.Program, p.Opened = nil, nil // taken over
		p.Close()
		return held, nil
	}
}
