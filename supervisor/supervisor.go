package supervisor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"

	"snens/session"
	"snens/supervisor/config"
	"snens/supervisor/discovery"
	"snens/supervisor/engine"
	"snens/supervisor/tool"
	"snens/supervisor/xsnens"
)

// Options is what a Supervisor is made of.
type Options struct {
	Config    *config.Config
	Version   string
	Log       hclog.Logger // nil = silent
	Env       []string     // the caller's environment, NAME=value
	SessionID string       // "" = no session
	Exe       string       // the running snens, absolute: linked into the PATH folder
	// ToolsDirGiven says that Config.ToolsDir was chosen on the command line: a
	// snens that a tool starts is told of it.
	ToolsDirGiven bool
	// Progress is told how discovery of uncached tools goes; nil = nobody listens.
	Progress func(done, total int)
	// NoCgroup forces the fallback of supervision.
	NoCgroup bool
}

// Supervisor finds and calls tools. It may be used by several goroutines.
type Supervisor struct {
	opt     Options
	cfg     *config.Config
	log     hclog.Logger
	session *session.Session // nil = none

	engine func() (*engine.Engine, error)
	state  func() (*state, error)
	finder func() *discovery.Finder
	links  func() links
	tidy   sync.Once

	probing func() []string // the environment of probes
	scratch scratch
}

// state is where the supervisor keeps what outlives it.
type state struct {
	base  session.Base
	calls *session.Calls
}

// New makes a Supervisor. The error is about the session alone: an id that is
// none, or a session that is not there.
func New(o Options) (*Supervisor, error) {
	s := &Supervisor{opt: o, cfg: o.Config, log: o.Log}
	if s.log == nil {
		s.log = hclog.NewNullLogger()
	}
	s.engine = sync.OnceValues(func() (*engine.Engine, error) {
		return engine.New(engine.Options{NoCgroup: o.NoCgroup})
	})
	s.state = sync.OnceValues(s.openState)
	s.finder = sync.OnceValue(s.makeFinder)
	s.probing = sync.OnceValue(s.probeEnv)
	s.links = sync.OnceValue(s.ensureLinks)
	if o.SessionID != "" {
		if err := s.openSession(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Supervisor) getenv(name string) string { return lookUp(s.opt.Env, name) }

// lookUp is the value of a variable; the first of a repeated one counts.
func lookUp(env []string, name string) string {
	for _, v := range env {
		if k, value, ok := strings.Cut(v, "="); ok && k == name {
			return value
		}
	}
	return ""
}

func (s *Supervisor) openState() (*state, error) {
	base, err := session.StateBase(s.getenv, os.Geteuid())
	if err != nil {
		return nil, err
	}
	calls, err := session.OpenCalls(filepath.Join(base.Dir, "calls"))
	if err != nil {
		return nil, err
	}
	return &state{base: base, calls: calls}, nil
}

// sessionsDir is the folder of sessions.
func (s *Supervisor) sessionsDir() (string, error) {
	if s.cfg.SessionsDir != "" {
		return s.cfg.SessionsDir, nil
	}
	st, err := s.state()
	if err != nil {
		return "", err
	}
	return filepath.Join(st.base.Dir, "sessions"), nil
}

func (s *Supervisor) openSession() error {
	id, err := session.ParseID(s.opt.SessionID)
	if err != nil {
		return fmt.Errorf("cannot use session %q: %w", s.opt.SessionID, err)
	}
	dir, err := s.sessionsDir()
	if err != nil {
		return err
	}
	s.session, err = session.Open(dir, id)
	return err
}

// cacheDir is the folder of the discovery cache, "" for none.
func (s *Supervisor) cacheDir() string {
	if d := s.getenv("XDG_CACHE_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "snens")
	}
	if home := s.getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".cache", "snens")
	}
	return ""
}

func (s *Supervisor) makeFinder() *discovery.Finder {
	return discovery.New(discovery.Options{
		Dirs:          s.cfg.ToolsDir,
		CacheDir:      s.cacheDir(),
		Version:       s.opt.Version,
		Env:           s.probing(),
		Prober:        prober{s},
		RequireSchema: func(n tool.Name) bool { return s.cfg.Tool(n).RequireSchema },
		CheckSchema: func(b []byte) error {
			_, err := xsnens.Load(b)
			return err
		},
		Progress: s.opt.Progress,
	})
}

// Tools lists every tool. With refresh each is asked anew.
func (s *Supervisor) Tools(ctx context.Context, refresh bool) (discovery.Listing, error) {
	mode := discovery.Cached
	if refresh {
		mode = discovery.Refresh
	}
	defer s.scratch.clear()
	return s.finder().All(ctx, mode)
}

// Cached lists the tools whose description is remembered, without running or
// reading any: for completions.
func (s *Supervisor) Cached() []tool.Tool { return s.finder().Known() }
