package execute

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/internal/cgroup"
)

// groupPrefix begins the folder of every action's group: package cgroup's prefix
// and ours.
const groupPrefix = "snens-" + namePrefix

// clearLimit bounds the wait for what was killed.
const clearLimit = 5 * time.Second

// Probe finds and tries the place for control groups. It is called once at the
// start, before any client connects: it may move this process into a group of
// its own below a delegated one, so that limits can be held. The error is a
// *cgroup.UnavailableError; then there is the fallback, and whoever starts the
// daemon is told.
func Probe() (*cgroup.Tree, error) {
	tree, err := cgroup.Detect()
	if err != nil {
		return nil, err
	}
	if can := tree.Can(); !can.Memory || !can.PIDs {
		// When it cannot, groups work all the same, and a rule with a limit on a
		// whole tree does not start (Describe says which hold).
		_ = tree.Delegate()
	}
	if err := tree.Probe(); err != nil {
		return nil, err
	}
	return tree, nil
}

// Clear ends whatever an earlier process left of the run. A control group that
// is gone is a success. In the fallback it is always an error: nothing tells
// then which processes belonged to the run.
func (x *Executor) Clear(ctx context.Context, id action.RequestID) error {
	fail := func(err error) error { return fmt.Errorf("cannot end what is left of request %s: %w", id, err) }
	if x.o.Groups == nil {
		return fail(errors.New("without control groups its processes cannot be told from others; look for them"))
	}
	x.mu.Lock()
	_, live := x.live[id]
	x.mu.Unlock()
	if live {
		return fail(errors.New("it runs here"))
	}
	g, err := cgroup.Open(filepath.Join(x.o.Groups.Parent(), "snens-"+x.groupName(id)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fail(err)
	}
	_ = g.Thaw() // what is frozen would not die before Linux 5.14
	if err := g.Kill(); err != nil {
		return fail(errors.Join(err, g.Close()))
	}
	limit := clearLimit
	if end, ok := ctx.Deadline(); ok {
		limit = max(0, min(limit, time.Until(end)))
	}
	empty, err := g.WaitEmpty(limit)
	if err == nil && !empty {
		left, _ := g.PIDs()
		err = fmt.Errorf("it survives SIGKILL: %s", pids(left))
	}
	if err != nil {
		return fail(errors.Join(err, g.Close()))
	}
	if err := g.Remove(); err != nil {
		return fail(err)
	}
	return nil
}

// Leftovers are the requests whose control groups are there without a run of
// ours: those of an earlier process of this installation, for Clear. In the
// fallback none are found.
func (x *Executor) Leftovers() ([]action.RequestID, error) {
	if x.o.Groups == nil {
		return nil, nil
	}
	entries, err := os.ReadDir(x.o.Groups.Parent())
	if err != nil {
		return nil, fmt.Errorf("cannot look for actions of an earlier process: %w", err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	var ids []action.RequestID
	for _, e := range entries {
		if mark, id, ok := parseGroup(e.Name()); ok && mark == x.mark && e.IsDir() && !x.ran[id] {
			if _, live := x.live[id]; !live {
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}

// InAction says whether a process in this control group (peer.Seen.Cgroup) is
// part of an action, of this daemon or any other, wherever its groups are: one
// name on its way is an action's. Whoever names a group of his own like that
// shuts himself out.
func InAction(group string) bool {
	return slices.ContainsFunc(strings.Split(strings.TrimSuffix(group, " (deleted)"), "/"), func(name string) bool {
		_, _, ok := parseGroup(name)
		return ok
	})
}

// InSession says whether the process belongs to an action that runs now, as far
// as sessions and descent can tell: it is in the session of an action's child,
// or descends from it by parents that all live. It is for the fallback. A
// process that was forked twice and has made a session of its own is not found.
// pid must be alive and known to be the peer's before and after (peer.Alive).
func (x *Executor) InSession(pid int) bool {
	x.mu.Lock()
	roots := map[int]bool{}
	for _, p := range x.live {
		roots[p] = true
	}
	x.mu.Unlock()
	if len(roots) == 0 {
		return false
	}
	const depth = 1000
	for range depth {
		if pid <= 1 {
			return false
		}
		if sid, err := unix.Getsid(pid); roots[pid] || err == nil && roots[sid] {
			return true
		}
		pid = parentOf(pid)
	}
	return true // nobody's ancestors are so many: refused
}

// parentOf is 0 when there is none or it is not known.
func parentOf(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	text := string(b)
	var state string
	var parent int
	if _, err := fmt.Sscan(text[strings.LastIndexByte(text, ')')+1:], &state, &parent); err != nil {
		return 0
	}
	return parent
}
