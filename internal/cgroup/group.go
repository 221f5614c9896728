package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Limits are the limits of a group's whole tree; zero is no limit.
type Limits struct {
	Memory int64 // bytes, without swap
	PIDs   int   // processes and threads
}

// Limited tells which limits hold.
type Limited struct{ Memory, PIDs bool }

// Group is one control group. Its methods may be called from several
// goroutines, apart from Close and Remove.
type Group struct {
	path    string
	dir     *os.File
	limited Limited
	v1      string   // the folder in the v1 pids hierarchy, or ""
	adopt   *os.File // its cgroup.procs
}

// New makes the fresh group snens-NAME. NAME is 1 to 64 of A-Z a-z 0-9 _ -.
// It never takes over a group that exists: errors.Is(err, fs.ErrExist). Limits
// that cannot be held here are left out, see Limited; one that should hold and
// is refused is an error.
func (t *Tree) New(name string, l Limits) (*Group, error) {
	if !validName(name) {
		return nil, fmt.Errorf("cannot name a group %q: 1 to 64 letters, digits, _ and - are allowed", name)
	}
	var can Limited
	if l != (Limits{}) {
		can = t.Can()
		if t.free {
			if err := t.handDown(l, can); err != nil {
				return nil, err
			}
		}
	}
	g := &Group{path: filepath.Join(t.parent, prefix+name)}
	if err := os.Mkdir(g.path, 0o755); err != nil {
		return nil, fmt.Errorf("cannot make a group: %w", err)
	}
	err := g.prepare(t, l, can)
	if err != nil {
		return nil, errors.Join(err, g.Remove())
	}
	return g, nil
}

func (g *Group) prepare(t *Tree, l Limits, can Limited) error {
	fd, err := unix.Open(g.path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("cannot open a group: %w", &os.PathError{Op: "open", Path: g.path, Err: err})
	}
	g.dir = os.NewFile(uintptr(fd), g.path)
	for range t.kills {
		if err := writeControl(g.path, "cgroup.kill", "1"); err != nil {
			return fmt.Errorf("cannot prepare the group %s: %w", g.path, err)
		}
	}
	if l.Memory > 0 && can.Memory {
		if err := writeControl(g.path, "memory.max", strconv.FormatInt(l.Memory, 10)); err != nil {
			return fmt.Errorf("cannot limit the memory of the group %s: %w", g.path, err)
		}
		// Absent without swap accounting; the limit then counts memory alone.
		if err := writeControl(g.path, "memory.swap.max", "0"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot keep the group %s out of swap: %w", g.path, err)
		}
		g.limited.Memory = true
	}
	if l.PIDs > 0 && can.PIDs {
		if err := g.limitPIDs(t, l.PIDs); err != nil {
			return err
		}
		g.limited.PIDs = true
	}
	return nil
}

func (g *Group) limitPIDs(t *Tree, n int) error {
	err := writeControl(g.path, "pids.max", strconv.Itoa(n))
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) || t.pids1 == "" {
		return fmt.Errorf("cannot limit the processes of the group %s: %w", g.path, err)
	}
	return g.makePIDs1(t.pids1, n)
}

// handDown lets the parent hand down the controllers that l needs.
func (t *Tree) handDown(l Limits, can Limited) error {
	given := " " + readWord(t.parent, "cgroup.subtree_control") + " "
	available := " " + readWord(t.parent, "cgroup.controllers") + " "
	for _, c := range []struct {
		name string
		want bool
	}{{"memory", l.Memory > 0 && can.Memory}, {"pids", l.PIDs > 0 && can.PIDs}} {
		if !c.want || strings.Contains(given, " "+c.name+" ") || !strings.Contains(available, " "+c.name+" ") {
			continue
		}
		if err := writeControl(t.parent, "cgroup.subtree_control", "+"+c.name); err != nil {
			return handDownError(t.parent, c.name, err)
		}
	}
	return nil
}

func handDownError(folder, controller string, err error) error {
	if errors.Is(err, unix.EBUSY) {
		return fmt.Errorf("cannot hand the %s controller down in %s: processes live in that group itself, and they are not ours to move: %w", controller, folder, err)
	}
	return fmt.Errorf("cannot hand the %s controller down in %s: %w", controller, folder, err)
}

// Open takes up a group that another process made, to end it: only snens-NAME
// below the cgroup2 mount, without symlinks. errors.Is(err, fs.ErrNotExist)
// when it is gone.
func Open(path string) (*Group, error) {
	mounts, own, err := readSelf()
	if err != nil {
		return nil, err
	}
	base := filepath.Base(path)
	if name, ok := strings.CutPrefix(base, prefix); !ok || !validName(name) {
		return nil, fmt.Errorf("cannot open the group %q: it is not named %sNAME", path, prefix)
	}
	err = fmt.Errorf("cannot open the group %q: no cgroup2 file system is mounted", path)
	for _, m := range mounts {
		if !m.v2 {
			continue
		}
		var rel string
		if rel, err = m.beneath(path); err != nil {
			continue
		}
		dir, err := openBeneath(m.point, rel)
		if err != nil {
			return nil, fmt.Errorf("cannot open the group %q: %w", path, err)
		}
		g := &Group{path: path, dir: os.NewFile(uintptr(dir), path)}
		if parent := findPIDs1(mounts, own); parent != "" {
			if _, err := os.Stat(filepath.Join(parent, base)); err == nil {
				g.v1 = filepath.Join(parent, base)
			}
		}
		return g, nil
	}
	return nil, err
}

func openBeneath(point, rel string) (int, error) {
	root, err := unix.Open(point, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(root)
	return unix.Openat2(root, rel, &unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV,
	})
}

func validName(name string) bool {
	if len(name) < 1 || len(name) > 64 {
		return false
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// FD is the descriptor of the folder, for SysProcAttr.CgroupFD; valid until
// Close or Remove.
func (g *Group) FD() int { return int(g.dir.Fd()) }

// Path is the absolute folder in the cgroup v2 hierarchy.
func (g *Group) Path() string { return g.path }

// Limited tells which of the limits given to New hold.
func (g *Group) Limited() Limited { return g.limited }

// Close gives the descriptors back and leaves the group as it is.
func (g *Group) Close() error {
	var errs []error
	for _, f := range []**os.File{&g.dir, &g.adopt} {
		if *f != nil {
			errs = append(errs, (*f).Close())
			*f = nil
		}
	}
	return errors.Join(errs...)
}
