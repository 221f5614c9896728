package prepare

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"snens/broker/action"
	"snens/internal/safefile"
)

const installFile = "install-id"

// LoadInstallID reads the id of this installation from the file install-id in
// the state folder, which is the caller's to make (safefile.EnsurePrivateDir);
// the first call ever makes it, durably. Of several first ones at a time all get
// the same. A file that others may read or write, or that holds something else,
// is an error. A crash in the first call can leave a file .install-id.* beside it.
// A copy of the folder is the same installation: do not copy it to another host.
func LoadInstallID(stateDir string) (action.InstallID, error) {
	path := filepath.Join(stateDir, installFile)
	id, err := readInstallID(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return id, err
	}
	if err := makeInstallID(stateDir, path); err != nil {
		return action.InstallID{}, fmt.Errorf("cannot make the id of this installation: %w", err)
	}
	return readInstallID(path)
}

func readInstallID(path string) (action.InstallID, error) {
	data, err := safefile.ReadPrivate(path, 64)
	if err != nil {
		return action.InstallID{}, fmt.Errorf("cannot read the id of this installation: %w", err)
	}
	id, err := action.ParseInstallID(strings.TrimSuffix(string(data), "\n"))
	if err == nil && id == (action.InstallID{}) {
		err = errors.New("it is all zeros")
	}
	if err != nil {
		return action.InstallID{}, fmt.Errorf("cannot use %s: %w; remove it and the broker makes a new one, which ends all waiting requests", path, err)
	}
	return id, nil
}

// makeInstallID links a complete file into place, which fails for all but the
// first who does it.
func makeInstallID(stateDir, path string) error {
	var id action.InstallID
	var mark [8]byte
	rand.Read(id[:])
	rand.Read(mark[:])
	whole := filepath.Join(stateDir, fmt.Sprintf(".%s.%x", installFile, mark))
	if err := safefile.WriteFile(whole, []byte(id.String()+"\n"), 0o600); err != nil {
		return err
	}
	defer os.Remove(whole)
	if err := os.Link(whole, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return safefile.SyncDir(stateDir)
}
