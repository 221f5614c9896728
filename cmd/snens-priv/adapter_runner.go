package main

import (
	"context"

	"snens/approval/queue"
	"snens/broker/action"
	"snens/broker/execute"
)

// runner is the executor as the queue starts it.
type runner struct{ *execute.Executor }

func (r runner) Run(ctx context.Context, id action.RequestID, s *action.Sealed, started func(pid uint32)) queue.Ending {
	return queue.Ending(r.Executor.Run(ctx, id, s, started))
}
