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

// source is what an administrator has before make install: the checkout, built.
// It is made when the first test asks, so that a run that skips builds nothing.
var source = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(scratch, "source")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	for _, part := range []string{"Makefile", "scripts", "contrib", "docs", "tools"} {
		if out, err := exec.Command("cp", "-a", filepath.Join(checkout, part), dir).CombinedOutput(); err != nil {
			return "", fmt.Errorf("cannot copy %s: %w\n%s", part, err, out)
		}
	}
	build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(dir, "bin")+"/", "./cmd/snens", "./cmd/snens-tools", "./cmd/snens-priv", "./cmd/snens-audit")
	abs, err := filepath.Abs(checkout)
	if err != nil {
		return "", err
	}
	build.Dir, build.Env = abs, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build the programs: %w\n%s", err, out)
	}
	return dir, nil
})

// staged is the layer that make install DESTDIR= makes.
var staged = sync.OnceValues(func() (string, error) {
	from, err := source()
	if err != nil {
		return "", err
	}
	root := filepath.Join(scratch, "staged")
	// The folder is the machine's root folder: not for its owner alone.
	if err := os.Mkdir(root, 0o755); err != nil {
		return "", err
	}
	if out, err := exec.Command("make", "-C", from, "install", "DESTDIR="+root).CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot install: %w\n%s", err, out)
	}
	return root, nil
})
