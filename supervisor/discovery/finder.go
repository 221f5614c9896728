package discovery

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"snens/supervisor/tool"
)

// Options say where to look and with what.
type Options struct {
	// Dirs are the tools folders, absolute, the first wins. A missing one is no error.
	Dirs []string
	// CacheDir is the folder of the cache, made 0700 when missing; "" means no
	// cache. Of what it lies in one folder is made, as ~/.cache is; when more is
	// missing, there is no cache.
	CacheDir string
	// Version is the version of SNENS: another version reads every tool anew.
	Version string
	// Env is the environment of a call ("NAME=value"). Read from it: LANG and LC_*,
	// on which descriptions depend, and PATH, for "#!/usr/bin/env NAME".
	Env []string
	// Prober runs --help. It is required unless only Cheap and Known are used.
	Prober Prober
	// Parallel is how many probes compute at once; 0 means one per core.
	Parallel int
	// RequireSchema says which tools are refused without a usable schema.json;
	// nil means none.
	RequireSchema func(tool.Name) bool
	// CheckSchema judges the content of a schema.json; nil accepts any.
	CheckSchema func([]byte) error
	// Progress is told how many of the tools that have to be read anew are done.
	// It is called by the goroutine that called All. nil means nobody listens.
	Progress func(done, total int)
}

// Prober runs `path --help` and returns what came of it: for at most 5 s, with
// at least the first HelpCap bytes of each stream, on an empty stdin, without
// a terminal. It returns soon after ctx is done.
type Prober interface {
	Probe(ctx context.Context, path, argv0 string) ProbeResult
}

// ProbeResult is the outcome of one probe. Exactly one of StartErr, TimedOut,
// Signal and ExitCode tells how it ended, in this order.
type ProbeResult struct {
	Stdout, Stderr []byte
	ExitCode       int
	Signal         string // "SIGSEGV"; "" when it exited
	TimedOut       bool
	StartErr       error // the program could not be started; wraps the errno where there is one
	// Here: StartErr is about this machine and this moment, and says nothing of
	// the program. An errno that means so (EMFILE, ENOMEM, ENOSPC ...) needs no
	// Here, nor does a *fs.PathError about another path than the program's.
	Here bool
}

// Mode says whether remembered descriptions serve.
type Mode int

// The modes.
const (
	Cached  Mode = iota // what is unchanged is not read again
	Refresh             // everything is read again
)

// Finder finds tools. It is safe for use by several goroutines.
type Finder struct {
	opts  Options
	cache *store
	slots *slots
	path  []string // folders of PATH, for env shebangs
	// binfmt: the kernel was told to run further formats, so that an unknown
	// header does not prove a program broken.
	binfmt func() bool
}

// New returns a Finder. It does no I/O.
func New(opts Options) *Finder {
	var dirs []string
	for _, d := range opts.Dirs {
		if abs, err := filepath.Abs(d); err == nil {
			d = abs
		}
		if !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	opts.Dirs = dirs
	if opts.Parallel <= 0 {
		opts.Parallel = runtime.GOMAXPROCS(0)
	}
	return &Finder{
		opts:   opts,
		cache:  newStore(opts.CacheDir, scopeOf(opts.Version, opts.Env)),
		slots:  newSlots(opts.Parallel),
		path:   searchPath(opts.Env),
		binfmt: binfmtInUse,
	}
}

// searchPath returns the absolute folders of the last PATH in env.
func searchPath(env []string) []string {
	var dirs []string
	for _, kv := range env {
		value, ok := strings.CutPrefix(kv, "PATH=")
		if !ok {
			continue
		}
		dirs = dirs[:0]
		for d := range strings.SplitSeq(value, ":") {
			if filepath.IsAbs(d) {
				dirs = append(dirs, d)
			}
		}
	}
	return dirs
}

// Found is one tool that was looked for: healthy or quarantined, one of the
// two is set.
type Found struct {
	Tool        *tool.Tool
	Quarantined *tool.Quarantined
	// Passed are broken tools of that name in earlier folders, when Tool is set.
	Passed []tool.Quarantined
}

// One looks at the tool of that name alone. The error is a *NotFoundError when
// there is none, else that of ctx.
func (f *Finder) One(ctx context.Context, name string) (Found, error) {
	return f.one(ctx, name, Cached)
}

// Fresh is One without the cache: the tool is read again, and the answer kept.
func (f *Finder) Fresh(ctx context.Context, name string) (Found, error) {
	return f.one(ctx, name, Refresh)
}

func (f *Finder) one(ctx context.Context, name string, mode Mode) (Found, error) {
	p := f.newPass()
	spots := p.spots(name)
	if len(spots) == 0 {
		return Found{}, f.notFound(name)
	}
	got, err := p.resolve(ctx, spots, mode)
	p.finder.cache.save(nil)
	switch {
	case err != nil:
		return Found{}, err
	case got.tool != nil:
		return Found{Tool: got.tool, Passed: got.broken}, nil
	}
	return Found{Quarantined: &got.broken[0]}, nil
}

// Cheap lists where tools lie without running anything: every tool that passes
// the static checks and is not known to be broken, sorted by name.
func (f *Finder) Cheap() []tool.Ref {
	p := f.newPass()
	var refs []tool.Ref
	for _, group := range p.scan().groups {
		for _, s := range group {
			if p.cheap(s) {
				refs = append(refs, tool.Ref{Name: tool.Name(s.name), Path: s.path()})
				break
			}
		}
	}
	return refs
}

// Known lists the tools whose description is remembered and still true, sorted
// by name. It runs nothing and reads no tool: made for completions.
func (f *Finder) Known() []tool.Tool {
	p := f.newPass()
	var tools []tool.Tool
	for _, group := range p.scan().groups {
		for _, s := range group {
			look := p.look(s)
			if out, ok := p.remembered(look); ok && out.cause == "" {
				tools = append(tools, *out.tool)
				break
			}
		}
	}
	return tools
}
