package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"snens/internal/safefile"
	"snens/supervisor/call"
)

const (
	spillAge  = 7 * 24 * time.Hour
	stampName = ".pruned"
	// pruneEvery, pruneNames and pruneMost bound what one start may cost.
	pruneEvery = time.Hour
	pruneNames = 10_000
	pruneMost  = 64
)

// SpillDir makes and returns the folder for a call's output in full,
// STATE/spill/ID. It outlives the call until PruneSpill takes it.
func (c *Calls) SpillDir(id call.ID) (string, error) {
	if _, err := ParseCallID(string(id)); err != nil {
		return "", fmt.Errorf("cannot make a spill folder: %w", err)
	}
	dir := filepath.Join(c.spill, string(id))
	err := os.Mkdir(dir, 0o700)
	if err != nil {
		if err = safefile.EnsurePrivateDir(c.spill); err == nil {
			err = safefile.EnsurePrivateDir(dir)
		}
	}
	if err != nil {
		return "", fmt.Errorf("cannot make a spill folder: %w", err)
	}
	return dir, nil
}

// PruneSpill removes the spill folders of calls that began more than seven days
// ago, have not been written to since and do not run any more, oldest first,
// and returns how many. One call removes at most 64; when nothing is left to do
// it does nothing for an hour, so it may be called at every start.
func (c *Calls) PruneSpill() (int, error) {
	stamp := filepath.Join(c.spill, stampName)
	if info, err := os.Lstat(stamp); err == nil && time.Since(info.ModTime()).Abs() < pruneEvery {
		return 0, nil
	}
	names, err := readNames(c.spill, pruneNames)
	if err != nil {
		return 0, fmt.Errorf("cannot prune spill folders: %w", err)
	}
	if names == nil {
		return 0, nil
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		began, err := parseULID(name)
		return err != nil || time.Since(began) < spillAge
	})
	slices.Sort(names) // ids sort by time
	removed := 0
	var errs []error
	for _, name := range names {
		if removed == pruneMost {
			return removed, errors.Join(errs...) // the next start goes on
		}
		dir := filepath.Join(c.spill, name)
		if c.runs(name) || !idle(dir) {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			errs = append(errs, fmt.Errorf("cannot prune a spill folder: %w", err))
			continue
		}
		removed++
	}
	errs = append(errs, safefile.ReplaceFile(stamp, nil, 0o600))
	return removed, errors.Join(errs...)
}

// runs says that there is a call folder, of a running call or of a leftover.
func (c *Calls) runs(id string) bool {
	_, err := os.Lstat(filepath.Join(c.root, id))
	return !errors.Is(err, fs.ErrNotExist)
}

// idle says that dir is a folder of ours and that neither it nor anything
// directly in it was changed for seven days.
func idle(dir string) bool {
	if !oldOurs(dir, spillAge) {
		return false
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		info, err := e.Info()
		return err == nil && time.Since(info.ModTime()) < spillAge
	})
}
