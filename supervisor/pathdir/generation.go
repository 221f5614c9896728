package pathdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/safefile"
	"snens/supervisor/tool"
)

// Names inside the base: path -> path-XXXX/{bin,stamp,content}.
const (
	link    = "path"
	prefix  = "path-"
	bin     = "bin"
	self    = "snens"
	stampIn = "stamp"
	content = "content"
)

// The largest files that are read back.
const (
	maxStamp   = 1 << 20
	maxContent = 32 << 20
)

// generation is one built folder.
type generation struct {
	name    string
	stamp   string
	young   bool // see Stamp
	tools   []tool.Ref
	skipped []Skipped
}

// serves: the folder holds just these tools, and what it was built from stands.
// One that was built from a young state is built again once that has aged.
func (g generation) serves(stamp Stamp, tools []tool.Ref) bool {
	return g.stamp == stamp.text && (!g.young || stamp.young) && slices.Equal(g.tools, tools)
}

// build makes a new folder and swaps the link to it. The caller holds the lock.
func (o Options) build(g *generation) error {
	folder, err := os.MkdirTemp(o.Base, prefix)
	if err != nil {
		return err
	}
	g.name = filepath.Base(folder)
	if err := o.fill(folder, *g); err != nil {
		return errors.Join(err, os.RemoveAll(folder))
	}
	fresh := filepath.Join(o.Base, link+".new")
	_ = os.Remove(fresh) // left by a crash
	if err := os.Symlink(g.name, fresh); err != nil {
		return errors.Join(err, os.RemoveAll(folder))
	}
	if err := os.Rename(fresh, filepath.Join(o.Base, link)); err != nil {
		return errors.Join(err, os.Remove(fresh), os.RemoveAll(folder))
	}
	return nil
}

func (o Options) fill(folder string, g generation) error {
	dir := filepath.Join(folder, bin)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if err := os.Symlink(o.Self, filepath.Join(dir, self)); err != nil {
		return err
	}
	skip := map[tool.Name]bool{}
	for _, s := range g.skipped {
		skip[s.Name] = true
	}
	for _, t := range g.tools {
		if skip[t.Name] {
			continue
		}
		if err := os.Symlink(t.Path, filepath.Join(dir, string(t.Name))); err != nil {
			return err
		}
	}
	return g.write(folder)
}

// sweep removes older folders. The one before stays until the next time, for
// a child that is looking a program up at this moment.
func (o Options) sweep(now, before string) {
	entries, _ := os.ReadDir(o.Base)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && e.Name() != now && e.Name() != before {
			_ = os.RemoveAll(filepath.Join(o.Base, e.Name())) // tried again the next time
		}
	}
}

// write puts stamp and content into the folder, whose bin is complete. The
// stamp file begins with the modification time of bin: whoever adds or removes
// a link there makes the stamp wrong. That time is put into the past, because
// a change within the clock's grain would not show.
func (g generation) write(folder string) error {
	past := time.Now().Add(-24 * time.Hour)
	if err := os.Chtimes(filepath.Join(folder, bin), past, past); err != nil {
		return err
	}
	made, err := mtime(filepath.Join(folder, bin))
	if err != nil {
		return err
	}
	age := "old"
	if g.young {
		age = "young"
	}
	head := fmt.Sprintf("%d %s\n", made, age)
	if err := os.WriteFile(filepath.Join(folder, stampIn), []byte(head+g.stamp), 0o600); err != nil {
		return err
	}
	var b strings.Builder
	for _, t := range g.tools {
		fmt.Fprintf(&b, "tool %s %s\n", t.Name, strconv.Quote(t.Path))
	}
	for _, s := range g.skipped {
		fmt.Fprintf(&b, "skip %s %s\n", s.Name, strconv.Quote(s.Command))
	}
	return os.WriteFile(filepath.Join(folder, content), []byte(b.String()), 0o600)
}

// readStamp returns the folder that the link leads to, without its content.
// False: there is none, or it is not as it was built.
func (o Options) readStamp() (generation, bool) {
	name, err := os.Readlink(filepath.Join(o.Base, link))
	if err != nil || !strings.HasPrefix(name, prefix) || strings.Contains(name, "/") {
		return generation{}, false
	}
	g := generation{name: name}
	folder := filepath.Join(o.Base, name)
	data, err := safefile.ReadPrivate(filepath.Join(folder, stampIn), maxStamp)
	if err != nil {
		return g, false
	}
	head, stamp, _ := strings.Cut(string(data), "\n")
	made, age, _ := strings.Cut(head, " ")
	now, err := mtime(filepath.Join(folder, bin))
	if err != nil || made != strconv.FormatInt(now, 10) {
		return g, false
	}
	g.stamp, g.young = stamp, age != "old"
	return g, true
}

// read is readStamp with the content.
func (o Options) read() (generation, bool) {
	g, ok := o.readStamp()
	if !ok {
		return g, false
	}
	data, err := safefile.ReadPrivate(filepath.Join(o.Base, g.name, content), maxContent)
	if err != nil {
		return g, false
	}
	g.tools, g.skipped, err = parseContent(string(data))
	return g, err == nil
}

// parseContent reads back what write wrote.
func parseContent(text string) (tools []tool.Ref, skipped []Skipped, err error) {
	for row := range strings.Lines(text) {
		kind, rest, _ := strings.Cut(strings.TrimSuffix(row, "\n"), " ")
		word, quoted, _ := strings.Cut(rest, " ")
		name, err := tool.ParseName(word)
		if err != nil {
			return nil, nil, err
		}
		path, err := strconv.Unquote(quoted)
		if err != nil || !filepath.IsAbs(path) {
			return nil, nil, fmt.Errorf("cannot read the path of %s", name)
		}
		switch kind {
		case "tool":
			tools = append(tools, tool.Ref{Name: name, Path: path})
		case "skip":
			skipped = append(skipped, Skipped{Name: name, Command: path})
		default:
			return nil, nil, fmt.Errorf("cannot read a line that begins with %q", kind)
		}
	}
	return tools, skipped, nil
}

func mtime(path string) (int64, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return 0, err
	}
	return st.Mtim.Nano(), nil
}
