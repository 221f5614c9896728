package session

import (
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"snens/internal/safefile"
)

// A file system may take half a millisecond to find room for a folder and a
// file (ext4 walks past every inode that was freed lately), and a few
// microseconds to rename one. So a few emptied folders stay as .spare-N, the
// lock file in each of length zero, and become the folders of later calls.
const maxSpares = 4

func (c *Calls) spare(n int) string {
	return filepath.Join(c.root, sparePrefix+strconv.Itoa(n))
}

// takeSpare makes a spare folder the folder temp and returns its lock, held;
// nil when there is none. The lock comes first: who holds it owns the folder,
// before and after the renames.
func (c *Calls) takeSpare(temp string) *safefile.Lock {
	for n := range maxSpares {
		lock, err := safefile.TryLockExisting(filepath.Join(c.spare(n), lockName))
		if err != nil {
			continue // none, or somebody else has it in hand
		}
		if lock.File().Truncate(0) == nil && unix.Rename(c.spare(n), temp) == nil {
			return lock
		}
		_ = lock.Unlock() // it serves nobody, and harms nobody
	}
	return nil
}

// keepSpare empties the folder, whose lock the caller holds, and keeps it for
// a later call. false: it is still there, and no spare.
func (c *Calls) keepSpare(dir string, lock *safefile.Lock) bool {
	// First what it was about: a spare tells nothing of earlier calls.
	if emptyButLock(dir) != nil || lock.File().Truncate(0) != nil {
		return false
	}
	for n := range maxSpares {
		// A spare that is there has its lock file, and over a folder with
		// something in it nothing is renamed.
		if unix.Rename(dir, c.spare(n)) == nil {
			return true
		}
	}
	return false
}
