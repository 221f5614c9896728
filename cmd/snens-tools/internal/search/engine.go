package search

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Another program on the machine (ripgrep, else GNU grep) is far faster at
// telling in which of many files a fixed text occurs. It is asked only that;
// which lines match, and how they look, is decided here, so the lines
// shown are the same with and without it.

// engine narrows lists of files.
type engine struct {
	path string
	rg   bool
}

// findEngine looks for a program in the absolute folders of pathList. This
// program itself, which may be linked there as grep, is passed over.
func findEngine(pathList string) *engine {
	self, _ := os.Stat("/proc/self/exe")
	for _, name := range []string{"rg", "grep"} {
		for _, dir := range filepath.SplitList(pathList) {
			if !filepath.IsAbs(dir) {
				continue
			}
			path := filepath.Join(dir, name)
			info, err := os.Stat(path)
			if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 || self != nil && os.SameFile(self, info) {
				continue
			}
			if name == "rg" || isGNU(path) {
				return &engine{path: path, rg: name == "rg"}
			}
		}
	}
	return nil
}

// isGNU tells GNU grep from others, which know fewer options.
func isGNU(path string) bool {
	out, err := exec.Command(path, "--version").Output()
	return err == nil && bytes.Contains(out, []byte("GNU grep"))
}

// serves says whether the engine can look for what p needs.
func (e *engine) serves(p *pattern) bool {
	if e == nil || len(p.literals) == 0 {
		return false
	}
	if !p.fold {
		return true
	}
	// Where letters beyond ASCII are folded, programs differ: U+212A is a k to
	// us and to ripgrep, but not to grep.
	for _, l := range p.literals {
		for _, c := range []byte(l) {
			if c >= 0x80 || !e.rg && (c == 'k' || c == 'K') {
				return false
			}
		}
	}
	return true
}

// narrow returns the files that may match, in their order. All of them when
// the engine fails in any way.
func (e *engine) narrow(p *pattern, files []file) []file {
	args := e.arguments(p)
	index := make(map[string]int, len(files))
	for i, f := range files {
		name := f.path
		if !filepath.IsAbs(name) {
			name = "./" + name // "-" would mean standard input
		}
		args = append(args, name)
		index[name] = i
	}
	cmd := exec.Command(e.path, args...)
	cmd.Env = []string{"LC_ALL=C.UTF-8"}
	cmd.Stderr = io.Discard
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return files
	}
	hit := make([]bool, len(files))
	for name := range strings.SplitSeq(string(out), "\x00") {
		if i, ok := index[name]; ok {
			hit[i] = true
		}
	}
	var kept []file
	for i, f := range files {
		if hit[i] {
			kept = append(kept, f)
		}
	}
	return kept
}

func (e *engine) arguments(p *pattern) []string {
	args := []string{"-l", "-a", "-F"}
	if e.rg {
		args = append(args, "--no-config", "--color=never", "--null", "--encoding=none", "--no-messages", "--no-mmap")
	} else {
		args = append(args, "-Z", "-s", "--color=never")
	}
	if p.fold {
		args = append(args, "-i")
	}
	for _, l := range p.literals {
		args = append(args, "-e", l)
	}
	return append(args, "--")
}
