package safefile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile puts data at path atomically and durably: readers see the old or
// the new content and never a part, and when it returns nil the new content
// survives a power cut. The file gets exactly mode perm (no umask) and belongs to us;
// a symlink at path is replaced, not followed. The folder must exist. A crash
// can leave a file .NAME.*.tmp beside it.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	return replace(path, data, perm, true)
}

// ReplaceFile is WriteFile without the promise about power cuts, and much
// faster for it.
func ReplaceFile(path string, data []byte, perm fs.FileMode) error {
	return replace(path, data, perm, false)
}

func replace(path string, data []byte, perm fs.FileMode, durable bool) (err error) {
	dir, name := filepath.Split(filepath.Clean(path))
	if dir == "" {
		dir = "."
	}
	temp := filepath.Join(dir, "."+name+"."+rand.Text()[:12]+".tmp")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(temp)
			err = fmt.Errorf("cannot write %s: %w", path, err)
		}
	}()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if perm != 0o600 {
		if err := f.Chmod(perm); err != nil {
			return err
		}
	}
	if durable {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	if durable {
		// The new content is in place already: only its durability failed.
		return SyncDir(dir)
	}
	return nil
}

// SyncDir makes the entries of a folder durable: names made, renamed or removed.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("cannot open the folder to sync it: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}
