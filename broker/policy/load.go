package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"snens/internal/escape"
	"snens/internal/safefile"
	"snens/internal/tomlread"
)

// The usual places.
const (
	MainFile = "/etc/snens/priv.toml"
	DropIns  = "/etc/snens/priv.d"
)

// Bounds of what is read.
const (
	maxFile     = 1 << 20
	maxPolicies = 256
	maxFaults   = 100
	maxIgnored  = 20
)

// Options say how a policy is to be taken.
type Options struct {
	UserMode bool // --user: actions run as Owner, approvals are by terminal
	Owner    UID  // who besides root may own the files; 0 = root alone
}

// File is one policy file, read.
type File struct{ Path, Text string }

// Load reads file, which must exist, then the *.toml files of the folder dropIns
// by the byte order of their names, and makes a policy of them. The folder need
// not exist. Every file must be a regular file that only root (and
// Options.Owner) can have written, its folders included; a file that looks like
// what an editor or a package manager left behind is an error, because one of
// the two versions is not what people think it is.
//
// The error lists every fault, one per line, in the order of the files.
func Load(file, dropIns string, host Host, opt Options) (*Policy, error) {
	paths, notes, faults := list(file, dropIns, opt)
	var files []File
	for _, p := range paths {
		text, err := safefile.ReadTrusted(p, int(opt.Owner), maxFile)
		if err != nil {
			faults = append(faults, &tomlread.Fault{File: p, Text: err.Error()})
			continue
		}
		files = append(files, File{p, string(text)})
	}
	p, more := parse(files, host, opt)
	faults = append(faults, more...)
	if len(faults) > 0 {
		return nil, faultsError(faults)
	}
	p.Notes = append(notes, p.Notes...)
	return p, nil
}

// LoadSystem is Load on this machine, with its users and groups as they are
// now. This is what a Holder should be given.
func LoadSystem(file, dropIns string, opt Options) (*Policy, error) {
	host, err := System(opt.Owner)
	if err != nil {
		return nil, fmt.Errorf("cannot use the policy: %w", err)
	}
	return Load(file, dropIns, host, opt)
}

// Parse makes a policy of files that were read already, in their order.
func Parse(files []File, host Host, opt Options) (*Policy, error) {
	p, faults := parse(files, host, opt)
	if len(faults) > 0 {
		return nil, faultsError(faults)
	}
	return p, nil
}

func faultsError(faults []*tomlread.Fault) error {
	if len(faults) == 1 {
		return fmt.Errorf("cannot use the policy: %w", faults[0])
	}
	return fmt.Errorf("cannot use the policy:\n%w", tomlread.Join(faults, maxFaults))
}

// list names the files to be read.
func list(file, dropIns string, opt Options) (paths, notes []string, faults []*tomlread.Fault) {
	fail := func(path, format string, args ...any) {
		faults = append(faults, &tomlread.Fault{File: escape.Line(path), Text: fmt.Sprintf(format, args...)})
	}
	check := func(path string) {
		if why := notAFile(path); why != "" {
			fail(path, "%s", why)
			return
		}
		paths = append(paths, path)
	}
	check(file)
	entries, err := os.ReadDir(dropIns)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return paths, notes, faults
	case err != nil:
		fail(dropIns, "cannot be listed: %s", err)
		return paths, notes, faults
	}
	if err := safefile.CheckTrusted(dropIns, int(opt.Owner)); err != nil {
		fail(dropIns, "%s", err)
		return paths, notes, faults
	}
	for _, e := range entries { // sorted by name, byte by byte
		full := filepath.Join(dropIns, e.Name())
		switch {
		case leftover(e.Name()):
			fail(full, "looks like what an editor or a package manager left behind; merge it into the file it belongs to and remove it")
		case strings.HasSuffix(e.Name(), ".toml"):
			check(full)
		case len(notes) < maxIgnored:
			notes = append(notes, escape.Line(full)+" is passed over: its name does not end in .toml")
		}
	}
	if len(paths) > maxPolicies {
		fail(dropIns, "holds more than %d files", maxPolicies)
	}
	return paths, notes, faults
}

// notAFile says why path is no regular file. Reading would follow a symlink,
// which may lead anywhere in a tree that is trusted: a policy is where it is.
func notAFile(path string) string {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist; a policy that allows nothing is an empty file"
	case err != nil:
		return err.Error()
	case info.Mode().IsRegular():
		return ""
	case info.Mode()&fs.ModeSymlink != 0:
		return "is a symlink; put the file itself there"
	case info.IsDir():
		return "is a folder, not a regular file"
	case info.Mode()&fs.ModeNamedPipe != 0:
		return "is a FIFO, not a regular file"
	}
	return "is not a regular file"
}

// leftover names what is written beside a file when it is edited or upgraded.
func leftover(name string) bool {
	for _, end := range []string{"~", ".rpmnew", ".rpmsave", ".rpmorig", ".dpkg-new", ".dpkg-old", ".dpkg-dist", ".dpkg-tmp", ".ucf-new", ".ucf-old", ".ucf-dist", ".bak", ".old", ".orig", ".rej", ".save", ".swp", ".swo", ".tmp"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".toml") || strings.HasPrefix(name, ".#") || strings.HasPrefix(name, "#")
}

func parse(files []File, host Host, opt Options) (*Policy, []*tomlread.Fault) {
	p := &Policy{host: host, UserMode: opt.UserMode}
	var faults []*tomlread.Fault
	var all []*draft
	var decoders []*decoder
	seen := map[string]string{}
	for _, f := range files {
		p.Files = append(p.Files, f.Path)
		r, values, err := tomlread.Open(escape.Line(f.Path), f.Text)
		var fault *tomlread.Fault
		switch {
		case errors.As(err, &fault):
			faults = append(faults, fault)
			continue
		case err != nil:
			faults = append(faults, &tomlread.Fault{File: escape.Line(f.Path), Text: err.Error()})
			continue
		}
		d := &decoder{Reader: r, opt: opt, host: host, p: p, seen: seen, all: &all}
		d.file(values)
		decoders = append(decoders, d)
	}
	together(all)
	for _, d := range decoders {
		faults = append(faults, d.Faults()...)
	}
	if len(faults) > 0 {
		slices.SortStableFunc(faults, func(a, b *tomlread.Fault) int { return fileIndex(files, a) - fileIndex(files, b) })
		return nil, faults
	}
	p.finish(all)
	return p, nil
}

func fileIndex(files []File, f *tomlread.Fault) int {
	return slices.IndexFunc(files, func(file File) bool { return escape.Line(file.Path) == f.File })
}

// finish makes the whole of the parts.
func (p *Policy) finish(all []*draft) {
	if p.SecurePath == nil {
		for _, dir := range defaultSecurePath {
			if err := p.host.Files.Trusted(dir); err == nil {
				p.SecurePath = append(p.SecurePath, dir)
			} else if !errors.Is(err, fs.ErrNotExist) {
				p.Notes = append(p.Notes, fmt.Sprintf("%s is left out of secure_path: %s", dir, err))
			}
		}
	}
	for _, r := range all {
		if r.Decision != Deny {
			r.base = overlay(builtin(r.RunAs, p.SecurePath), r.Env)
		}
		r.Digest = digest(r.Rule)
		p.Rules = append(p.Rules, r.Rule)
	}
	p.lint()
}
