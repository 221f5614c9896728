package discovery

import (
	"errors"
	"slices"

	"golang.org/x/sys/unix"

	"snens/supervisor/tool"
)

// spot is a place where a tool may lie: a tools folder and a name in it.
type spot struct{ dir, name string }

func (s spot) folder() string { return s.dir + "/" + s.name }
func (s spot) path() string   { return s.dir + "/" + s.name + "/" + s.name }

func (s spot) quarantined(cause string) tool.Quarantined {
	return tool.Quarantined{Name: oneLine(s.name), Path: oneLine(s.path()), Cause: cause, Here: isHere(cause)}
}

// fileID tells one content of a file from another. The zero value is a file
// that does not exist.
type fileID struct {
	dev, ino    uint64
	size        int64
	mtime, ctim int64 // ns since 1970
}

func idOf(st *unix.Stat_t) fileID {
	return fileID{
		dev: uint64(st.Dev), ino: st.Ino, size: st.Size,
		mtime: st.Mtim.Nano(), ctim: st.Ctim.Nano(),
	}
}

// idAt is the identity of what path names in the end. What cannot be looked
// at has one of its own, so that it is not taken for a missing file.
func idAt(path string) (fileID, uint32) {
	var st unix.Stat_t
	switch err := unix.Stat(path, &st); err {
	case nil:
		return idOf(&st), st.Mode
	case unix.ENOENT:
		return fileID{}, 0
	default:
		errno, _ := err.(unix.Errno)
		return fileID{dev: ^uint64(0), ino: uint64(errno)}, 0
	}
}

// sight is what can be known about a spot without opening anything. cause is
// set when that is enough to set the tool aside.
type sight struct {
	spot
	cause        string
	link         string // target of NAME/NAME when it is a symlink
	target       fileID
	schema, help fileID
	schemaMode   uint32
	helpMode     uint32
}

// validCause judges a name.
func validCause(name string) string {
	_, err := tool.ParseName(name)
	switch {
	case err == nil:
		return ""
	case slices.Contains(tool.Reserved(), name):
		return causeReservedName
	}
	return causeInvalidName
}

// look makes the static checks that need no open.
func (p *pass) look(s spot) sight {
	l := sight{spot: s}
	if l.cause = validCause(s.name); l.cause != "" {
		return l
	}
	if l.cause = p.lookFolder(s); l.cause != "" {
		return l
	}
	var st unix.Stat_t
	path := s.path()
	if err := unix.Lstat(path, &st); err != nil {
		if l.cause = causeNoProgram; !errors.Is(err, unix.ENOENT) {
			l.cause = lookCause(err, path)
		}
		return l
	}
	named := st
	if isLink(&st) {
		var err error
		if l.link, err = readlink(path); err == nil {
			err = unix.Stat(path, &st)
		}
		if err != nil {
			l.cause = lookCause(err, path)
			return l
		}
	}
	if l.cause = programCause(&st); l.cause != "" {
		return l
	}
	if l.cause = p.trust.inFolder(path, &named, l.link); l.cause != "" {
		return l
	}
	l.target = idOf(&st)
	l.schema, l.schemaMode = idAt(s.folder() + "/schema.json")
	l.help, l.helpMode = idAt(s.folder() + "/help.txt")
	return l
}

// lookFolder checks tools_dir/NAME.
func (p *pass) lookFolder(s spot) string {
	var st unix.Stat_t
	folder, link := s.folder(), ""
	err := unix.Lstat(folder, &st)
	named := st
	if err == nil && isLink(&st) {
		if link, err = readlink(folder); err == nil {
			err = unix.Stat(folder, &st)
		}
	}
	switch {
	case err != nil:
		return lookCause(err, folder)
	case st.Mode&unix.S_IFMT != unix.S_IFDIR:
		return causeNotFolder
	case !p.trust.active:
		return ""
	}
	if cause := p.trust.checked(s.dir); cause != "" {
		return cause
	}
	return p.trust.inFolder(folder, &named, link)
}

// programCause judges the file that a tool's path leads to.
func programCause(st *unix.Stat_t) string {
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		return causeDirectory
	case unix.S_IFIFO:
		return causeNotRegular("named pipe")
	case unix.S_IFSOCK:
		return causeNotRegular("socket")
	default:
		return causeNotRegular("device")
	}
	switch {
	case st.Size == 0:
		return causeEmptyFile
	case st.Mode&0o111 == 0:
		return causeNotExecutable
	}
	return ""
}

// lookCause words an error of stat for path.
func lookCause(err error, path string) string {
	switch {
	case errors.Is(err, unix.ELOOP):
		return causeLinkLoop
	case errors.Is(err, unix.EACCES):
		return causeNoAccess
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		if target, lerr := readlink(path); lerr == nil {
			return causeDangling(target)
		}
		return causeNoProgram
	}
	return causeStart(err)
}

func readlink(path string) (string, error) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlink(path, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}
