package supervisor

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"snens/supervisor/environ"
	"snens/supervisor/pathdir"
)

// links is what calls get of the PATH folder.
type links struct {
	dir string   // stands first in PATH; "" when none can be made
	env []string // the caller's environment, its PATH without folders of links
}

const (
	// keepLinks is how long a PATH folder that no call uses any more is kept.
	keepLinks = 7 * 24 * time.Hour
	// mostLinks is how many are kept that nobody has used for two hours: each PATH
	// that calls begin with has its own.
	mostLinks = 32
	// touchLinks is how often its use is written down.
	touchLinks = time.Hour
)

// ensureLinks makes the folder that stands first in the PATH of calls. Each set
// of tools folders has one of its own, which another snens with other tools does
// not change under a running call. No tool is looked at when nothing has
// changed, and none is ever probed.
func (s *Supervisor) ensureLinks() links {
	st, err := s.state()
	if err != nil {
		s.log.Warn("no PATH folder", "cause", err)
		return links{env: s.opt.Env}
	}
	all := filepath.Join(st.base.Dir, "path")
	l := links{env: withoutLinks(s.opt.Env, all)}
	path, _ := environ.CleanPath(lookUp(l.env, "PATH"), "")
	o := pathdir.Options{ToolsDirs: s.cfg.ToolsDir, SystemPath: path, Self: s.opt.Exe}
	o.Base = filepath.Join(all, linksKey(o))
	stamp := pathdir.Take(o)
	if dir, ok := pathdir.Current(o, stamp); ok {
		l.dir = dir
		s.touch(o.Base)
		return l
	}
	dir, skipped, err := pathdir.Ensure(o, stamp, s.finder().Cheap())
	if err != nil {
		s.log.Warn("no PATH folder", "cause", err)
		return l
	}
	for _, k := range skipped {
		s.log.Debug("no link, a system command has the name", "tool", k.Name, "command", k.Command)
	}
	l.dir = dir
	s.touch(o.Base)
	s.pruneLinks(all)
	return l
}

// linksKey names the folder for one set of tools folders, system path and snens.
func linksKey(o pathdir.Options) string {
	h := sha256.New()
	for _, v := range append(slices.Clone(o.ToolsDirs), "", o.SystemPath, o.Self) {
		h.Write(append([]byte(v), 0))
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// withoutLinks takes the folders of links below all out of PATH: those of the
// call that snens itself was started in.
func withoutLinks(env []string, all string) []string {
	path := lookUp(env, "PATH")
	if !strings.Contains(path, all+"/") {
		return env
	}
	dirs := slices.DeleteFunc(strings.Split(path, ":"), func(d string) bool { return strings.HasPrefix(d, all+"/") })
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, "PATH=") })
	return append(env, "PATH="+strings.Join(dirs, ":"))
}

// touch writes down, now and then, that a folder is in use.
func (s *Supervisor) touch(dir string) {
	if st, err := os.Stat(dir); err == nil && time.Since(st.ModTime()) > touchLinks {
		now := time.Now()
		_ = os.Chtimes(dir, now, now) // a read-only home: pruned early, built anew
	}
}

// pruneLinks removes PATH folders that nobody has used for long.
func (s *Supervisor) pruneLinks(all string) {
	entries, _ := os.ReadDir(all)
	ages := map[string]time.Duration{}
	for _, e := range entries {
		if st, err := e.Info(); err == nil {
			ages[e.Name()] = time.Since(st.ModTime())
		}
	}
	youngest := slices.SortedFunc(maps.Keys(ages), func(a, b string) int { return cmp.Compare(ages[a], ages[b]) })
	for n, name := range youngest {
		if ages[name] < keepLinks && (n < mostLinks || ages[name] < 2*touchLinks) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(all, name)); err != nil {
			s.log.Debug("an old PATH folder stays", "cause", err)
		}
	}
}
