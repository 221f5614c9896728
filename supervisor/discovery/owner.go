package discovery

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"snens/internal/safefile"
)

// maxLinks bounds how many links one path may go through, as the kernel does.
const maxLinks = 40

// trust answers, for root only, whether somebody else could change a program,
// its folder or what lies on the way. The rule is safefile's; here its answers
// about folders are remembered for one pass, since most tools share them.
type trust struct {
	active bool

	mu      sync.Mutex
	known   map[string]string // path to cause, "" is good; guarded by mu
	targets map[string]bool   // targets of links that are good; guarded by mu
}

func newTrust() *trust {
	return &trust{active: unix.Geteuid() == 0, known: map[string]string{}, targets: map[string]bool{}}
}

// checked asks about a path and everything above it, once.
func (t *trust) checked(path string) string {
	t.mu.Lock()
	cause, ok := t.known[path]
	t.mu.Unlock()
	if ok {
		return cause
	}
	cause = trustCause(safefile.CheckTrusted(path, 0))
	t.mu.Lock()
	t.known[path] = cause
	t.mu.Unlock()
	return cause
}

// inFolder asks about path, which lies in a folder that is already found good
// and whose lstat is st. link is its target when it is a symlink.
func (t *trust) inFolder(path string, st *unix.Stat_t, link string) string {
	switch {
	case !t.active, link == "" && onlyRoot(st), link != "" && t.linked(path, st, link):
		return ""
	}
	return trustCause(safefile.CheckTrusted(path, 0)) // the long way, and the words
}

// linked is chain, remembered by the absolute target: programs with many
// names are looked at once.
func (t *trust) linked(path string, st *unix.Stat_t, link string) bool {
	if st.Uid != 0 || !filepath.IsAbs(link) {
		return t.chain(path, st, link)
	}
	t.mu.Lock()
	good := t.targets[link]
	t.mu.Unlock()
	if good || !t.chain(path, st, link) {
		return good
	}
	t.mu.Lock()
	t.targets[link] = true
	t.mu.Unlock()
	return true
}

// chain follows a link through remembered folders. false only means that the
// long way has to be gone: what a ".." leaves, for one, is not known as text.
func (t *trust) chain(path string, st *unix.Stat_t, link string) bool {
	at := *st
	for range maxLinks {
		if at.Uid != 0 || strings.Contains(link, "..") {
			return false
		}
		if !filepath.IsAbs(link) {
			link = filepath.Dir(path) + "/" + link
		}
		path = link
		if t.checked(filepath.Dir(path)) != "" || unix.Lstat(path, &at) != nil {
			return false
		}
		if !isLink(&at) {
			return onlyRoot(&at)
		}
		var err error
		if link, err = readlink(path); err != nil {
			return false
		}
	}
	return false
}

func onlyRoot(st *unix.Stat_t) bool { return st.Uid == 0 && st.Mode&0o022 == 0 }

func isLink(st *unix.Stat_t) bool { return st.Mode&unix.S_IFMT == unix.S_IFLNK }

func trustCause(err error) string {
	var broken *safefile.UntrustedError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &broken):
		part := broken.Component
		if part == "" {
			part = broken.Path
		}
		return causeUntrusted(part, broken.Rule)
	}
	return causeStart(err)
}
