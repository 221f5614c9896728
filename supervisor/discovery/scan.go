package discovery

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// NoteKind says what a note is about.
type NoteKind string

// The kinds of notes.
const (
	NoteMissing    NoteKind = "missing"    // a tools folder does not exist
	NoteUnreadable NoteKind = "unreadable" // a tools folder cannot be listed
	NoteCache      NoteKind = "cache"      // the cache folder is there but must not be used
)

// Note is something to tell about a folder, not about one tool.
type Note struct {
	Kind NoteKind
	Path string
	Text string // one line, complete: "cannot list ..."
}

// scanned are the spots of all folders.
type scanned struct {
	groups [][]spot // sorted by name; within a group in the order of the folders
	listed []string // folders that could be listed
	notes  []Note
}

// scan lists the tools folders. Hidden entries and plain files that cannot be
// executed (README, LICENSE) are no tools.
func (p *pass) scan() scanned {
	var out scanned
	byName := map[string][]spot{}
	for _, dir := range p.finder.opts.Dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			out.notes = append(out.notes, folderNote(dir, err))
			if entries == nil {
				continue
			}
		} else {
			out.listed = append(out.listed, dir)
		}
		for _, e := range entries {
			s := spot{dir, e.Name()}
			if e.IsDir() && s.name[0] != '.' || !e.IsDir() && isCandidate(s) {
				byName[s.name] = append(byName[s.name], s)
			}
		}
	}
	for _, group := range byName {
		out.groups = append(out.groups, group)
	}
	slices.SortFunc(out.groups, func(a, b []spot) int { return strings.Compare(a[0].name, b[0].name) })
	return out
}

// spots are the places of one name, without listing any folder.
func (p *pass) spots(name string) []spot {
	if name == "" || len(name) > unix.NAME_MAX || strings.ContainsAny(name, "/\x00") {
		return nil
	}
	var out []spot
	for _, dir := range p.finder.opts.Dirs {
		if s := (spot{dir, name}); isCandidate(s) {
			out = append(out, s)
		}
	}
	return out
}

// isCandidate: something at tools_dir/NAME that is meant as a tool: a folder,
// a link, or a program that was put there without a folder.
func isCandidate(s spot) bool {
	var st unix.Stat_t
	if s.name[0] == '.' || unix.Lstat(s.folder(), &st) != nil {
		return false
	}
	if isLink(&st) && unix.Stat(s.folder(), &st) != nil {
		return true
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return true
	case unix.S_IFREG:
		return st.Mode&0o111 != 0
	}
	return false
}

func folderNote(dir string, err error) Note {
	if errors.Is(err, fs.ErrNotExist) {
		return Note{Kind: NoteMissing, Path: dir, Text: oneLine("tools folder " + dir + " does not exist")}
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return Note{Kind: NoteUnreadable, Path: dir, Text: oneLine("cannot list tools folder " + dir + ": " + err.Error())}
}
