package nspawn

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// checkout is the root of the repository, seen from this package.
const checkout = "../.."

// scratch is a folder of this run; staged lies in it.
var scratch string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "snens-nspawn-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	scratch = dir
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// staged is the layer that make install makes: built programs, units, policy.
// It is made when the first test asks, so that a run that skips builds nothing.
var staged = sync.OnceValues(func() (string, error) {
	bin, root := filepath.Join(scratch, "bin"), filepath.Join(scratch, "staged")
	build := exec.Command("go", "build", "-trimpath", "-o", bin+"/", "./cmd/snens", "./cmd/snens-tools", "./cmd/snens-priv", "./cmd/snens-audit")
	build.Dir, build.Env = checkout, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build the programs: %w\n%s", err, out)
	}
	// The folder is the machine's root folder: not for its owner alone.
	if err := os.Mkdir(root, 0o755); err != nil {
		return "", err
	}
	install := exec.Command("make", "install", "DESTDIR="+root, "BIN="+bin)
	install.Dir = checkout
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot install: %w\n%s", err, out)
	}
	return root, nil
})
