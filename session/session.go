package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"

	"snens/internal/safefile"
	"snens/internal/strictjson"
	"snens/supervisor/call"
)

const (
	sessionFile    = "session.json"
	maxSessionFile = 64 << 10
)

// Session is one session as its session.json has it.
type Session struct {
	ID      ID
	Dir     string // sessions_dir/ID, absolute
	Cwd     string // absolute; where relative paths of its calls begin
	Parent  ID     // "" for a session that no other one started
	Created time.Time
}

// wire is the content of session.json.
type wire struct {
	ID      ID     `json:"id"`
	Parent  ID     `json:"parent,omitempty"`
	Cwd     string `json:"cwd"`
	Created string `json:"created"` // RFC 3339, UTC
}

// Create makes a session in the folder sessions (made when missing). cwd must
// be absolute; parent may be "". When it returns, the session survives a power cut.
func Create(sessions, cwd string, parent ID) (*Session, error) {
	s := &Session{ID: NewID(), Cwd: cwd, Parent: parent, Created: time.Now().UTC().Truncate(time.Millisecond)}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("cannot create a session: %w", err)
	}
	dir, err := sessionsDir(sessions)
	if err != nil {
		return nil, fmt.Errorf("cannot create a session: %w", err)
	}
	s.Dir = filepath.Join(dir, string(s.ID))
	if err := s.write(dir); err != nil {
		return nil, fmt.Errorf("cannot create a session: %w", err)
	}
	return s, nil
}

// write makes the folder whole under another name and renames it into place.
func (s *Session) write(sessions string) (err error) {
	temp := filepath.Join(sessions, newPrefix+string(s.ID))
	if err := os.Mkdir(temp, 0o700); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(temp)
		}
	}()
	data, err := json.Marshal(wire{s.ID, s.Parent, s.Cwd, s.Created.Format(time.RFC3339Nano)})
	if err != nil {
		return err
	}
	if err := safefile.WriteFile(filepath.Join(temp, sessionFile), append(data, '\n'), 0o600); err != nil {
		return err
	}
	if err := os.Rename(temp, s.Dir); err != nil {
		return err
	}
	return safefile.SyncDir(sessions)
}

// Open reads the session id in the folder sessions. Its folder and file must be
// ours and closed to others, and the file must be exactly what Create writes.
func Open(sessions string, id ID) (*Session, error) {
	if _, err := ParseID(string(id)); err != nil {
		return nil, fmt.Errorf("cannot open the session: %w", err)
	}
	sessions, err := filepath.Abs(sessions)
	if err != nil {
		return nil, fmt.Errorf("cannot open the session %s: %w", id, err)
	}
	dir := filepath.Join(sessions, string(id))
	f, err := safefile.OpenPrivateDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot open the session %s: there is none of that id in %s: %w", id, sessions, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open the session %s: %w", id, err)
	}
	f.Close()
	path := filepath.Join(dir, sessionFile)
	data, err := safefile.ReadPrivate(path, maxSessionFile)
	if err != nil {
		return nil, fmt.Errorf("cannot open the session %s: %w", id, err)
	}
	s, err := parseSession(data)
	if err == nil && s.ID != id {
		err = fmt.Errorf("id: it says %s", s.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open the session %s: %s: %w", id, path, err)
	}
	s.Dir = dir
	return s, nil
}

// parseSession reads session.json: an object of the known keys, each a string.
func parseSession(data []byte) (*Session, error) {
	v, err := strictjson.Parse(data, strictjson.Options{})
	if err != nil {
		return nil, err
	}
	if v.Kind != strictjson.Object {
		return nil, errors.New("it is no JSON object")
	}
	var w wire
	fields := map[string]*string{
		"id": (*string)(&w.ID), "parent": (*string)(&w.Parent), "cwd": &w.Cwd, "created": &w.Created,
	}
	for i := range v.Members {
		m := &v.Members[i]
		field := fields[m.Name]
		if field == nil {
			return nil, fmt.Errorf("unknown key %q", m.Name)
		}
		if m.Value.Kind != strictjson.String {
			return nil, fmt.Errorf("%s: it must be a string", m.Name)
		}
		*field = m.Value.Text
	}
	s := &Session{ID: w.ID, Cwd: w.Cwd, Parent: w.Parent}
	if s.Created, err = time.Parse(time.RFC3339Nano, w.Created); err != nil {
		return nil, fmt.Errorf("created: %q is no time as in RFC 3339", w.Created)
	}
	return s, s.check()
}

// check judges the values, wherever they come from.
func (s *Session) check() error {
	if _, err := ParseID(string(s.ID)); err != nil {
		return fmt.Errorf("id: %w", err)
	}
	if s.Parent != "" {
		if _, err := ParseID(string(s.Parent)); err != nil {
			return fmt.Errorf("parent: %w", err)
		}
	}
	switch {
	case !filepath.IsAbs(s.Cwd):
		return fmt.Errorf("cwd: %q is not an absolute path", s.Cwd)
	case !utf8.ValidString(s.Cwd):
		return fmt.Errorf("cwd: %q is not UTF-8, which session.json cannot hold", s.Cwd)
	}
	return nil
}

// AttachDir makes and returns the folder of one call's attachments.
func (s *Session) AttachDir(id call.ID) (string, error) { return s.folder("attach", id) }

// SpillDir makes and returns the folder of one call's output in full.
func (s *Session) SpillDir(id call.ID) (string, error) { return s.folder("spill", id) }

func (s *Session) folder(kind string, id call.ID) (string, error) {
	if _, err := ParseCallID(string(id)); err != nil {
		return "", err
	}
	dir := filepath.Join(s.Dir, kind)
	if err := safefile.EnsurePrivateDir(dir); err != nil {
		return "", err
	}
	dir = filepath.Join(dir, string(id))
	return dir, safefile.EnsurePrivateDir(dir)
}

// sessionsDir makes the folder of sessions when missing and checks that nobody
// but root and we can exchange what is in it. It may be readable by others:
// each session in it is closed.
func sessionsDir(path string) (string, error) {
	dir, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	return dir, safefile.CheckEntry(dir, info, os.Geteuid())
}
