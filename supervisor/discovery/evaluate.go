package discovery

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"snens/supervisor/tool"
)

// pass is one look at the folders. What it remembers is true for its short life.
type pass struct {
	finder *Finder
	trust  *trust
	now    time.Time

	mu      sync.Mutex
	interps map[string]interpreter // by path; guarded by mu
	envs    map[string]string      // causes of programs env would run, by name; guarded by mu
}

// interpreter is what a shebang names.
type interpreter struct {
	id   fileID
	mode uint32
}

func (f *Finder) newPass() *pass {
	f.cache.refresh()
	return &pass{finder: f, trust: newTrust(), now: time.Now(), interps: map[string]interpreter{}, envs: map[string]string{}}
}

func (p *pass) interpreter(path string) interpreter {
	if path == "" {
		return interpreter{}
	}
	p.mu.Lock()
	it, ok := p.interps[path]
	p.mu.Unlock()
	if ok {
		return it
	}
	it.id, it.mode = idAt(path)
	p.mu.Lock()
	p.interps[path] = it
	p.mu.Unlock()
	return it
}

// outcome is the answer about one spot: a tool, or the cause why not.
type outcome struct {
	tool  *tool.Tool
	cause string
}

// resolved is the answer about one name.
type resolved struct {
	tool     *tool.Tool
	broken   []tool.Quarantined
	shadowed []tool.Shadowed
}

// settle sorts one answer in; true means that the name has its tool.
func (r *resolved) settle(spots []spot, i int, out outcome) bool {
	if out.tool == nil {
		r.broken = append(r.broken, spots[i].quarantined(out.cause))
		return false
	}
	r.tool = out.tool
	for _, hidden := range spots[i+1:] {
		r.shadowed = append(r.shadowed, tool.Shadowed{Name: out.tool.Name, Path: hidden.path(), By: out.tool.Path})
	}
	return true
}

// resolve finds the first healthy tool among the spots of one name. The error
// is that of ctx.
func (p *pass) resolve(ctx context.Context, spots []spot, mode Mode) (resolved, error) {
	var r resolved
	for i, s := range spots {
		out, err := p.evaluate(ctx, s, mode)
		if err != nil {
			return resolved{}, err
		}
		if r.settle(spots, i, out) {
			break
		}
	}
	return r, nil
}

// recall is resolve without reading anything anew; false means that this is
// not enough.
func (p *pass) recall(spots []spot) (resolved, bool) {
	var r resolved
	for i, s := range spots {
		out, ok := p.remembered(p.look(s))
		if !ok {
			return resolved{}, false
		}
		if r.settle(spots, i, out) {
			break
		}
	}
	return r, true
}

// evaluate answers about one spot.
func (p *pass) evaluate(ctx context.Context, s spot, mode Mode) (outcome, error) {
	l := p.look(s)
	if mode == Cached {
		if out, ok := p.remembered(l); ok {
			return out, nil
		}
	}
	if l.cause != "" {
		return outcome{cause: l.cause}, nil
	}
	e, keep, err := p.read(ctx, l)
	if err != nil {
		return outcome{}, err
	}
	if keep { // if it changed while we read it, the entry will not fit
		p.finder.cache.put(e)
	}
	return p.finish(l, e), nil
}

// remembered answers from the static look and the cache alone.
func (p *pass) remembered(l sight) (outcome, bool) {
	if l.cause != "" {
		return outcome{cause: l.cause}, true
	}
	e, ok := p.finder.cache.get(l.path())
	if !ok || !e.fits(l, p.interpreter(e.interp).id) || !e.fresh(p.now) || p.envUntrusted(e.env) != "" {
		return outcome{}, false
	}
	return p.finish(l, e), true
}

// cheap: worth a link in the PATH folder, as far as one can tell without
// running it.
func (p *pass) cheap(s spot) bool {
	l := p.look(s)
	if out, ok := p.remembered(l); ok {
		return out.cause == ""
	}
	_, cause := p.examine(l)
	return cause == ""
}

// finish makes the answer from what was read or remembered. What the config
// demands is applied here, since it may change without the tool.
func (p *pass) finish(l sight, e entry) outcome {
	if e.cause != "" {
		return outcome{cause: e.cause}
	}
	t := &tool.Tool{
		Name: tool.Name(l.name), Dir: l.folder(), Path: l.path(),
		Description: e.desc, SchemaNote: e.schemaNote,
	}
	if e.schema != "" {
		t.Schema = []byte(e.schema)
	}
	if cause := p.schemaDemand(t.Name, t.Schema != nil, t.SchemaNote); cause != "" {
		return outcome{cause: cause}
	}
	return outcome{tool: t}
}

func (p *pass) schemaDemand(name tool.Name, usable bool, note string) string {
	if usable || p.finder.opts.RequireSchema == nil || !p.finder.opts.RequireSchema(name) {
		return ""
	}
	if note == "" {
		note = reasonSchemaAbsent
	}
	return causeSchemaRequired + note
}

// read opens the tool and describes it: help.txt, then the head of a script,
// then --help. keep says whether the entry may be remembered. The error is
// that of ctx.
func (p *pass) read(ctx context.Context, l sight) (e entry, keep bool, err error) {
	e = newEntry(l, p.now)
	prog, cause := p.examine(l)
	if cause != "" {
		e.cause = cause
		return e, false, nil
	}
	e.interp, e.interpID, e.env = scriptInterpreter(prog), prog.interpID, prog.env
	schema, note, cause := p.schemaFile(l)
	if cause == "" {
		cause = p.schemaDemand(tool.Name(l.name), schema != nil, note)
	}
	if cause != "" {
		e.cause = cause
		return e, false, nil
	}
	e.schema, e.schemaNote = string(schema), note
	if desc, cause, ok := p.helpFile(l); ok {
		e.desc, e.cause = desc, cause
		return e, cause == "", nil
	}
	if desc, ok := DescribeComments(prog.head, tool.Name(l.name)); ok {
		desc.Source = tool.SourceComments
		e.desc = desc
		return e, true, nil
	}
	v, err := p.probe(ctx, l, prog)
	if err != nil {
		return entry{}, false, err
	}
	e.desc, e.cause = v.desc, v.cause
	return e, v.cause == "" || v.lasting, nil
}

func scriptInterpreter(prog program) string {
	if prog.script {
		return prog.interp
	}
	return ""
}

// probe runs --help through the prober when there is a slot.
func (p *pass) probe(ctx context.Context, l sight, prog program) (verdict, error) {
	var r ProbeResult
	err := p.finder.slots.run(ctx, func() {
		r = p.finder.opts.Prober.Probe(ctx, l.path(), l.name)
	})
	if err == nil {
		err = ctx.Err() // the probe was cut short: its result says nothing about the tool
	}
	if err != nil {
		return verdict{}, err
	}
	var other *fs.PathError
	if errors.As(r.StartErr, &other) && other.Path != l.path() {
		r.Here = true // the folder to probe in
	}
	v := judge(r, tool.Name(l.name))
	switch {
	case prog.doubt != "" && errors.Is(r.StartErr, unix.ENOEXEC):
		v.cause = prog.doubt
	case prog.unreadable && v.cause != "" && r.StartErr == nil && !r.TimedOut && r.Signal == "":
		v.cause = causeUnreadable(v.cause)
	}
	return v, nil
}
