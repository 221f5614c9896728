// Package cgroup gives each call a control group of its own, so that its whole
// tree of processes can be found, frozen, measured and killed, whatever it forks.
//
//	tree, err := cgroup.Detect()         // once; an *UnavailableError says why not
//	err = tree.Probe()                   // once: a real start in a fresh group
//	g, err := tree.New(callID, limits)   // a fresh folder below this process's own group
//	attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, g.FD()
//	... g.Kill(), g.WaitEmpty(d), reap the child, g.Remove()
//
// # Where groups are made
//
// Below the group of this process in the cgroup v2 hierarchy (unified, or
// mounted beside v1 controllers), and nowhere else: what limits this process
// keeps limiting its children, and killing a call that itself makes calls kills
// those too. An unprivileged process needs a group that was delegated to it
// (systemd: Delegate=yes, or anything below user@UID.service).
//
// # Limits
//
// A group can only have limits for controllers that its parent hands down, and
// a parent that holds processes itself may not hand any down (the kernel answers
// EBUSY). So a limit is held when the parent already hands the controller down,
// when it is the root of the hierarchy, or after Delegate. Where cgroup v1 has
// the pids controller and the folder is writable, PIDs is held through it; the
// child must then be put in by Adopt while it stands stopped at its exec.
// The memory controller of v1 is left alone. Group.Limited tells what holds;
// for the rest there is package rlimit.
//
// # Limits of the method
//
// A process with root's rights can leave its group. A killed group is not used
// again. Nothing here reaps children.
package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	prefix = "snens-"     // of every group's folder
	leaf   = "snens.self" // where Delegate puts this process; no call can be named so
)

// Tree is the place where groups are made.
type Tree struct {
	mount  string // of the v2 hierarchy
	parent string // absolute folder
	free   bool   // the parent may hand controllers down
	pids1  string // this process's folder in the v1 pids hierarchy, "" when unusable
	kills  int    // how often a fresh group is killed before use, see Probe
}

// UnavailableError says why calls can have no group of their own here.
type UnavailableError struct{ Why string }

func (e *UnavailableError) Error() string { return "cannot use control groups: " + e.Why }

func unavailable(format string, a ...any) error {
	return &UnavailableError{Why: fmt.Sprintf(format, a...)}
}

// Detect finds the group of this process and checks that it may make groups
// below it and start children there. The error is an *UnavailableError.
func Detect() (*Tree, error) {
	mounts, own, err := readSelf()
	if err != nil {
		return nil, unavailable("%v", err)
	}
	return detect(mounts, own)
}

func readSelf() ([]mount, membership, error) {
	text, err := readControl("/proc/self/mountinfo")
	if err != nil {
		return nil, nil, fmt.Errorf("cannot list the mounts: %w", err)
	}
	groups, err := readControl("/proc/self/cgroup")
	if err != nil {
		return nil, nil, fmt.Errorf("cannot find this process's group: %w", err)
	}
	return parseMounts(text), parseMembership(groups), nil
}

func detect(mounts []mount, own membership) (*Tree, error) {
	path, ok := own[""]
	if !ok {
		return nil, unavailable("this process is in no cgroup v2 group (kernel without cgroup v2)")
	}
	why := unavailable("no cgroup2 file system is mounted (mount -t cgroup2 none /sys/fs/cgroup)")
	for _, m := range mounts {
		if !m.v2 {
			continue
		}
		folder, err := m.folder(path)
		if err == nil {
			err = usable(folder)
		}
		if err != nil {
			why = err
			continue
		}
		t := &Tree{mount: m.point, parent: folder, free: folder == m.point && m.root == "/" && isHierarchyRoot(folder)}
		if filepath.Base(folder) == leaf {
			t.parent, t.free = filepath.Dir(folder), true
			if err := usable(t.parent); err != nil {
				return nil, err
			}
		}
		t.pids1 = findPIDs1(mounts, own)
		return t, nil
	}
	return nil, why
}

// usable checks what making a group and starting a child in it take.
func usable(folder string) error {
	if _, err := os.Stat(folder); err != nil {
		return unavailable("the group of this process is not visible here: %v", err)
	}
	// cgroup.procs counts too: a child may only be started across a common
	// ancestor whose cgroup.procs the starter can write.
	for _, p := range []string{folder, filepath.Join(folder, "cgroup.procs")} {
		if err := unix.Faccessat(unix.AT_FDCWD, p, unix.W_OK, unix.AT_EACCESS); err != nil {
			return unavailable("%s is not writable by uid %d (%v); it needs a delegated group (systemd: Delegate=yes)", p, os.Geteuid(), err)
		}
	}
	if kind := readWord(folder, "cgroup.type"); kind != "" && kind != "domain" && kind != "domain threaded" {
		return unavailable("%s is a group of the type %q, which takes no new processes", folder, kind)
	}
	return nil
}

// isHierarchyRoot: only the real root has no cgroup.type; that of a namespace
// has one.
func isHierarchyRoot(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "cgroup.type"))
	return os.IsNotExist(err)
}

// Parent is the absolute folder in which groups are made.
func (t *Tree) Parent() string { return t.parent }

// Mount is where the cgroup v2 hierarchy is mounted.
func (t *Tree) Mount() string { return t.mount }

// Can tells which limits New is able to hold here.
func (t *Tree) Can() Limited {
	given := strings.Fields(readWord(t.parent, "cgroup.subtree_control"))
	if t.free {
		given = append(given, strings.Fields(readWord(t.parent, "cgroup.controllers"))...)
	}
	return Limited{
		Memory: slices.Contains(given, "memory"),
		PIDs:   slices.Contains(given, "pids") || t.pids1 != "",
	}
}

// Describe is one line for a person.
func (t *Tree) Describe() string {
	can := t.Can()
	var held []string
	if can.Memory {
		held = append(held, "memory")
	}
	switch {
	case can.PIDs && t.pids1 != "":
		held = append(held, "pids (cgroup v1)")
	case can.PIDs:
		held = append(held, "pids")
	}
	if held == nil {
		held = []string{"none (no controllers are handed down to groups below it)"}
	}
	return fmt.Sprintf("groups are made in %s, limits held: %s", t.parent, strings.Join(held, ", "))
}

// readWord is the trimmed content of a control file, "" when unreadable.
func readWord(folder, file string) string {
	text, err := readControl(filepath.Join(folder, file))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(text)
}

// readControl reads a file of the kernel's. os.ReadFile would first try to have
// it watched for readiness, which takes as long as all the rest.
func readControl(path string) (string, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var text []byte
	var buf [4096]byte
	for {
		n, err := unix.Read(fd, buf[:])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return "", &os.PathError{Op: "read", Path: path, Err: err}
		case n == 0:
			return string(text), nil
		default:
			text = append(text, buf[:n]...)
		}
	}
}

func writeControl(folder, file, value string) error {
	fd, err := unix.Open(filepath.Join(folder, file), unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for {
		if _, err := unix.Write(fd, []byte(value)); err != unix.EINTR {
			return err
		}
	}
}
