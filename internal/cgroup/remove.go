package cgroup

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Remove removes the group and the groups below it, deepest first, with the
// half in cgroup v1, and closes g. One that is gone is no error. It kills
// nothing: a group with living processes is an error that names them.
func (g *Group) Remove() error {
	err := errors.Join(removeTree(g.path), g.Close())
	if g.v1 != "" {
		err = errors.Join(err, removeTree(g.v1))
	}
	return err
}

func removeTree(folder string) error {
	if unix.Rmdir(folder) == nil {
		return nil // nearly always: nothing lives in it, and there is none below
	}
	return walk(folder, removeOne)
}

// removeOne removes one group. The kernel takes a moment to let go of the
// processes that have just ended: a busy group without processes is tried again.
func removeOne(folder string) error {
	const tries = 200
	var err error
	for range tries {
		err = unix.Rmdir(folder)
		if err == nil || gone(err) {
			return nil
		}
		if err != unix.EBUSY {
			break
		}
		living, perr := (&Group{path: folder}).PIDs()
		if perr == nil && len(living) > 0 {
			return fmt.Errorf("cannot remove the group %s: processes live in it: %v: %w", folder, living, err)
		}
		time.Sleep(time.Millisecond)
	}
	return &os.PathError{Op: "cannot remove the group", Path: folder, Err: err}
}
