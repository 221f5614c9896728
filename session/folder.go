package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"snens/internal/safefile"
	"snens/supervisor/call"
)

// Folder is the folder of one running call, locked by this process.
type Folder struct {
	ID  call.ID
	Dir string // absolute; removed by Close

	calls *Calls
	mu    sync.Mutex // guards lock and size
	lock  *safefile.Lock
	size  int64 // bytes recorded
}

// Record writes down how the call's processes can be found should this process
// die. A later Record replaces an earlier one. identity is any JSON value of at
// most 64 KiB; Leftovers hands it back unread.
func (f *Folder) Record(identity json.RawMessage) error {
	var line bytes.Buffer
	line.WriteByte('\n') // parts it from a line that a full disk cut short
	if err := json.Compact(&line, identity); err != nil || line.Len() > maxIdentity {
		return fmt.Errorf("cannot record the identity of call %s: it must be JSON of at most %d bytes", f.ID, maxIdentity)
	}
	line.WriteByte('\n')
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lock == nil {
		return fmt.Errorf("cannot record the identity of call %s: its folder is closed", f.ID)
	}
	if f.size += int64(line.Len()); f.size > maxLockFile/2 {
		return fmt.Errorf("cannot record the identity of call %s: it was recorded too often", f.ID)
	}
	if _, err := f.lock.File().Write(line.Bytes()); err != nil {
		return fmt.Errorf("cannot record the identity of call %s: %w", f.ID, err)
	}
	return nil
}

// TempFile puts content into a new file that only we can read and returns its
// absolute path. It is gone after Close. The name is only a wish: characters
// outside A-Z a-z 0-9 . _ - become _, and a name that is taken gets a number.
func (f *Folder) TempFile(name string, content []byte) (string, error) {
	dir := filepath.Join(f.Dir, filesName)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("cannot make a temporary file: %w", err)
	}
	wish := fileName(name)
	for n := 1; ; n++ {
		path := filepath.Join(dir, wish)
		if n > 1 {
			path = filepath.Join(dir, fmt.Sprintf("%d-%s", n, wish))
		}
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("cannot make a temporary file: %w", err)
		}
		_, err = file.Write(content)
		if err = errors.Join(err, file.Close()); err != nil {
			return "", errors.Join(fmt.Errorf("cannot write a temporary file: %w", err), os.Remove(path))
		}
		return path, nil
	}
}

// fileName makes a plain file name of a wish: no folder, not hidden, at most 64 bytes.
func fileName(wish string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '_'
	}, wish)
	// A dot would hide it, a dash would make an option of it.
	name = strings.TrimLeft(name[:min(len(name), 64)], ".-")
	if name == "" {
		return "file"
	}
	return name
}

// AttachDir makes and returns the folder in which the call may leave
// attachments. It lies in the call's spill folder, because the result that
// names them outlives the call; Close removes it when it is empty.
func (f *Folder) AttachDir() (string, error) {
	dir, err := f.calls.SpillDir(f.ID)
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "attach")
	return dir, safefile.EnsurePrivateDir(dir)
}

// Close removes the folder and frees the lock: the call has ended and nothing
// of it runs any more. Calling it again does nothing.
func (f *Folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lock == nil {
		return nil
	}
	lock := f.lock
	f.lock = nil
	// Only empty folders go; with anything in them these fail, as they should.
	spill := filepath.Join(f.calls.spill, string(f.ID))
	_ = unix.Rmdir(filepath.Join(spill, "attach"))
	_ = unix.Rmdir(spill)
	return f.calls.remove(f.ID, lock)
}
