package environ

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"snens/supervisor/config"
)

// Spec is what the environment of a call is made of.
type Spec struct {
	Caller []string // NAME=value, as os.Environ gives it; of a repeated name the first counts
	Allow  []string // env_allow: names, and prefixes as "AWS_*"
	Links  string   // folder of links to tools, first in PATH; "" = none
	Context

	Pass []string          // [tool.NAME] env_pass: names taken from Caller
	Set  map[string]string // [tool.NAME] env
	Call map[string]string // from the tool's x-snens "env" and its arguments
}

// Env is the environment of one call.
type Env struct {
	Vars []string // NAME=value, sorted by name, each name once
	// Secrets are the granted values (Pass and Set) of at least MinSecret bytes,
	// longest first, each once: to be redacted from whatever the call puts out.
	Secrets [][]byte
	Depth   int      // SNENS_DEPTH of the call, from 1
	Notes   []string // what was left out of the caller's environment, fit for -v
}

// MinSecret is the shortest value that is redacted, in bytes.
const MinSecret = 4

// Build makes the environment of a call. It fails when a name or value of Allow,
// Pass, Set, Call or Context cannot be, or when calls are nested too deep; what
// the caller's environment holds by itself is never a failure.
func Build(s Spec) (*Env, error) {
	b := builder{caller: lookup(s.Caller), vars: map[string]string{}, env: &Env{}}
	var err error
	if b.env.Depth, err = depth(b.caller[depthName]); err != nil {
		return nil, err
	}
	if err := b.inherit(s.Allow); err != nil {
		return nil, err
	}
	b.vars["TERM"] = "dumb"
	if err := b.grant(s.Pass, s.Set); err != nil {
		return nil, err
	}
	if err := b.add("x-snens env", s.Call, CheckToolName); err != nil {
		return nil, err
	}
	if err := b.path(s.Links); err != nil {
		return nil, err
	}
	if err := b.context(s.Context); err != nil {
		return nil, err
	}
	for _, name := range sortedNames(b.vars) {
		b.env.Vars = append(b.env.Vars, name+"="+b.vars[name])
	}
	return b.env, nil
}

type builder struct {
	caller map[string]string
	vars   map[string]string
	env    *Env
}

// lookup makes a map of an environment. The first of a repeated name counts, as
// it does for getenv(3). Entries without a name are dropped.
func lookup(environ []string) map[string]string {
	m := make(map[string]string, len(environ))
	for _, entry := range environ {
		name, value, ok := strings.Cut(entry, "=")
		if _, seen := m[name]; ok && name != "" && !seen {
			m[name] = value
		}
	}
	return m
}

// inherit takes the caller's variables that the allow-list names.
func (b *builder) inherit(extra []string) error {
	for _, pattern := range extra {
		if err := config.CheckPattern(pattern); err != nil {
			return fmt.Errorf("cannot build the environment: env_allow: %w", err)
		}
	}
	for _, name := range sortedNames(b.caller) {
		wanted := slices.Contains(allowed, name) ||
			slices.ContainsFunc(extra, func(p string) bool { return matches(p, name) })
		if wanted && CheckName(name) == nil {
			b.take(name)
		}
	}
	return nil
}

// take copies one variable of the caller, if its value can be.
func (b *builder) take(name string) {
	value := b.caller[name]
	switch {
	case strings.IndexByte(value, 0) >= 0:
		b.note("%s: dropped, its value holds a NUL byte", name)
	case strings.HasPrefix(value, "() {"):
		// An old bash would run it as the definition of a function.
		b.note("%s: dropped, its value reads as a shell function", name)
	case slices.Contains(folders, name) && !filepath.IsAbs(value):
		b.note("%s: dropped, %q is not an absolute path", name, value)
	default:
		b.vars[name] = value
	}
}

// grant adds what the configuration grants to one tool.
func (b *builder) grant(pass []string, set map[string]string) error {
	for _, name := range pass {
		if err := CheckName(name); err != nil {
			return fmt.Errorf("cannot build the environment: env_pass: %w", err)
		}
		value, there := b.caller[name]
		if !there {
			b.note("%s: named in env_pass but not set", name)
			continue
		}
		delete(b.vars, name) // inherited a moment ago, maybe under other rules
		b.take(name)
		if _, taken := b.vars[name]; taken {
			b.secret(name, value)
		}
	}
	if err := b.add("env", set, CheckName); err != nil {
		return err
	}
	for _, name := range sortedNames(set) {
		b.secret(name, set[name])
	}
	slices.SortStableFunc(b.env.Secrets, func(x, y []byte) int { return len(y) - len(x) })
	return nil
}

// add sets variables after checking each.
func (b *builder) add(from string, vars map[string]string, check func(string) error) error {
	for _, name := range sortedNames(vars) {
		if err := check(name); err != nil {
			return fmt.Errorf("cannot build the environment: %s: %w", from, err)
		}
		if strings.IndexByte(vars[name], 0) >= 0 {
			return fmt.Errorf("cannot build the environment: %s: the value of %s holds a NUL byte", from, name)
		}
		b.vars[name] = vars[name]
	}
	return nil
}

// path cleans PATH, the caller's or a granted one, and puts the links first.
func (b *builder) path(links string) error {
	value, granted := b.vars["PATH"]
	if !granted {
		value = b.caller["PATH"]
	}
	if strings.IndexByte(value, 0) >= 0 {
		value = ""
	}
	clean, notes := CleanPath(value, links)
	b.env.Notes = append(b.env.Notes, notes...)
	if links != "" {
		if !filepath.IsAbs(links) || strings.ContainsAny(links, ":\x00") {
			return fmt.Errorf("cannot build the environment: the folder of links %q must be absolute and without a colon", links)
		}
		clean = links + ":" + clean
	}
	b.vars["PATH"] = clean
	return nil
}

func (b *builder) context(c Context) error {
	for name, value := range c.variables() {
		if strings.IndexByte(value, 0) >= 0 {
			return fmt.Errorf("cannot build the environment: the value of %s holds a NUL byte", name)
		}
		if value != "" {
			b.vars[name] = value
		}
	}
	b.vars[depthName] = strconv.Itoa(b.env.Depth)
	return nil
}

func (b *builder) secret(name, value string) {
	if name == "PATH" || name == "TERM" || slices.Contains(allowed, name) {
		return
	}
	known := slices.ContainsFunc(b.env.Secrets, func(s []byte) bool { return string(s) == value })
	if len(value) >= MinSecret && !known {
		b.env.Secrets = append(b.env.Secrets, []byte(value))
	}
}

func (b *builder) note(format string, args ...any) {
	b.env.Notes = append(b.env.Notes, fmt.Sprintf(format, args...))
}

func sortedNames(m map[string]string) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
