package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Prove tries on a restricted thread what the rules forbid and what they leave:
// a new file, a truncation, a chmod, a Unix and an IP socket must fail, a file
// in the writable folder must come about. It costs about a millisecond and
// one temporary folder. nil means that the rules hold on this kernel.
func Prove() error {
	dir, err := os.MkdirTemp("", "snens-prove-")
	if err != nil {
		return fmt.Errorf("cannot try the restrictions out: %w", err)
	}
	defer os.RemoveAll(dir)
	open, kept := filepath.Join(dir, "open"), filepath.Join(dir, "kept")
	if err := os.Mkdir(open, 0o700); err != nil {
		return fmt.Errorf("cannot try the restrictions out: %w", err)
	}
	if err := os.WriteFile(kept, []byte("kept"), 0o600); err != nil {
		return fmt.Errorf("cannot try the restrictions out: %w", err)
	}
	rules := Rules{ReadOnly: true, WriteBeneath: []string{open}, NoNetwork: true, NoUnix: true}
	return Run(rules, func() error {
		if err := os.WriteFile(filepath.Join(open, "new"), nil, 0o600); err != nil {
			return fmt.Errorf("the restrictions do not hold as meant: the writable folder refuses a file: %w", err)
		}
		return errors.Join(
			refused("creating a file", makeFile(filepath.Join(dir, "new"))),
			refused("truncating a file", unix.Truncate(kept, 0)),
			refused("chmod", unix.Chmod(kept, 0o644)),
			refused("a Unix socket", makeSocket(unix.AF_UNIX)),
			refused("an IP socket", makeSocket(unix.AF_INET)),
		)
	})
}

func makeFile(path string) error {
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func makeSocket(family int) error {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// refused turns the outcome round: only a refusal is right.
func refused(what string, err error) error {
	switch {
	case err == nil:
		return fmt.Errorf("the restrictions do not hold: %s was not refused", what)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM), errors.Is(err, unix.EAFNOSUPPORT):
		return nil
	}
	return fmt.Errorf("cannot tell whether %s is refused: %w", what, err)
}
