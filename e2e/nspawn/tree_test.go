package nspawn

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const (
	suite = "bookworm" // Debian 12
	// packages are what a booted tree needs, and make, to install with;
	// --variant=minbase brings the rest.
	packages = "systemd,systemd-sysv,dbus,make"
	// recipe is part of the tree's name: change it with what makes the tree.
	recipe = "2"
	// buildLimit bounds debootstrap: a minute of work and 60 MB to fetch.
	buildLimit = 8 * time.Minute
)

// tree is the Debian tree that all machines have as their lowest layer.
var tree = sync.OnceValues(func() (string, error) {
	cache, err := treeCache()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(cache, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return "", fmt.Errorf("cannot lock %s: %w", lock.Name(), err)
	}
	done := filepath.Join(cache, suite+"-"+recipe)
	if _, err := os.Stat(done); err == nil {
		return done, nil
	}
	// Whoever held the lock before us and died has left half a tree.
	building := done + ".building"
	if err := os.RemoveAll(building); err != nil {
		return "", err
	}
	if err := debootstrap(building); err != nil {
		return "", err
	}
	return done, os.Rename(building, done)
})

// treeCache is outside the checkout, and root's.
func treeCache() (string, error) {
	if dir := os.Getenv("SNENS_TREE_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir, err := os.UserCacheDir(); err == nil {
		return filepath.Join(dir, "snens-trees"), nil
	}
	return "/var/cache/snens-trees", nil
}

// debootstrap makes the tree in a mount namespace of its own: what it mounts
// in there, and does not unmount when it fails, is nobody else's.
func debootstrap(to string) error {
	ctx, cancel := context.WithTimeout(context.Background(), buildLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc",
		"debootstrap", "--variant=minbase", "--include="+packages, suite, to)
	cmd.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin", "LC_ALL=C")
	if out, err := cmd.CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("cannot make a Debian tree (debootstrap %s): %w\n%s", suite, err, strings.Join(lines[max(0, len(lines)-10):], "\n"))
	}
	// What a machine must not have in common with another, and what its first
	// start would ask for.
	for name, text := range map[string]string{"etc/machine-id": "", "etc/hostname": "machine\n"} {
		if err := os.WriteFile(filepath.Join(to, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
