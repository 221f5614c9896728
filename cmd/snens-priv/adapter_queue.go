package main

import (
	"snens/approval/queue"
	"snens/broker"
)

// requestQueue is the queue as the request socket submits to it.
type requestQueue struct{ *queue.Queue }

func (q requestQueue) Room(s broker.Submission) error { return q.Queue.Room(queue.Submission(s)) }

func (q requestQueue) Submit(s broker.Submission) (broker.Ticket, int, error) {
	t, err := q.Queue.Submit(queue.Submission(s))
	if err != nil {
		return nil, 0, err // no typed nil
	}
	return t, t.Asked, nil
}
