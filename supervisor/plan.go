package supervisor

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/safefile"
	"snens/internal/strictjson"
	"snens/session"
	"snens/supervisor/call"
	"snens/supervisor/engine"
	"snens/supervisor/environ"
	"snens/supervisor/xsnens"
)

// plan turns a request into a spec of the engine.
type plan struct {
	s     *Supervisor
	req   Request
	id    call.ID
	began time.Time

	cwd     string        // from the arguments
	timeout time.Duration // from the arguments
	args    []byte        // the arguments without cwd and timeout_seconds
	folder  *session.Folder
	tmp     string // removed by close
	spec    engine.Spec
}

// refused is an error with a hint, for the record of a call that is not started.
type refused struct{ words, hint string }

func (r *refused) Error() string { return r.words }

// refusal is the record of a call that was not started.
func (p *plan) refusal(err error) *call.Record {
	r := &call.Record{
		Tool: string(p.req.Handle.Name), CallID: p.id, Class: call.ClassRefused,
		Survivors: []call.Survivor{}, Attachments: []call.Attachment{},
		Capture: !p.req.Pass, Cwd: p.spec.Dir, StartedAt: p.began,
		DurationMS: time.Since(p.began).Milliseconds(), Message: err.Error(),
	}
	var why *refused
	if errors.As(err, &why) {
		r.Hint = why.hint
	}
	r.Content = r.Message
	if r.Hint != "" {
		r.Content += "\nhint: " + r.Hint
	}
	return r
}

func (p *plan) close() {
	if p.tmp != "" {
		_ = os.RemoveAll(p.tmp)
	}
	if p.folder != nil {
		if err := p.folder.Close(); err != nil {
			p.s.log.Warn("cannot remove the folder of a call", "call", p.id, "cause", err)
		}
	}
}

// make fills in the spec.
func (p *plan) make() error {
	h := p.req.Handle
	if p.req.Pass && h.Interface != nil && h.Interface.HasSecrets() {
		return &refused{
			words: fmt.Sprintf("%s has secret fields, which can only be redacted when its output is captured", h.Name),
			hint:  "call it with --json",
		}
	}
	if err := p.cutCommon(); err != nil {
		return err
	}
	if err := p.chooseDir(); err != nil {
		return err
	}
	env, err := p.environment(nil)
	if err != nil {
		return err
	}
	inv, err := p.invoke(env)
	if err != nil {
		return err
	}
	if len(inv.Env) > 0 {
		if env, err = p.environment(inv.Env); err != nil {
			return err
		}
	}
	p.fill(env.Vars, append(env.Secrets, inv.Secrets...))
	return p.arguments(inv)
}

// cutCommon takes cwd and timeout_seconds, which every call accepts, out of the
// arguments, unless the tool has a field of that name.
func (p *plan) cutCommon() error {
	if p.req.Args == nil {
		return nil
	}
	p.args = p.req.Args
	v, err := strictjson.Parse(p.req.Args, beyondAnyLimit)
	if err != nil || v.Kind != strictjson.Object {
		return nil // the interface says what is wrong, and keeps secrets to itself
	}
	iface := p.req.Handle.Interface
	kept := make([]strictjson.Member, 0, len(v.Members))
	for _, m := range v.Members {
		switch own := iface != nil && iface.HasField(m.Name); {
		case m.Name == "cwd" && !own:
			if m.Value.Kind != strictjson.String || m.Value.Text == "" {
				return &refused{"cwd: must be a non-empty string", "give the path of a folder"}
			}
			p.cwd = m.Value.Text
		case m.Name == "timeout_seconds" && !own:
			if p.timeout, err = parseSeconds(m.Value); err != nil {
				return err
			}
		default:
			kept = append(kept, m)
		}
	}
	if len(kept) < len(v.Members) {
		v.Members = kept
		p.args = v.JSON()
	}
	return nil
}

// beyondAnyLimit reads whatever the interface may read: its limits count.
var beyondAnyLimit = strictjson.Options{MaxBytes: math.MaxInt, MaxTokens: math.MaxInt}

// maxTimeout bounds a time limit: a hundred years do not overflow anything.
const maxTimeout = 100 * 365 * 24 * time.Hour

func parseSeconds(v strictjson.Value) (time.Duration, error) {
	bad := &refused{"timeout_seconds: must be a number of seconds above zero", "leave it out for the default"}
	if v.Kind != strictjson.Number {
		return 0, bad
	}
	plain, _, err := strictjson.PlainNumber(v.Text, 40)
	if err != nil {
		return 0, bad
	}
	d, err := time.ParseDuration(plain + "s")
	if err != nil && !strings.HasPrefix(plain, "-") {
		d = maxTimeout // more than a duration holds
	}
	if d <= 0 {
		return 0, bad
	}
	return min(d, maxTimeout), nil
}

// chooseDir finds the working directory: what was asked for, from the session's
// directory on, or from ours.
func (p *plan) chooseDir() error {
	base := ""
	if p.s.session != nil {
		base = p.s.session.Cwd
	}
	ask := p.req.Cwd
	if ask == "" {
		ask = p.cwd
	}
	if strings.ContainsRune(ask, 0) {
		return &refused{"cwd: must not hold a NUL byte", "give the path of a folder"}
	}
	if base == "" && !filepath.IsAbs(ask) {
		var err error
		if base, err = os.Getwd(); err != nil {
			return &refused{"the current working directory no longer exists", "change to another folder, or give --cwd with an absolute path"}
		}
	}
	p.spec.Dir = ask
	if !filepath.IsAbs(ask) {
		p.spec.Dir = filepath.Join(base, ask)
	}
	return nil
}

func (p *plan) environment(vars []xsnens.EnvVar) (*environ.Env, error) {
	s, h := p.s, p.req.Handle
	own := s.cfg.Tool(h.Name)
	spec := environ.Spec{
		Caller: s.links().env, Allow: s.cfg.EnvAllow, Links: s.links().dir,
		Context: environ.Context{Config: s.cfg.Path, Cwd: p.spec.Dir, CallID: p.id},
		Pass:    own.EnvPass, Set: own.Env, Call: map[string]string{},
	}
	if dirs := strings.Join(s.cfg.ToolsDir, ":"); s.opt.ToolsDirGiven && strings.Count(dirs, ":") == len(s.cfg.ToolsDir)-1 {
		spec.ToolsDir = dirs // a folder with a colon in its name cannot be handed on
	}
	if s.session != nil {
		spec.Session, spec.SessionsDir = string(s.session.ID), filepath.Dir(s.session.Dir)
		spec.Parent = string(s.session.Parent)
	}
	spec.Priv, spec.ApprovalSock = s.brokerSockets()
	for _, v := range vars {
		spec.Call[v.Name] = v.Value
	}
	env, err := environ.Build(spec)
	if err != nil {
		return nil, err
	}
	for _, n := range env.Notes {
		s.log.Debug("environment", "note", n)
	}
	return env, nil
}

// invoke turns the arguments into what the tool gets.
func (p *plan) invoke(env *environ.Env) (*xsnens.Invocation, error) {
	h := p.req.Handle
	if p.req.Args == nil && h.Interface == nil {
		if h.NeedsStdin && p.req.Stdin == nil {
			return nil, &refused{
				words: "stdin: is required, the description of the tool says so",
				hint:  "leave out --json and -n and pipe it in, or give it in JSON: --args '{\"args\": [...], \"stdin\": \"...\"}'",
			}
		}
		inv := &xsnens.Invocation{}
		for _, w := range p.req.Words {
			inv.Args = append(inv.Args, xsnens.Arg{Text: w})
		}
		return inv, nil
	}
	args := p.args
	if args == nil {
		args = []byte("{}")
	}
	room := xsnens.Room(stackLimit(), h.Path, string(h.Name), env.Vars)
	if h.Interface == nil {
		return xsnens.GenericWithin(args, h.NeedsStdin, room)
	}
	return h.Interface.BuildWithin(args, room)
}

func stackLimit() uint64 {
	var r unix.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_STACK, (*syscall.Rlimit)(&r)) != nil {
		return 8 << 20
	}
	return r.Cur
}

// fill sets what does not come from the arguments.
func (p *plan) fill(env []string, secrets [][]byte) {
	s, h := p.s, p.req.Handle
	conf := s.cfg.Tool(h.Name).Limits
	wish := xsnens.Limits{}
	output := xsnens.OutputText
	if h.Interface != nil {
		wish, output = h.Interface.Limits(), h.Interface.Output()
		p.spec.Classify = h.Interface.Exit
	}
	sp := &p.spec
	sp.Tool, sp.CallID, sp.Path, sp.Argv, sp.Env = string(h.Name), p.id, h.Path, []string{string(h.Name)}, env
	sp.Stdin, sp.Stdout, sp.Stderr = p.req.Stdin, p.req.Stdout, p.req.Stderr
	sp.Secrets, sp.Survivors = secrets, survivors(s.cfg.Survivors)
	sp.Timeout = first(p.req.Timeout, p.timeout, conf.Timeout, wish.Timeout, s.cfg.Timeout)
	sp.Grace = first(wish.Grace, s.cfg.Grace)
	if conf.Grace != nil {
		sp.Grace = *conf.Grace
	}
	sp.HeadTail = int(first(conf.Output, wish.Output, s.cfg.Output))
	sp.SpillMax = s.cfg.SpillMax
	sp.Limits = engine.Limits{
		Memory: first(conf.Memory, wish.Memory), PIDs: first(conf.PIDs, wish.PIDs),
		CPU: conf.CPU, OpenFiles: conf.OpenFiles,
	}
	sp.JSONOutput, sp.Binary = output == xsnens.OutputJSON, output == xsnens.OutputBinary
	if p.req.Pass {
		sp.Mode = engine.Pass
	} else if dir, err := p.spillDir(); err != nil {
		s.log.Warn("output cannot be kept in full", "cause", err)
	} else {
		sp.SpillDir = dir
	}
	if p.openFolder(); p.folder != nil {
		sp.Leftover = recordIn(p.folder)
	}
}

// openFolder makes the folder of the call, once.
func (p *plan) openFolder() {
	if p.folder != nil {
		return
	}
	meta := session.Meta{Tool: string(p.req.Handle.Name), Cwd: p.spec.Dir}
	if p.s.session != nil {
		meta.Session = p.s.session.ID
	}
	p.folder = p.s.newFolder(p.id, meta)
}

// spillDir is where output goes that does not fit. The engine makes it when
// there is some.
func (p *plan) spillDir() (string, error) {
	if p.s.session != nil {
		return filepath.Join(p.s.session.Dir, "spill", string(p.id)), nil
	}
	st, err := p.s.state()
	if err != nil {
		return "", err
	}
	return filepath.Join(st.base.Dir, "spill", string(p.id)), nil
}

// arguments sets argv and stdin; values passed as files are written.
func (p *plan) arguments(inv *xsnens.Invocation) error {
	for _, a := range inv.Args {
		if a.File == nil {
			p.spec.Argv = append(p.spec.Argv, a.Text)
			continue
		}
		if p.folder == nil {
			return &refused{
				words: fmt.Sprintf("%s: is passed as a file, and there is no folder to write it to", a.Field),
				hint:  "snens doctor says what is wrong with the folder for state",
			}
		}
		path, err := p.folder.TempFile(a.Field, a.File.Content)
		if err != nil {
			return err
		}
		p.spec.Argv = append(p.spec.Argv, a.Text+path)
	}
	if inv.HasStdin {
		p.spec.Stdin, p.spec.StdinBytes = nil, inv.Stdin
		if p.spec.StdinBytes == nil {
			p.spec.StdinBytes = []byte{}
		}
	}
	return nil
}

// makeSelfTest fills in the spec of the tool's own test.
func (p *plan) makeSelfTest() error {
	h := p.req.Handle
	script := filepath.Join(h.Dir, "selftest.sh")
	st, err := os.Stat(script)
	if err != nil || !st.Mode().IsRegular() {
		return &refused{fmt.Sprintf("%s has no selftest.sh", h.Name), "put one beside the program: it ends with 0 when all is well"}
	}
	if uid := os.Geteuid(); uid == 0 {
		if err := safefile.CheckTrusted(script, uid); err != nil {
			return fmt.Errorf("root does not run this test: %w", err)
		}
	}
	p.openFolder()
	if p.spec.Dir, err = ownFolder(p.folder, "selftest"); err != nil {
		return fmt.Errorf("cannot make a folder to test in: %w", err)
	}
	p.tmp = p.spec.Dir
	env, err := p.environment(nil)
	if err != nil {
		return err
	}
	p.fill(env.Vars, env.Secrets)
	sp := &p.spec
	sp.Classify, sp.JSONOutput, sp.Binary = nil, false, false
	sp.Path, sp.Argv = script, []string{script}
	if st.Mode()&0o111 == 0 {
		sp.Path, sp.Argv = "/bin/sh", []string{"sh", script}
	}
	return nil
}
