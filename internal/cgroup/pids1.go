package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// findPIDs1 is this process's folder in the v1 pids hierarchy, "" when there
// is none or it is not writable.
func findPIDs1(mounts []mount, own membership) string {
	path, ok := own["pids"]
	if !ok {
		return ""
	}
	for _, m := range mounts {
		if m.v2 || !slices.Contains(m.controllers, "pids") {
			continue
		}
		folder, err := m.folder(path)
		if err != nil {
			continue
		}
		if unix.Faccessat(unix.AT_FDCWD, folder, unix.W_OK, unix.AT_EACCESS) == nil {
			return folder
		}
	}
	return ""
}

// makePIDs1 makes the group's other half in the v1 hierarchy.
func (g *Group) makePIDs1(parent string, n int) error {
	folder := filepath.Join(parent, filepath.Base(g.path))
	if err := os.Mkdir(folder, 0o755); err != nil {
		return fmt.Errorf("cannot limit processes through cgroup v1: %w", err)
	}
	g.v1 = folder
	if err := writeControl(folder, "pids.max", strconv.Itoa(n)); err != nil {
		return fmt.Errorf("cannot limit processes through cgroup v1: %w", err)
	}
	// Opened now: Adopt may be called on a thread that can open nothing for
	// writing any more.
	f, err := os.OpenFile(filepath.Join(folder, "cgroup.procs"), os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("cannot limit processes through cgroup v1: %w", err)
	}
	g.adopt = f
	return nil
}

// MustAdopt reports whether the limit on processes takes effect only when the
// child is put into the group by Adopt, on top of SysProcAttr.CgroupFD.
func (g *Group) MustAdopt() bool { return g.adopt != nil }

// Adopt puts the child under the limit that is held through cgroup v1; without
// such a limit it does nothing. Call it while the child stands stopped at its
// exec (rlimit.Limits.Stopped), or what it forks first is not counted.
func (g *Group) Adopt(pid int) error {
	if g.adopt == nil {
		return nil
	}
	if pid <= 0 {
		return errors.New("cannot put a process into its group: not a pid") // 0 would be ourselves
	}
	if _, err := g.adopt.WriteString(strconv.Itoa(pid)); err != nil {
		return fmt.Errorf("cannot put the child into %s: %w", g.v1, err)
	}
	return nil
}
