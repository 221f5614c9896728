package main

import (
	"context"

	"snens/broker/client"
)

// privStop gives a request up when a signal asks for it: the first hangs up and
// waits for the broker's word, a second INT does not wait. The command has a
// session of its own, so what a terminal does to us does not reach it.
type privStop struct {
	*watch
	cancel context.CancelFunc
	conn   *client.Client
}

func newPrivStop() (context.Context, *privStop) {
	w, ctx := newWatch()
	ctx, cancel := context.WithCancel(ctx)
	return ctx, &privStop{watch: w, cancel: cancel}
}

// giveUp names the connection that a second INT ends.
func (s *privStop) giveUp(c *client.Client) {
	s.conn = c
	s.runs(s)
}

// Stop, Kill, Suspend and Resume are what the watch does with its tree.
func (s *privStop) Stop()    { s.cancel() }
func (s *privStop) Kill()    { s.cancel(); _ = s.conn.Close() }
func (s *privStop) Suspend() {}
func (s *privStop) Resume()  {}

func (s *privStop) runs(tree stopper) { s.watch.runs(tree, nil) }

func (s *privStop) close() {
	s.watch.close()
	s.cancel()
}
