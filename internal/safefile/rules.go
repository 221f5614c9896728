package safefile

import (
	"fmt"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// unixStat is what os.FileInfo.Sys holds on Linux.
type unixStat = syscall.Stat_t

// breach is one broken rule; the zero value is none.
type breach struct{ rule, fix string }

// checkOwner: the component belongs to root or uid.
func checkOwner(owner uint32, uid int) breach {
	if owner == 0 || int64(owner) == int64(uid) {
		return breach{}
	}
	want := "root"
	if uid != 0 {
		want = fmt.Sprintf("root or uid %d", uid)
	}
	return breach{fmt.Sprintf("belongs to uid %d, not to %s", owner, want), fmt.Sprintf("chown -h %d", uid)}
}

// checkMode: neither group nor others may write. On the way (last false) a
// sticky folder may be open to all. A symlink's own mode means nothing.
func checkMode(mode uint32, last bool) breach {
	kind := mode & unix.S_IFMT
	if kind == unix.S_IFLNK || (kind == unix.S_IFDIR && mode&unix.S_ISVTX != 0 && !last) {
		return breach{}
	}
	switch {
	case mode&0o002 != 0:
		return breach{fmt.Sprintf("is writable by others (mode %04o)", mode&0o7777), "chmod o-w,g-w"}
	case mode&0o020 != 0:
		return breach{fmt.Sprintf("is writable by its group (mode %04o)", mode&0o7777), "chmod g-w"}
	}
	return breach{}
}

// broken makes an error of the first breach, nil when there is none.
func broken(asked, component string, found ...breach) error {
	for _, b := range found {
		if b.rule != "" {
			e := &UntrustedError{Path: asked, Component: component, Rule: b.rule}
			if filepath.Clean(asked) == component {
				e.Component = asked
			}
			if b.fix != "" {
				e.Fix = b.fix + " " + component
			}
			return e
		}
	}
	return nil
}
