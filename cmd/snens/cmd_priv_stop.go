package main

import (
	"context"
	"os"
	"os/signal"
	"sync"

	"golang.org/x/sys/unix"

	"snens/broker/client"
)

// privStop gives a request up when a signal asks for it: the first hangs up and
// waits for the broker's word, a second INT does not wait. The command has a
// session of its own, so what a terminal does to us does not reach it; stopping
// and continuing (TSTP, CONT) are the kernel's, for us alone.
//
// It is not the watch of snens call, because each signal that is watched costs
// two switches of threads at the start and two at the end, and priv is short.
type privStop struct {
	signals chan os.Signal
	over    chan struct{}
	loop    sync.WaitGroup
	cancel  context.CancelFunc
	watched bool

	mu   sync.Mutex
	conn *client.Client // guarded by mu; what a second INT closes
}

// newPrivStop makes what ends with the first signal after watch. The caller calls
// close.
func newPrivStop() (context.Context, *privStop) {
	ctx, cancel := context.WithCancel(context.Background())
	return ctx, &privStop{signals: make(chan os.Signal, 4), over: make(chan struct{}), cancel: cancel}
}

// watch begins to watch, unless it did before. Until then a signal just ends us,
// so it has to come before anything is asked.
func (s *privStop) watch() {
	if !s.watched {
		s.watched = true
		signal.Notify(s.signals, endingSignals()...)
		s.loop.Go(s.wait)
	}
}

// endingSignals are those that ask for an end, without those that were ignored
// when we were started (nohup, a background job).
func endingSignals() []os.Signal {
	wanted := []os.Signal{unix.SIGTERM}
	for _, sig := range []unix.Signal{unix.SIGINT, unix.SIGHUP} {
		if !ignored(sig) {
			wanted = append(wanted, sig)
		}
	}
	return wanted
}

func (s *privStop) wait() {
	first := true
	for {
		select {
		case <-s.over:
			return
		case sig := <-s.signals:
			s.cancel()
			if sig == unix.SIGINT && !first {
				s.hangUp()
			}
			first = false
		}
	}
}

// hangUp waits for nobody.
func (s *privStop) hangUp() {
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	if conn != nil {
		_ = conn.Close()
	}
}

// giveUp names the connection that a second INT closes.
func (s *privStop) giveUp(c *client.Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn = c
}

// close ends the watch. With restore the signals have their usual effect again;
// without it they have none, for who ends the process next.
func (s *privStop) close(restore bool) {
	if restore && s.watched {
		signal.Stop(s.signals)
	}
	close(s.over)
	s.loop.Wait()
	s.cancel()
}
