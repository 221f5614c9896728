package atomicfile_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"snens/cmd/snens-tools/internal/atomicfile"
	"snens/internal/testneed"
)

// Whoever reads while the file is replaced sees one content or the other.
func TestReadersSeeAWholeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	contents := []string{strings.Repeat("a", 100_000), strings.Repeat("b", 90_000)}
	if err := os.WriteFile(path, []byte(contents[0]), 0o644); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		var err error
		for i := range 40 {
			target, resolveErr := atomicfile.Resolve(path)
			_, replaceErr := target.Replace(strings.NewReader(contents[i%2]), atomicfile.Options{})
			err = errors.Join(err, resolveErr, replaceErr)
		}
		done <- err
	}()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != contents[0] && string(got) != contents[1] {
			t.Errorf("read %d bytes that are neither content, %v", len(got), err)
		}
	}
}

// On a full disk the old content stays and nothing is left behind.
func TestAFullDisk(t *testing.T) {
	testneed.Root(t)
	dir := t.TempDir()
	err := unix.Mount("none", dir, "tmpfs", 0, "size=64k")
	testneed.Kernel(t, !errors.Is(err, unix.EPERM), "the right to mount a tmpfs")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	target, err := atomicfile.Resolve(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = target.Replace(bytes.NewReader(make([]byte, 1<<20)), atomicfile.Options{})
	if err == nil || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("%v; want no space left on device", err)
	}
	holds(t, path, "old", 0o644)
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil || st.Bfree < st.Blocks-2 {
		t.Errorf("%d of %d blocks are free, %v: something was left behind", st.Bfree, st.Blocks, err)
	}
}
