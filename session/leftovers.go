package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"snens/internal/safefile"
	"snens/supervisor/call"
)

// How long what is not a whole call folder is left alone: an unfinished one may
// be about to be finished, one without a lock file is nobody's.
const (
	unfinishedAge = 10 * time.Minute
	lockLessAge   = 24 * time.Hour
)

// Leftover is a call whose supervisor died.
type Leftover struct {
	ID  call.ID
	Dir string
	// Identity is what Folder.Record wrote last, as far as it is whole; nil when
	// nothing was recorded. Processes can then be found by the call's id alone.
	Identity json.RawMessage
	Meta     Meta   // zero when it cannot be read
	Note     string // what is missing of Identity or Meta; "" otherwise
}

// Leftovers calls fn for every call of ours whose lock is free, with the lock
// held meanwhile: of any number of processes that look at the same time
// exactly one gets it. When fn returns nil the folder is removed; when it fails
// the call is found again the next time. One failure does not keep the others
// from being handled; all are returned joined.
//
// A call that runs is never touched, whoever runs it. Entries that are no call
// folders, or belong to another uid, are passed over. Remains of folders that
// were never finished or never wholly removed are cleared away.
func (c *Calls) Leftovers(fn func(Leftover) error) error {
	names, err := readNames(c.root, -1)
	if err != nil {
		return fmt.Errorf("cannot look for leftover calls: %w", err)
	}
	var errs []error
	for _, name := range names {
		var err error
		if _, bad := ParseCallID(name); bad == nil {
			err = c.leftover(call.ID(name), fn)
		} else if rest, ok := strings.CutPrefix(name, newPrefix); ok {
			err = c.clearUnfinished(name, rest)
		} else if rest, ok := strings.CutPrefix(name, goingPrefix); ok {
			err = c.clearGoing(name, rest)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (c *Calls) leftover(id call.ID, fn func(Leftover) error) error {
	dir := filepath.Join(c.root, string(id))
	lock, err := safefile.TryLockExisting(filepath.Join(dir, lockName))
	switch {
	case errors.Is(err, safefile.ErrLocked):
		return nil // it runs, or somebody else has it in hand
	case errors.Is(err, fs.ErrNotExist):
		return c.clearLockLess(dir)
	case err != nil:
		return nil // not ours, or no folder
	}
	if f, err := safefile.OpenPrivateDir(dir); err != nil {
		return lock.Unlock()
	} else {
		f.Close()
	}
	l := Leftover{ID: id, Dir: dir}
	l.read()
	if err := fn(l); err != nil {
		return errors.Join(fmt.Errorf("leftover call %s: %w", id, err), lock.Unlock())
	}
	return c.remove(id, lock)
}

// read fills in what the dead supervisor wrote down, as far as it can be read:
// the first line is the Meta, the last whole one after it the identity.
func (l *Leftover) read() {
	data, err := safefile.ReadPrivate(filepath.Join(l.Dir, lockName), maxLockFile)
	if err != nil {
		l.Note = err.Error()
		return
	}
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	if json.Unmarshal(first, &l.Meta) != nil {
		l.Meta = Meta{}
		l.Note = "what was called is not known"
	}
	torn := false
	for line := range bytes.Lines(rest) {
		text, whole := bytes.CutSuffix(line, []byte("\n"))
		if len(text) == 0 {
			continue
		}
		if whole && json.Valid(text) {
			l.Identity, torn = json.RawMessage(text), false
		} else {
			torn = true
		}
	}
	switch {
	case torn:
		l.Note = "the last identity recorded is torn"
	case l.Identity == nil && l.Note == "":
		l.Note = "no identity was recorded"
	}
}

// clearUnfinished removes a folder that New was making when its process died.
func (c *Calls) clearUnfinished(name, id string) error {
	dir := filepath.Join(c.root, name)
	if _, err := ParseCallID(id); err != nil || !oldOurs(dir, unfinishedAge) {
		return nil
	}
	// With the lock in hand New, should it still be at it, cannot get past its
	// own locking and begins again.
	lock, err := safefile.TryLock(filepath.Join(dir, lockName))
	if err != nil {
		return nil
	}
	return errors.Join(emptied(dir), lock.Unlock())
}

// clearGoing finishes a removal that was cut short.
func (c *Calls) clearGoing(name, id string) error {
	dir := filepath.Join(c.root, name)
	if _, err := ParseCallID(id); err != nil || !oldOurs(dir, 0) {
		return nil
	}
	lock, err := safefile.TryLockExisting(filepath.Join(dir, lockName))
	if errors.Is(err, safefile.ErrLocked) {
		return nil // whoever holds it is at it
	}
	return errors.Join(emptied(dir), lock.Unlock())
}

// emptied is empty where others may be removing the same folder: gone is gone.
func emptied(dir string) error {
	if err := empty(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// clearLockLess removes a folder without a lock file. It may belong to anybody,
// so it is never handed over.
func (c *Calls) clearLockLess(dir string) error {
	if !oldOurs(dir, lockLessAge) {
		return nil
	}
	return os.RemoveAll(dir)
}

// oldOurs says that dir is a real folder of ours, unchanged for that long.
func oldOurs(dir string, age time.Duration) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || time.Since(info.ModTime()) < age {
		return false
	}
	owner, ok := ownerOf(info)
	return ok && int64(owner) == int64(os.Geteuid())
}

// readNames lists a folder, at most limit entries of it when limit is positive.
// A missing folder is empty.
func readNames(dir string, limit int) ([]string, error) {
	f, err := safefile.OpenPrivateDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(limit)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}
