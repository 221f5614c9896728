package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"snens/broker/action"
	"snens/internal/safefile"
)

const (
	suffix   = ".json"
	setAside = ".broken"
	lockName = "lock"
	tempMark = ".tmp"
)

// Dir is an opened folder of requests. Its methods may be called at the same
// time for different requests, and one after the other for the same one.
type Dir struct {
	path string
	lock *safefile.Lock
}

// Open makes the folder when it is missing and takes its lock. It refuses a
// folder that is not ours alone, and one that another process holds
// (safefile.ErrLocked).
func Open(path string) (*Dir, error) {
	if err := safefile.EnsurePrivateDir(path); err != nil {
		return nil, fmt.Errorf("cannot open the folder of requests: %w", err)
	}
	lock, err := safefile.TryLock(filepath.Join(path, lockName))
	if err != nil {
		return nil, fmt.Errorf("cannot take the folder of requests %s: %w", path, err)
	}
	return &Dir{path: path, lock: lock}, nil
}

// Close gives the lock back.
func (d *Dir) Close() error { return d.lock.Unlock() }

func (d *Dir) file(id action.RequestID) string { return filepath.Join(d.path, id.String()+suffix) }

// Save writes the request's file. On an error the old content is still there,
// or (of a durable write) the new one that may not survive a power cut.
func (d *Dir) Save(r *Record, durable bool) error {
	data, err := r.encode()
	if err != nil {
		return fmt.Errorf("cannot keep the request %s: %w", r.ID, err)
	}
	if durable {
		return safefile.WriteFile(d.file(r.ID), data, 0o600)
	}
	return safefile.ReplaceFile(d.file(r.ID), data, 0o600)
}

// Remove forgets a request. One that has no file is forgotten already.
func (d *Dir) Remove(id action.RequestID) error {
	if err := os.Remove(d.file(id)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("cannot forget the request %s: %w", id, err)
	}
	return nil
}

// Load reads every request, and removes what a crash left half-written. A file
// that makes no sense is set aside and named in faults. err means that the
// folder itself cannot be read.
func (d *Dir) Load() (found []Record, faults []error, err error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the folder of requests: %w", err)
	}
	for _, e := range entries {
		name := e.Name()
		path := filepath.Join(d.path, name)
		switch {
		case strings.HasPrefix(name, ".") && strings.HasSuffix(name, tempMark):
			if err := os.Remove(path); err != nil {
				faults = append(faults, fmt.Errorf("cannot remove a half-written file: %w", err))
			}
		case strings.HasSuffix(name, suffix):
			r, err := d.read(path, strings.TrimSuffix(name, suffix))
			if err != nil {
				faults = append(faults, errors.Join(fmt.Errorf("cannot take up the request in %s, which is set aside as %s: %w", name, name+setAside, err), os.Rename(path, path+setAside)))
				continue
			}
			found = append(found, r)
		}
	}
	return found, faults, nil
}

func (d *Dir) read(path, id string) (Record, error) {
	data, err := safefile.ReadPrivate(path, maxFile)
	if err != nil {
		return Record{}, err
	}
	r, err := decode(data)
	if err == nil && r.ID.String() != id {
		err = fmt.Errorf("it holds the request %s", r.ID)
	}
	return r, err
}
