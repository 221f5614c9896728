// Package testneed is how a test says what it needs from the machine, and the
// only place where a test may be skipped (the rule tests at the root see to it).
//
// A need that a package manager or root can meet (Root, Program, CgroupV2) is
// met on the machines that judge a change: with CI=true its absence is a
// failure, elsewhere the test is skipped. A need that only another kernel can
// meet (Kernel) is a skip everywhere. Each reason begins with Prefix, and the
// summary of make test lists every skipped test with its reason.
//
// Do not use it to get round a flaky or a slow test.
package testneed

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Prefix begins the reason of every skipped test.
const Prefix = "needs: "

// Root needs the effective user id 0.
func Root(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		missing(t, "root (run the tests as uid 0)")
	}
}

// Program needs a program on PATH (or in the sbin folders) and returns its
// absolute path. The Debian package is named when it differs from the program.
func Program(t testing.TB, name string, debianPackage ...string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		if abs, err := filepath.Abs(path); err == nil {
			return abs
		}
	}
	for _, dir := range []string{"/usr/sbin", "/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	pkg := name
	if len(debianPackage) > 0 {
		pkg = strings.Join(debianPackage, " ")
	}
	missing(t, "the program "+name+" (apt-get install "+pkg+")")
	return ""
}

// CgroupV2 needs a cgroup v2 hierarchy in which this process may create and
// remove groups below its own.
func CgroupV2(t testing.TB) {
	t.Helper()
	dir := ownCgroup()
	if dir == "" {
		missing(t, "a mounted cgroup v2 hierarchy")
		return
	}
	probe, err := os.MkdirTemp(dir, "snens-test-")
	if err != nil {
		missing(t, "a writable cgroup v2 hierarchy ("+err.Error()+")")
		return
	}
	if err := os.Remove(probe); err != nil {
		t.Fatalf("cannot remove the probe cgroup: %v", err)
	}
}

// Kernel needs something only the kernel can have; have says whether it is
// there. A test without it is skipped everywhere, on judging machines too.
func Kernel(t testing.TB, have bool, what string) {
	t.Helper()
	if !have {
		t.Skip(Prefix + "a kernel with " + what)
	}
}

func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(Prefix + what + "; with CI=true this is a failure")
	}
	t.Skip(Prefix + what)
}

// ownCgroup is the folder of this process in the v2 hierarchy, "" without one.
func ownCgroup() string {
	mount := mountPoint()
	if mount == "" {
		return ""
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(own)) {
		if path, ok := strings.CutPrefix(line, "0::"); ok {
			return filepath.Join(mount, strings.TrimSpace(path))
		}
	}
	return ""
}

func mountPoint() string {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > 2 && f[2] == "cgroup2" {
			return f[1]
		}
	}
	return ""
}
