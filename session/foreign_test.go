package session_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/safefile"
	"snens/internal/testneed"
	"snens/session"
)

// What is no call folder of ours is neither handed over nor touched.
func TestForeignEntriesAreLeftAlone(t *testing.T) {
	testneed.Root(t)
	c, state := openCalls(t)
	root := state + "/calls"
	id := func() string { return root + "/" + string(session.NewCallID()) }
	longAgo := time.Now().Add(-1000 * time.Hour)

	must(t, os.Mkdir(root+"/notes", 0o700))
	must(t, os.WriteFile(root+"/.new-notes", nil, 0o600))
	must(t, os.WriteFile(id(), nil, 0o600))
	must(t, os.Symlink("/etc", id()))
	must(t, unix.Mkfifo(id(), 0o600))
	foreign := filepath.Join(root, string(dead(t, c, `1`)))
	must(t, os.Chown(foreign, 12345, 0))
	foreignLock := filepath.Join(root, string(dead(t, c, `1`)))
	must(t, os.Chown(foreignLock+"/lock", 12345, 0))
	fifoLock := id()
	must(t, os.Mkdir(fifoLock, 0o700))
	must(t, unix.Mkfifo(fifoLock+"/lock", 0o600))
	lockLess := id()
	must(t, os.Mkdir(lockLess, 0o700))
	foreignNew := root + "/.new-" + string(session.NewCallID())
	must(t, os.Mkdir(foreignNew, 0o700))
	must(t, os.Chown(foreignNew, 12345, 0))
	must(t, os.Chtimes(foreignNew, longAgo, longAgo))

	before := names(t, root)
	if got := scan(t, c); got != nil {
		t.Errorf("handed over: %v", got)
	}
	if after := names(t, root); !slices.Equal(before, after) {
		t.Errorf("before %v\nafter  %v", before, after)
	}
	must(t, os.Chtimes(lockLess, longAgo, longAgo))
	if got := scan(t, c); got != nil {
		t.Errorf("handed over: %v", got)
	}
	if _, err := os.Lstat(lockLess); err == nil {
		t.Error("an old folder without a lock stayed")
	}
}

// Remains of a New or a removal that was cut short.
func TestRemainsAreCleared(t *testing.T) {
	c, state := openCalls(t)
	root := state + "/calls"
	longAgo := time.Now().Add(-time.Hour)
	remains := func(prefix string, withLock bool) string {
		dir := filepath.Join(root, prefix+string(session.NewCallID()))
		must(t, os.MkdirAll(dir+"/files/x", 0o700))
		if withLock {
			must(t, os.WriteFile(dir+"/lock", nil, 0o600))
		}
		must(t, os.Chtimes(dir, longAgo, longAgo))
		return dir
	}
	gone := []string{remains(".new-", true), remains(".new-", false), remains(".gone-", true), remains(".gone-", false)}
	young := remains(".new-", true)
	must(t, os.Chtimes(young, time.Now(), time.Now()))
	busy := []string{remains(".new-", true), remains(".gone-", true)}
	for _, dir := range busy {
		l, err := safefile.TryLock(dir + "/lock")
		must(t, err)
		defer l.Unlock()
	}
	if got := scan(t, c); got != nil {
		t.Errorf("handed over: %v", got)
	}
	for _, dir := range gone {
		if _, err := os.Lstat(dir); err == nil {
			t.Errorf("%s stayed", filepath.Base(dir))
		}
	}
	for _, dir := range append(busy, young) {
		if _, err := os.Lstat(dir + "/files/x"); err != nil {
			t.Errorf("%s was touched: %v", filepath.Base(dir), err)
		}
	}
}
