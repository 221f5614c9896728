package queue

import (
	"snens/broker/action"
)

// Counts are how many requests there are.
type Counts struct {
	Pending int // wait for people
	Running int // their command was started and has not ended
	Live    int // have not ended, these included
}

// Counts counts the requests. It asks nobody and writes nothing: that it answers
// means that the queue is alive.
func (q *Queue) Counts() Counts {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := Counts{Live: len(q.live)}
	for _, e := range q.live {
		switch e.state {
		case action.Pending:
			c.Pending++
		case action.Running:
			c.Running++
		}
	}
	return c
}
