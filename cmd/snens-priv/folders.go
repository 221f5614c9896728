package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"snens/internal/accounts"
	"snens/internal/safefile"
)

// logReaders is the group that may read the system's log.
const logReaders = "adm"

// folders makes or judges the folder of the state, which is ours alone, and
// makes that of the log, which package audit judges.
func (s *setup) folders() error {
	if err := s.stateFolder(); err != nil {
		return failf(exitFailed, "cannot use %s for the state: %w", s.state, err)
	}
	if _, err := os.Lstat(s.logs); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := s.makeLogFolder(); err != nil {
		return failf(exitFailed, "cannot make %s for the audit log: %w", s.logs, err)
	}
	return nil
}

func (s *setup) stateFolder() error {
	if err := safefile.CheckNearest(s.state, os.Geteuid()); err != nil {
		return err
	}
	if err := safefile.EnsurePrivateDir(s.state); err != nil {
		return err
	}
	return safefile.CheckTrusted(s.state, os.Geteuid())
}

// makeLogFolder makes the folder. What is written there later belongs to the
// folder's group, so that it can be read by those who read logs.
func (s *setup) makeLogFolder() error {
	if err := safefile.CheckTrusted(filepath.Dir(s.logs), os.Geteuid()); err != nil {
		return err
	}
	if s.user {
		return os.Mkdir(s.logs, 0o700)
	}
	if err := os.Mkdir(s.logs, 0o750); err != nil {
		return err
	}
	db, err := accounts.Read("/etc/passwd", "/etc/group")
	if err != nil {
		return err
	}
	g, err := db.Group(logReaders)
	if err != nil {
		return nil // nobody but root reads it
	}
	if err := os.Chown(s.logs, 0, int(g.GID)); err != nil {
		return err
	}
	return os.Chmod(s.logs, 0o750|fs.ModeSetgid)
}
