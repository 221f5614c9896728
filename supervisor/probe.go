package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"snens/session"
	"snens/supervisor/call"
	"snens/supervisor/discovery"
	"snens/supervisor/engine"
	"snens/supervisor/environ"
)

const (
	// probeLimit is how long a program may take to print its help.
	probeLimit = 5 * time.Second
	probeGrace = 200 * time.Millisecond
)

// prober asks programs for their --help through the call engine.
type prober struct{ s *Supervisor }

// probeEnv is the environment of a call, with every pager out of the way.
func (s *Supervisor) probeEnv() []string {
	env, err := environ.Build(environ.Spec{
		Caller: s.opt.Env,
		Set: map[string]string{
			"PAGER": "cat", "MANPAGER": "cat", "GIT_PAGER": "cat", "SYSTEMD_PAGER": "cat", "LESS": "-F",
			"COLUMNS": "200",
		},
	})
	if err != nil { // nested too deep: nothing may be started from here
		return nil
	}
	return env.Vars
}

// Probe runs path --help: an empty temporary folder is its working directory,
// HOME and TMPDIR, and the only place it may write to where the kernel can see
// to that. A program that takes --help for data can do no harm.
func (p prober) Probe(ctx context.Context, path, argv0 string) discovery.ProbeResult {
	// What goes wrong before the program is started is not the program's fault.
	fail := func(err error) discovery.ProbeResult { return discovery.ProbeResult{StartErr: err, Here: true} }
	eng, err := p.s.engine()
	if err != nil {
		return fail(err)
	}
	base := p.s.probing()
	if base == nil {
		return fail(fmt.Errorf("calls are nested too deep"))
	}
	spot, err := p.s.scratch.take(p.s)
	if err != nil {
		return fail(err)
	}
	defer p.s.scratch.giveBack(spot)
	id := session.NewCallID()
	env := slices.DeleteFunc(slices.Clone(base), func(v string) bool {
		return strings.HasPrefix(v, "HOME=") || strings.HasPrefix(v, "TMPDIR=")
	})
	env = append(env, "HOME="+spot.dir, "TMPDIR="+spot.dir, "SNENS_CALL_ID="+string(id))
	spec := engine.Spec{
		Tool: argv0, CallID: id, Path: path, Argv: []string{argv0, "--help"}, Env: env, Dir: spot.dir,
		Timeout: probeLimit, Grace: probeGrace, HeadTail: discovery.HelpCap, TailOff: true, Thread: spot.thread,
	}
	if spot.folder != nil {
		spec.Leftover = recordIn(spot.folder)
	}
	run := eng.Start(spec)
	stop := context.AfterFunc(ctx, run.Kill)
	defer stop()
	return probeResult(run.Wait())
}

func probeResult(r *call.Record) discovery.ProbeResult {
	res := discovery.ProbeResult{TimedOut: r.TimedOut}
	switch {
	case r.Class == call.ClassStart || r.Class == call.ClassRefused:
		res.StartErr = r.Cause
		if r.Cause == nil {
			res.StartErr = errors.New(r.Message)
		}
		return res
	case r.Signal != nil:
		res.Signal = *r.Signal
	case r.ExitCode != nil:
		res.ExitCode = *r.ExitCode
	}
	res.Stdout, res.Stderr = []byte(*r.Stdout), []byte(*r.Stderr)
	return res
}

// newFolder makes the folder of a call, nil when none can be made: a full disk
// keeps no call from running, it only leaves no trace for the case that this
// process is killed.
func (s *Supervisor) newFolder(id call.ID, meta session.Meta) *session.Folder {
	st, err := s.state()
	if err == nil {
		var f *session.Folder
		if f, err = st.calls.New(id, meta); err == nil {
			return f
		}
	}
	s.log.Warn("the call leaves no trace on disk", "call", id, "cause", err)
	return nil
}

func recordIn(f *session.Folder) func(engine.Identity) error {
	return func(i engine.Identity) error {
		b, err := json.Marshal(i)
		if err != nil {
			return err
		}
		return f.Record(b)
	}
}
