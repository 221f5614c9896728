package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"snens/internal/safefile"
)

// Base is where state lies when no session says otherwise.
type Base struct {
	Dir string // absolute, 0700, ours, writable
	// Reason is fit for doctor: where Dir comes from and, when it is not the
	// first choice, why the earlier ones were passed over.
	Reason string
}

// StateBase chooses the folder of state and makes it when missing:
//
//  1. $XDG_STATE_HOME/snens, which is ~/.local/state/snens by default,
//  2. $XDG_RUNTIME_DIR/snens,
//  3. /tmp/snens-UID.
//
// A place is passed over when its variable is unset or not absolute, when the
// folder cannot be made or written (a read-only home), or when it is not safe:
// a folder that others can read, or whose nearest existing parent belongs to
// another user (HOME kept across su), for root also one that anybody else can
// write somewhere on its path. getenv is os.Getenv or the like, uid the
// effective uid. When no place is left the error names all of them.
func StateBase(getenv func(string) string, uid int) (Base, error) {
	return stateBase(getenv, uid, "/tmp")
}

// place is one candidate; dir is "" when why says that it does not exist.
type place struct {
	name, dir, why string
	check          func(dir string, uid int) error
}

func stateBase(getenv func(string) string, uid int, tmp string) (Base, error) {
	shared := filepath.Join(tmp, fmt.Sprintf("snens-%d", uid))
	var passed []string
	for _, p := range []place{
		statePlace(getenv),
		variablePlace(getenv, "XDG_RUNTIME_DIR"),
		{name: shared, dir: shared, check: usableShared},
	} {
		if p.why == "" {
			if err := p.check(p.dir, uid); err != nil {
				p.why = err.Error()
			}
		}
		if p.why == "" {
			return Base{p.dir, strings.Join(append([]string{p.name}, passed...), "; ")}, nil
		}
		passed = append(passed, fmt.Sprintf("not %s: %s", p.name, p.why))
	}
	return Base{}, fmt.Errorf("cannot find a folder for state: %s", strings.Join(passed, "; "))
}

func statePlace(getenv func(string) string) place {
	if getenv("XDG_STATE_HOME") != "" {
		if p := variablePlace(getenv, "XDG_STATE_HOME"); p.why == "" {
			return p
		}
	}
	p := variablePlace(getenv, "HOME")
	p.name = "~/.local/state/snens"
	p.dir = filepath.Join(filepath.Dir(p.dir), ".local/state/snens")
	return p
}

// variablePlace is the folder snens in the one that a variable names.
func variablePlace(getenv func(string) string, name string) place {
	p := place{name: "$" + name + "/snens", check: usable}
	switch v := getenv(name); {
	case v == "":
		p.why = name + " is not set"
	case !filepath.IsAbs(v):
		p.why = fmt.Sprintf("%s is %q, not an absolute path", name, v)
	default:
		p.dir = filepath.Join(v, "snens")
		// A home or runtime folder that is not there is not ours to make.
		if _, err := os.Stat(v); err != nil && name != "XDG_STATE_HOME" {
			p.why = err.Error()
		}
	}
	return p
}

// usable makes dir and says why it cannot serve. Nothing is made in a folder
// of another user.
func usable(dir string, uid int) error {
	if err := safefile.CheckNearest(dir, uid); err != nil {
		return err
	}
	return usableNow(dir)
}

// usableShared is usable for a folder that anybody may have made before us.
func usableShared(dir string, uid int) error {
	if err := usableNow(dir); err != nil {
		return err
	}
	// Without the sticky bit others could put another folder in its place.
	return safefile.CheckTrusted(dir, uid)
}

func usableNow(dir string) error {
	if err := safefile.EnsurePrivateDir(dir); err != nil {
		return err
	}
	// A read-only file system answers here, for root too.
	if err := unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil {
		return fmt.Errorf("cannot write to %s: %w", dir, err)
	}
	return nil
}
