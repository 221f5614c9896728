package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// gone: the group was removed, before (ENOENT) or under our hands (ENODEV).
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV)
}

// PIDs lists the processes of the group and of all groups below, ascending.
// Zombies are not in it. A group that is gone has none.
func (g *Group) PIDs() ([]int, error) {
	var list []int
	err := walk(g.path, func(folder string) error {
		text, err := readControl(filepath.Join(folder, "cgroup.procs"))
		if gone(err) || errors.Is(err, unix.EOPNOTSUPP) {
			return nil // a threaded group: its processes are listed above it
		}
		if err != nil {
			return fmt.Errorf("cannot list the processes of %s: %w", folder, err)
		}
		list = append(list, parsePIDs(text)...)
		return nil
	})
	slices.Sort(list)
	return slices.Compact(list), err
}

// parsePIDs reads cgroup.procs; 0 stands for a process of another pid namespace.
func parsePIDs(text string) []int {
	var list []int
	for word := range strings.FieldsSeq(text) {
		if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
			list = append(list, pid)
		}
	}
	return list
}

// walk calls f for the folder and everything below it, deepest first.
func walk(folder string, f func(string) error) error {
	entries, err := os.ReadDir(folder)
	if gone(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot list the groups in %s: %w", folder, err)
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := walk(filepath.Join(folder, e.Name()), f); err != nil {
				return err
			}
		}
	}
	return f(folder)
}

// Kill sends SIGKILL to every process of the group and of all groups below,
// frozen ones and those just being forked included. It does not wait; a process
// stuck in the kernel stays until it returns. A group that is gone is no error.
func (g *Group) Kill() error {
	err := writeControl(g.path, "cgroup.kill", "1")
	if err == nil || errors.Is(err, unix.ENODEV) {
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot kill the group %s: %w", g.path, err)
	}
	if _, err := os.Stat(g.path); gone(err) {
		return nil
	}
	return g.killEach()
}

// killEach is Kill before Linux 5.14: frozen, so that nothing is forked
// meanwhile, then one by one until nobody is new.
func (g *Group) killEach() error {
	_ = g.Freeze() // before 5.2 there is no freezer; the rounds below must do
	const rounds = 100
	for range rounds {
		n, err := g.signalEach(unix.SIGKILL)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		if empty, err := g.WaitEmpty(killPause); empty || err != nil {
			return err
		}
	}
	return nil
}

// Signal sends sig once to every process that is in the group or below it now.
// A process that may not be signalled does not keep the others from it.
func (g *Group) Signal(sig syscall.Signal) error {
	_, err := g.signalEach(sig)
	return err
}

// signalEach opens a pidfd for each listed process and signals those that the
// list still holds afterwards: such a pidfd is a member for certain, since a pid
// is not given away while its process lives.
func (g *Group) signalEach(sig syscall.Signal) (sent int, err error) {
	pids, err := g.PIDs()
	if err != nil {
		return 0, err
	}
	fds := map[int]int{}
	defer func() {
		for _, fd := range fds {
			unix.Close(fd)
		}
	}()
	var errs []error
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if err == nil {
			fds[pid] = fd
		} else if err != unix.ESRCH {
			errs = append(errs, fmt.Errorf("cannot signal process %d: %w", pid, err))
		}
	}
	still, err := g.PIDs()
	if err != nil {
		return 0, err
	}
	for _, pid := range still {
		fd, ok := fds[pid]
		if !ok {
			continue
		}
		err := unix.PidfdSendSignal(fd, sig, nil, 0)
		if err == nil {
			sent++
		} else if err != unix.ESRCH {
			errs = append(errs, fmt.Errorf("cannot signal process %d: %w", pid, err))
		}
	}
	return sent, errors.Join(errs...)
}

// Freeze stops every process of the group and below where it stands; new ones
// too. It does not wait for it to take effect.
// errors.Is(err, errors.ErrUnsupported) before Linux 5.2.
func (g *Group) Freeze() error { return g.setFrozen("1") }

// Thaw undoes Freeze.
func (g *Group) Thaw() error { return g.setFrozen("0") }

func (g *Group) setFrozen(value string) error {
	err := writeControl(g.path, "cgroup.freeze", value)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(g.path); err == nil {
			return fmt.Errorf("cannot freeze the group %s: %w", g.path, errors.ErrUnsupported)
		}
	}
	if err != nil {
		return fmt.Errorf("cannot freeze the group %s: %w", g.path, err)
	}
	return nil
}
