package prepare_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"snens/broker/action"
	"snens/broker/prepare"
)

func TestInstallID(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o700))
	var mu sync.Mutex
	seen := map[action.InstallID]int{}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			id, err := prepare.LoadInstallID(dir)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			seen[id]++
		})
	}
	all.Wait()
	if len(seen) != 1 || seen[action.InstallID{}] != 0 {
		t.Errorf("ids: %v", seen)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "install-id" {
		t.Errorf("left in the folder: %v, %v", entries, err)
	}
	info, err := os.Stat(filepath.Join(dir, "install-id"))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if other, err := prepare.LoadInstallID(t.TempDir()); err != nil || seen[other] != 0 {
		t.Errorf("another installation: %v, %v", other, err)
	}
}

func TestInstallIDRefuses(t *testing.T) {
	good := strings.Repeat("0a", 16) + "\n"
	for name, c := range map[string]struct {
		content string
		mode    os.FileMode
		words   string
	}{
		"empty":       {"", 0o600, "remove it"},
		"short":       {good[:20], 0o600, "remove it"},
		"upper case":  {strings.ToUpper(good), 0o600, "remove it"},
		"zeros":       {strings.Repeat("0", 32), 0o600, "zeros"},
		"two lines":   {good + good, 0o600, "too big"},
		"two ends":    {good + "\n", 0o600, "remove it"},
		"writable":    {good, 0o620, "install-id"},
		"for all":     {good, 0o666, "install-id"},
		"readable":    {good, 0o644, "install-id"},
		"and good":    {good, 0o600, ""},
		"without end": {strings.TrimSpace(good), 0o600, ""},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "install-id")
		must(t, os.WriteFile(path, []byte(c.content), 0o600))
		must(t, os.Chmod(path, c.mode))
		id, err := prepare.LoadInstallID(dir)
		if c.words == "" {
			if err != nil || id.String() != strings.TrimSpace(good) {
				t.Errorf("%s: %v, %v", name, id, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.words) || id != (action.InstallID{}) {
			t.Errorf("%s: %v, %v", name, id, err)
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != c.content {
			t.Errorf("%s: it was changed: %q, %v", name, data, err)
		}
	}
	dir := t.TempDir()
	must(t, os.Symlink("/etc/hostname", filepath.Join(dir, "install-id")))
	if _, err := prepare.LoadInstallID(dir); err == nil {
		t.Error("a symlink is read")
	}
	if _, err := prepare.LoadInstallID(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}
