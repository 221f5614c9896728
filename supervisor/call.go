package supervisor

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"snens/session"
	"snens/supervisor/call"
	"snens/supervisor/config"
	"snens/supervisor/engine"
)

// Request is one call.
type Request struct {
	Handle *Handle
	// Args are the arguments as a JSON object; beside the tool's own fields it
	// may hold cwd and timeout_seconds.
	Args json.RawMessage
	// Words are the arguments of a generic tool, verbatim, when Args is nil.
	Words   []string
	Cwd     string        // "" = that of the arguments, else the session's, else ours
	Timeout time.Duration // 0 = that of the arguments, else the configured one
	// Pass gives the tool our caller's descriptors below; otherwise the output
	// is captured. Stdin nil is the null file.
	Pass                  bool
	Stdin, Stdout, Stderr *os.File
}

// Running is a call in progress.
type Running struct {
	run  *engine.Running // nil when the call was refused
	done chan struct{}
	rec  *call.Record // written before done is closed
}

// Stop cancels the call: TERM, grace, KILL for the whole tree.
func (r *Running) Stop() { r.do((*engine.Running).Stop) }

// Kill cancels the call and ends the tree at once.
func (r *Running) Kill() { r.do((*engine.Running).Kill) }

// Suspend stops the tree; its time limit stands still.
func (r *Running) Suspend() { r.do((*engine.Running).Suspend) }

// Resume lets the tree go on.
func (r *Running) Resume() { r.do((*engine.Running).Resume) }

func (r *Running) do(f func(*engine.Running)) {
	if r.run != nil {
		f(r.run)
	}
}

// Wait blocks until the call has ended and its folder is gone.
func (r *Running) Wait() *call.Record {
	<-r.done
	return r.rec
}

// Start starts a call. It never fails: a refusal is a record. When ctx is done
// the call is stopped as by Stop.
func (s *Supervisor) Start(ctx context.Context, req Request) *Running {
	r := &Running{done: make(chan struct{})}
	s.tidy.Do(s.endLeftovers)
	p := &plan{s: s, req: req, id: session.NewCallID(), began: time.Now()}
	eng, err := s.engine()
	if err == nil {
		err = p.make()
	}
	if err != nil {
		r.rec = p.refusal(err)
		p.close()
		close(r.done)
		return r
	}
	r.run = eng.Start(p.spec)
	stop := context.AfterFunc(ctx, r.run.Stop)
	go func() {
		defer close(r.done)
		r.rec = r.run.Wait()
		stop()
		p.close()
	}()
	return r
}

// endLeftovers ends what calls left whose supervisor died, and clears away what
// is out of date. It is done before the first call of a process.
func (s *Supervisor) endLeftovers() {
	st, err := s.state()
	if err != nil {
		s.log.Warn("cannot look for leftovers of earlier calls", "cause", err)
		return
	}
	err = st.calls.Leftovers(func(l session.Leftover) error {
		var id engine.Identity
		if len(l.Identity) == 0 || json.Unmarshal(l.Identity, &id) != nil {
			return nil // it is written down before anything starts: nothing did
		}
		eng, err := s.engine()
		if err != nil {
			return err
		}
		s.log.Info("ending the leftovers of a call", "call", l.ID, "tool", l.Meta.Tool)
		return eng.End(id)
	})
	if err != nil {
		s.log.Warn("leftovers of earlier calls", "cause", err)
	}
	if n, err := st.calls.PruneSpill(); err != nil || n > 0 {
		s.log.Debug("old output was cleared away", "calls", n, "cause", err)
	}
	if eng, err := s.engine(); err == nil {
		eng.Tidy(time.Minute)
	}
}

// SelfTest runs the tool's selftest.sh through the engine, in a temporary
// folder, its output captured. A tool without one gives a refused record.
func (s *Supervisor) SelfTest(ctx context.Context, h *Handle) *call.Record {
	s.tidy.Do(s.endLeftovers)
	p := &plan{s: s, req: Request{Handle: h}, id: session.NewCallID(), began: time.Now()}
	defer p.close()
	eng, err := s.engine()
	if err == nil {
		err = p.makeSelfTest()
	}
	if err != nil {
		return p.refusal(err)
	}
	run := eng.Start(p.spec)
	defer context.AfterFunc(ctx, run.Stop)()
	return run.Wait()
}

// first is the first value that is set.
func first[T int64 | int | time.Duration](values ...T) T {
	for _, v := range values {
		if v != 0 {
			return v
		}
	}
	return 0
}

func survivors(c config.Survivors) engine.Survivors {
	if c == config.SurvivorsLeave {
		return engine.LeaveSurvivors
	}
	return engine.KillSurvivors
}
