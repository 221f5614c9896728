package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"snens/internal/cgroup"
	"snens/internal/confine"
	"snens/internal/rlimit"
	"snens/internal/safefile"
)

// Finding is one thing the doctor looked at.
type Finding struct {
	Name     string
	OK       bool
	Required bool // the configuration cannot be honoured without it
	Text     string
}

// Doctor tries what supervision relies on.
func (s *Supervisor) Doctor(context.Context) []Finding {
	found := []Finding{s.doctorConfig(), s.doctorTree(), s.doctorLimits(), s.doctorProbe(), s.doctorState()}
	found = append(found, s.doctorFolders()...)
	return found
}

func (s *Supervisor) doctorConfig() Finding {
	f := Finding{Name: "configuration", OK: true, Text: s.cfg.Path}
	if s.cfg.Path == "" {
		f.Text = "no file, defaults"
	}
	for _, n := range s.cfg.Notes {
		f.Text += "; " + n
	}
	return f
}

func (s *Supervisor) doctorTree() Finding {
	f := Finding{Name: "process trees"}
	eng, err := s.engine()
	if err != nil {
		f.Required, f.Text = true, err.Error()
		return f
	}
	f.Text, f.OK = eng.Supervision()
	return f
}

// doctorLimits says whether the limits that the configuration asks for can be
// held. Those of schema.json are the tool's own affair: a call is refused.
func (s *Supervisor) doctorLimits() Finding {
	f := Finding{Name: "limits", OK: true}
	var can cgroup.Limited
	if t, err := cgroup.Detect(); err == nil {
		can = t.Can()
	}
	pids := can.PIDs || os.Geteuid() != 0
	var words, missing []string
	words = append(words, how("memory", can.Memory, "of the tree", "of each process"))
	if pids {
		words = append(words, how("pids", can.PIDs, "of the tree", "of the user"))
	} else {
		words = append(words, "pids cannot be limited ("+rlimit.ErrProcesses.Error()+")")
	}
	for name, t := range s.cfg.Tools {
		if t.Limits.PIDs > 0 && !pids {
			missing = append(missing, string(name))
		}
	}
	slices.Sort(missing)
	f.Text = strings.Join(words, ", ")
	if len(missing) > 0 {
		f.OK, f.Required = false, true
		f.Text += "; wanted by " + strings.Join(missing, ", ")
	}
	return f
}

func how(what string, group bool, inGroup, alone string) string {
	if group {
		return what + " " + inGroup
	}
	return what + " " + alone
}

func (s *Supervisor) doctorProbe() Finding {
	f := Finding{Name: "restriction of probes"}
	sup := confine.Supported()
	f.Text = sup.String()
	if !sup.OK() {
		return f
	}
	if err := confine.Prove(); err != nil {
		f.Text += "; " + err.Error()
		return f
	}
	f.OK = true
	f.Text += "; proven by forbidden writes and connections"
	return f
}

func (s *Supervisor) doctorState() Finding {
	st, err := s.state()
	if err != nil {
		return Finding{Name: "state", Required: true, Text: err.Error()}
	}
	return Finding{Name: "state", OK: true, Text: st.base.Dir + " (" + st.base.Reason + ")"}
}

// doctorCache tries to write where descriptions are remembered.
func (s *Supervisor) doctorCache() Finding {
	f := Finding{Name: "cache", Text: s.cacheDir()}
	if f.Text == "" {
		f.Text = "none: neither XDG_CACHE_HOME nor HOME is set"
		return f
	}
	err := safefile.CheckNearest(f.Text, os.Geteuid())
	if err == nil {
		err = safefile.EnsurePrivateDir(f.Text)
	}
	if err == nil {
		var try *os.File
		if try, err = os.CreateTemp(f.Text, ".doctor-"); err == nil {
			err = errors.Join(try.Close(), os.Remove(try.Name()))
		}
	}
	if err != nil {
		f.Text = "none: " + err.Error()
		return f
	}
	f.OK = true
	return f
}

func (s *Supervisor) doctorFolders() []Finding {
	cache := s.doctorCache()
	links := Finding{Name: "PATH folder", OK: true, Text: s.links().dir}
	if links.Text == "" {
		links.OK, links.Text = false, "none could be made (-v says why)"
	}
	found := []Finding{cache, links}
	for _, dir := range s.cfg.ToolsDir {
		f := Finding{Name: "tools folder", OK: true, Text: dir}
		if st, err := os.Stat(dir); err != nil {
			f.OK, f.Text = false, fmt.Sprintf("%s does not exist", dir)
		} else if !st.IsDir() {
			f.OK, f.Text = false, fmt.Sprintf("%s is not a folder", dir)
		}
		found = append(found, f)
	}
	return found
}
