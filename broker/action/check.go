package action

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// What can be reviewed. A person reads all of it, so the numbers are about
// people, not about the kernel (which takes 128 KiB in one argument).
const (
	MaxText     = 64 << 10 // bytes of the review text
	MaxArgument = 16 << 10 // bytes of one argument, variable or opened path, as they are
	MaxItems    = 1024     // arguments, variables, groups
	maxPath     = 4095     // what the kernel takes
	maxName     = 256      // a user's or group's name
	maxFiles    = 8        // interpreters, opened files
)

// ErrTooLong is part of the error for a request that nobody can be asked to
// read. It is answered with ReasonTooLong.
var ErrTooLong = errors.New("the request is too long to be reviewed")

// check refuses every request that has no single right meaning. Errors name
// the field, the rule and the fix.
func (r *Request) check() error {
	checks := []func() error{
		r.checkArgv, r.checkFiles, r.checkEnv, r.checkIdentities, r.checkNumbers, r.checkStdin, r.checkOrigin,
	}
	for _, c := range checks {
		if err := c(); err != nil {
			return err
		}
	}
	return nil
}

func (r *Request) checkArgv() error {
	if len(r.Argv) == 0 || r.Argv[0] == "" {
		return errors.New("argv: must have at least one word, and the first must not be empty: it is the program's name")
	}
	if err := items("argv", len(r.Argv)); err != nil {
		return err
	}
	sum := 0
	for _, arg := range r.Argv {
		sum += len(arg)
	}
	for _, v := range r.Env {
		sum += len(v.Name) + len(v.Value)
	}
	if sum > MaxText { // before anything of that size is rendered
		return fmt.Errorf("argv, env: %d bytes together, at most %d can be read by a person: %w", sum, MaxText, ErrTooLong)
	}
	for i, arg := range r.Argv {
		if err := text(fmt.Sprintf("argv[%d]", i), arg, MaxArgument); err != nil {
			return err
		}
	}
	return nil
}

func (r *Request) checkFiles() error {
	if err := r.Executable.check("executable"); err != nil {
		return err
	}
	if len(r.Interpreters) > maxFiles || len(r.Opened) > maxFiles {
		return fmt.Errorf("interpreters, opened: at most %d each", maxFiles)
	}
	for i, f := range r.Interpreters {
		if err := f.check(fmt.Sprintf("interpreters[%d]", i)); err != nil {
			return err
		}
	}
	for i, f := range r.Opened {
		name := fmt.Sprintf("opened[%d]", i)
		if want := 3 + i; int(f.Descriptor) != want {
			return fmt.Errorf("%s: is descriptor %d; they are 3, 4, ... in order", name, f.Descriptor)
		}
		if err := absolute(name, f.Path); err != nil {
			return err
		}
	}
	return absolute("cwd", r.Cwd)
}

func (f *File) check(name string) error {
	if f.SHA256.IsZero() {
		return fmt.Errorf("%s: has no digest", name)
	}
	return absolute(name, f.Path)
}

func (r *Request) checkEnv() error {
	if err := items("env", len(r.Env)); err != nil {
		return err
	}
	for i, v := range r.Env {
		name := fmt.Sprintf("env[%d]", i)
		if v.Name == "" || strings.ContainsAny(v.Name, "=\x00") {
			return fmt.Errorf("%s: %q is no name of a variable: it is empty or holds = or NUL", name, v.Name)
		}
		if i > 0 && r.Env[i-1].Name >= v.Name {
			return fmt.Errorf("%s: %q stands after %q; names are unique and sorted", name, v.Name, r.Env[i-1].Name)
		}
		if err := text(name, v.Name+"="+v.Value, MaxArgument); err != nil {
			return err
		}
	}
	return nil
}

func (r *Request) checkIdentities() error {
	for _, c := range []struct {
		name string
		id   uint32
	}{
		{"run_as.uid", uint32(r.RunAs.UID)},
		{"run_as.gid", uint32(r.RunAs.GID)},
		{"requester.uid", uint32(r.Requester.UID)},
		{"requester.gid", uint32(r.Requester.GID)},
	} {
		if c.id == NoID {
			return fmt.Errorf("%s: %d is no id; the kernel takes it for \"no change\"", c.name, c.id)
		}
	}
	for _, c := range []struct{ name, value string }{{"run_as.user", r.RunAs.User}, {"run_as.group", r.RunAs.Group}} {
		if err := text(c.name, c.value, maxName); err != nil {
			return err
		}
	}
	if err := groups("run_as.groups", r.RunAs.Groups); err != nil {
		return err
	}
	return groups("requester.groups", r.Requester.Groups)
}

func groups(name string, gids []GID) error {
	if err := items(name, len(gids)); err != nil {
		return err
	}
	if slices.Contains(gids, NoID) {
		return fmt.Errorf("%s: %d is no group id", name, uint32(NoID))
	}
	for i := 1; i < len(gids); i++ {
		if gids[i-1] >= gids[i] {
			return fmt.Errorf("%s: %d stands after %d; they are unique and ascending", name, gids[i], gids[i-1])
		}
	}
	return nil
}

func (r *Request) checkNumbers() error {
	if r.Umask > 0o777 {
		return fmt.Errorf("umask: %#o is above 0777", r.Umask)
	}
	if err := checkDuration(r.Timeout); err != nil {
		return fmt.Errorf("timeout: %w", err)
	}
	if r.Limits.CPU != 0 {
		if err := checkDuration(r.Limits.CPU); err != nil {
			return fmt.Errorf("limits.cpu: %w", err)
		}
	}
	return nil
}

func (r *Request) checkStdin() error {
	switch {
	case r.Stdin.Mode == StdinSealed && len(r.Stdin.Content) > MaxText:
		return fmt.Errorf("stdin: has %d bytes, at most %d can be read by a person: %w", len(r.Stdin.Content), MaxText, ErrTooLong)
	case r.Stdin.Mode == StdinSealed:
		return nil
	case r.Stdin.Mode != StdinNone && r.Stdin.Mode != StdinPass:
		return errors.New("stdin: the mode is not set; it is none, sealed or pass")
	case r.Stdin.Content != "":
		return errors.New("stdin: has content, but is not sealed")
	}
	return nil
}

func (r *Request) checkOrigin() error {
	if _, err := ParseRuleID(string(r.Rule)); err != nil {
		return fmt.Errorf("rule: %w", err)
	}
	switch {
	case r.RuleDigest.IsZero():
		return errors.New("rule_digest: is not set")
	case r.Nonce == Nonce{}:
		return errors.New("nonce: is not set")
	case r.Install == InstallID{}:
		return errors.New("install: is not set")
	case r.Expires != time.Unix(r.Expires.Unix(), 0).UTC() || r.Expires.Year() < 1970 || r.Expires.Year() > 9999:
		return fmt.Errorf("expires: %v must be whole seconds in UTC, from 1970 to 9999", r.Expires)
	}
	return nil
}

func items(name string, n int) error {
	if n > MaxItems {
		return fmt.Errorf("%s: has %d items, at most %d can be read by a person: %w", name, n, MaxItems, ErrTooLong)
	}
	return nil
}

func text(name, s string, limit int) error {
	if len(s) > limit {
		return fmt.Errorf("%s: has %d bytes, at most %d can be read by a person: %w", name, len(s), limit, ErrTooLong)
	}
	if strings.IndexByte(s, 0) >= 0 {
		return fmt.Errorf("%s: holds a NUL byte, which no argument, path or variable can", name)
	}
	return nil
}

func absolute(name, path string) error {
	if !strings.HasPrefix(path, "/") || len(path) > maxPath {
		return fmt.Errorf("%s: the path must be absolute and at most %d bytes", name, maxPath)
	}
	return text(name, path, maxPath)
}
