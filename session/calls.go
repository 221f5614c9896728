package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/safefile"
	"snens/supervisor/call"
)

// Names in the folder of calls. A folder with a prefix is on its way in or out.
const (
	newPrefix   = ".new-"
	goingPrefix = ".gone-"
	sparePrefix = ".spare-"
	lockName    = "lock"
	filesName   = "files"
)

// The lock file holds lines of JSON: first the Meta, then each identity that
// was recorded. One write each, no file of its own: on a busy file system every
// inode costs more than all the rest of a call folder.
const (
	maxIdentity = 64 << 10
	maxLockFile = 1 << 20
)

// Calls is the folder of running calls of one uid. It holds no descriptor and
// may be used from several goroutines and processes at once.
type Calls struct {
	root  string // STATE/calls
	spill string // STATE/spill
}

// Meta says what a call is, for people who find its folder.
type Meta struct {
	Tool    string    `json:"tool"`
	Session ID        `json:"session,omitempty"`
	Cwd     string    `json:"cwd,omitempty"`
	PID     int       `json:"pid"`     // the supervisor's; set by New
	Started time.Time `json:"started"` // set by New
}

// OpenCalls makes root (STATE/calls) when missing and checks that it is ours
// alone. Spill folders go beside it, into STATE/spill.
func OpenCalls(root string) (*Calls, error) {
	abs, err := filepath.Abs(root)
	if err == nil {
		err = safefile.EnsurePrivateDir(abs)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open the folder of calls: %w", err)
	}
	return &Calls{root: abs, spill: filepath.Join(filepath.Dir(abs), "spill")}, nil
}

// New makes the folder of a call that is about to start, locked by this
// process until Folder.Close. The id must be a fresh one of NewCallID.
func (c *Calls) New(id call.ID, meta Meta) (*Folder, error) {
	if _, err := ParseCallID(string(id)); err != nil {
		return nil, fmt.Errorf("cannot make a call folder: %w", err)
	}
	meta.PID, meta.Started = os.Getpid(), time.Now().UTC()
	data, err := json.Marshal(meta)
	if err != nil {
		return nil, fmt.Errorf("cannot make a call folder: %w", err)
	}
	for try := 1; ; try++ {
		f, err := c.make(id, data)
		if err == nil {
			return f, nil
		}
		// A process that was stopped for long between two of these steps finds
		// its unfinished folder taken for a dead one's.
		gone := errors.Is(err, fs.ErrNotExist) || errors.Is(err, safefile.ErrLocked) || errors.Is(err, fs.ErrExist)
		if !gone || try == 3 {
			return nil, fmt.Errorf("cannot make a call folder: %w", err)
		}
	}
}

func (c *Calls) make(id call.ID, meta []byte) (*Folder, error) {
	temp, dir := filepath.Join(c.root, newPrefix+string(id)), filepath.Join(c.root, string(id))
	lock := c.takeSpare(temp)
	if lock == nil {
		if err := os.Mkdir(temp, 0o700); err != nil {
			return nil, err
		}
		var err error
		if lock, err = safefile.TryLock(filepath.Join(temp, lockName)); err != nil {
			return nil, err
		}
	}
	_, err := lock.File().Write(append(meta, '\n'))
	if err == nil {
		err = os.Rename(temp, dir)
	}
	if err != nil {
		os.RemoveAll(temp)
		return nil, errors.Join(err, lock.Unlock())
	}
	return &Folder{ID: id, Dir: dir, calls: c, lock: lock}, nil
}

// remove takes a folder away whose lock the caller holds, and frees the lock.
// From the rename on nobody can take it for a call. Emptied it may stay as a
// spare.
func (c *Calls) remove(id call.ID, lock *safefile.Lock) error {
	dir, going := filepath.Join(c.root, string(id)), filepath.Join(c.root, goingPrefix+string(id))
	err := unix.Rename(dir, going)
	switch {
	case err == nil && c.keepSpare(going, lock):
	case err == nil:
		err = emptied(going)
	case errors.Is(err, fs.ErrNotExist): // removed by somebody else: as good
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("cannot remove the call folder %s: %w", dir, err)
	}
	return errors.Join(err, lock.Unlock())
}

// empty removes a folder, its lock file last: until then it is ours to remove.
func empty(dir string) error {
	if err := emptyButLock(dir); err != nil {
		return err
	}
	if err := unix.Unlink(filepath.Join(dir, lockName)); err != nil && err != unix.ENOENT {
		return fmt.Errorf("cannot remove the lock file in %s: %w", dir, err)
	}
	return unix.Rmdir(dir)
}

func emptyButLock(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != lockName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}
