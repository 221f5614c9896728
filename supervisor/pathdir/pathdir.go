// Package pathdir keeps the folder of symlinks that stands first in the PATH
// of a tool's children, so that `read --help` typed in a shell reaches the tool
// read. It holds one link per tool, and snens itself.
//
//	stamp := pathdir.Take(opts) // before the tools are listed
//	dir, ok := pathdir.Current(opts, stamp) // nothing changed: a handful of stats
//	if !ok {
//		dir, skipped, err = pathdir.Ensure(opts, stamp, finder.Cheap())
//	}
//
// A tool named like a command of the system gets no link: `tar` in a shell
// script must stay the system's. Such a tool is reported as skipped and stays
// callable through snens.
//
// The returned path never changes: it leads through a symlink that is swapped
// by rename, so that running children keep a PATH that works while the folder
// is built anew. Any number of processes may call Ensure at once.
//
// Which tools are healthy is supervisor/discovery's question; what else is in
// the environment is supervisor/environ's.
package pathdir

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/safefile"
	"snens/supervisor/tool"
)

// Options say where the folder lies and what it must not hide.
type Options struct {
	// Base is a folder that is ours alone; made 0700 when missing. Absolute.
	Base string
	// ToolsDirs are the tools folders, as given to discovery.
	ToolsDirs []string
	// SystemPath is the PATH of the allow-list ("/usr/bin:/bin").
	SystemPath string
	// Self is the running snens, linked as "snens". Absolute.
	Self string
}

// Skipped is a tool that got no link, and the command it would have hidden.
type Skipped struct {
	Name    tool.Name
	Command string // absolute path
}

// lockPatience is how long Ensure waits for others who build the same folder.
const lockPatience = 2 * time.Second

// Dir is the path that belongs in PATH, whether or not it exists.
func (o Options) Dir() string { return filepath.Join(o.Base, link, bin) }

// Current returns the folder when it was built from exactly this state of the
// tools folders and of the system's. It reads no tool.
func Current(o Options, stamp Stamp) (dir string, ok bool) {
	if o.check() != nil {
		return "", false
	}
	base, err := safefile.OpenPrivateDir(o.Base)
	if err != nil {
		return "", false
	}
	base.Close()
	g, ok := o.readStamp()
	if !ok || g.young || g.stamp != stamp.text {
		return "", false
	}
	return o.Dir(), true
}

// Ensure makes the folder hold exactly these tools. What is right already is
// left alone. stamp must have been taken before the tools were listed, so that
// a change in between is noticed the next time.
func Ensure(o Options, stamp Stamp, tools []tool.Ref) (dir string, skipped []Skipped, err error) {
	if err := o.check(); err != nil {
		return "", nil, err
	}
	if err := safefile.EnsurePrivateDir(o.Base); err != nil {
		return "", nil, fmt.Errorf("cannot make the PATH folder: %w", err)
	}
	tools = slices.Clone(tools)
	slices.SortFunc(tools, func(a, b tool.Ref) int { return strings.Compare(string(a.Name), string(b.Name)) })
	if g, ok := o.read(); ok && g.serves(stamp, tools) {
		return o.Dir(), g.skipped, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockPatience)
	defer cancel()
	lock, err := safefile.WaitLock(ctx, filepath.Join(o.Base, "path.lock"))
	if err != nil {
		// Somebody hangs with the lock. An older folder is better than none.
		if g, ok := o.read(); ok {
			return o.Dir(), g.skipped, nil
		}
		return "", nil, fmt.Errorf("cannot make the PATH folder: %w", err)
	}
	defer lock.Unlock()
	before, ok := o.read()
	if ok && before.serves(stamp, tools) { // somebody was faster
		return o.Dir(), before.skipped, nil
	}
	g := generation{stamp: stamp.text, young: stamp.young, tools: tools, skipped: o.hidden(tools)}
	if err := o.build(&g); err != nil {
		return "", nil, fmt.Errorf("cannot make the PATH folder: %w", err)
	}
	o.sweep(g.name, before.name)
	return o.Dir(), g.skipped, nil
}

func (o Options) check() error {
	switch {
	case !filepath.IsAbs(o.Base):
		return fmt.Errorf("cannot make the PATH folder: base %q is not an absolute path", o.Base)
	case strings.Contains(o.Base, ":"):
		return fmt.Errorf("cannot make the PATH folder: base %q holds a colon, which separates the folders of PATH", o.Base)
	case !filepath.IsAbs(o.Self):
		return fmt.Errorf("cannot make the PATH folder: the running program %q is not an absolute path", o.Self)
	}
	return nil
}

// hidden returns the tools whose link would hide a command of the system.
func (o Options) hidden(tools []tool.Ref) []Skipped {
	var out []Skipped
	dirs := o.systemDirs()
	for _, t := range tools {
		for _, dir := range dirs {
			if command := filepath.Join(dir, string(t.Name)); isCommand(command) {
				out = append(out, Skipped{Name: t.Name, Command: command})
				break
			}
		}
	}
	return out
}

// systemDirs are the absolute folders of SystemPath without our own: a PATH
// that was handed down by another call begins with it.
func (o Options) systemDirs() []string {
	var dirs []string
	for d := range strings.SplitSeq(o.SystemPath, ":") {
		if d = filepath.Clean(d); filepath.IsAbs(d) && d != o.Dir() && !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	return dirs
}

func isCommand(path string) bool {
	var st unix.Stat_t
	return unix.Stat(path, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Mode&0o111 != 0
}
