package supervisor

import (
	"path/filepath"

	"snens/supervisor/pathdir"
)

// ensureLinks returns the folder that stands first in the PATH of calls, "" when
// none can be made. It looks at no tool when nothing has changed, and never
// probes one.
func (s *Supervisor) ensureLinks() string {
	st, err := s.state()
	if err != nil {
		s.log.Warn("no PATH folder", "cause", err)
		return ""
	}
	o := pathdir.Options{Base: filepath.Join(st.base.Dir, "path"), ToolsDirs: s.cfg.ToolsDir, SystemPath: s.path, Self: s.opt.Exe}
	stamp := pathdir.Take(o)
	if dir, ok := pathdir.Current(o, stamp); ok {
		return dir
	}
	dir, skipped, err := pathdir.Ensure(o, stamp, s.finder().Cheap())
	if err != nil {
		s.log.Warn("no PATH folder", "cause", err)
		return ""
	}
	for _, k := range skipped {
		s.log.Debug("no link, a system command has the name", "tool", k.Name, "command", k.Command)
	}
	return dir
}
