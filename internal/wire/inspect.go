package wire

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Kind is what a descriptor leads to.
type Kind int

// The kinds. Other is what has no kind: an epoll or event descriptor and such.
const (
	Other Kind = iota
	Regular
	Folder
	Pipe
	CharDevice
	BlockDevice
	Socket
	Link
)

var kindNames = [...]string{
	Other: "something without a kind", Regular: "a file", Folder: "a folder", Pipe: "a pipe",
	CharDevice: "a character device", BlockDevice: "a block device", Socket: "a socket", Link: "a symlink",
}

func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return kindNames[Other]
	}
	return kindNames[k]
}

// FileInfo is what can be learnt of a descriptor without its file system or
// peer having a say.
type FileInfo struct {
	Kind     Kind
	Read     bool // open for reading
	Write    bool // open for writing
	PathOnly bool // O_PATH: open for neither
	Flags    int  // as F_GETFL gives them
}

// Inspect asks for the flags (F_GETFL) and the type (statx without sync, the
// type alone) of a descriptor. It never blocks.
func Inspect(fd int) (FileInfo, error) {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return FileInfo{}, fmt.Errorf("cannot ask for the flags of a descriptor: %w", err)
	}
	info := FileInfo{Flags: flags, PathOnly: flags&unix.O_PATH != 0}
	if !info.PathOnly {
		mode := flags & unix.O_ACCMODE
		info.Read = mode == unix.O_RDONLY || mode == unix.O_RDWR
		info.Write = mode == unix.O_WRONLY || mode == unix.O_RDWR
	}
	var st unix.Statx_t
	err = unix.Statx(fd, "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC, unix.STATX_TYPE, &st)
	if err != nil {
		return FileInfo{}, fmt.Errorf("cannot ask for the type of a descriptor: %w", err)
	}
	if st.Mask&unix.STATX_TYPE != 0 {
		info.Kind = kindOf(uint32(st.Mode))
	}
	return info, nil
}

func kindOf(mode uint32) Kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return Regular
	case unix.S_IFDIR:
		return Folder
	case unix.S_IFIFO:
		return Pipe
	case unix.S_IFCHR:
		return CharDevice
	case unix.S_IFBLK:
		return BlockDevice
	case unix.S_IFSOCK:
		return Socket
	case unix.S_IFLNK:
		return Link
	}
	return Other
}

// CheckStdio says whether a descriptor may become number slot (0, 1 or 2) of a
// command: readable as 0, writable as 1 and 2, and a file, pipe or device.
// Sockets are refused: closing one can block, and a command may do more with it
// than read and write. The error is for the peer.
func CheckStdio(slot int, info FileInfo) error {
	const fix = "; pass a file, a pipe or a terminal"
	switch {
	case slot < 0 || slot > 2:
		return fmt.Errorf("descriptor %d is not one of 0, 1 and 2", slot)
	case info.PathOnly:
		return fmt.Errorf("descriptor %d is opened as a path only%s", slot, fix)
	case info.Kind == Socket:
		return fmt.Errorf("descriptor %d is a socket%s (| cat, or cat |)", slot, fix)
	case info.Kind == Folder, info.Kind == Link, info.Kind == Other:
		return fmt.Errorf("descriptor %d is %s%s", slot, info.Kind, fix)
	case slot == 0 && !info.Read:
		return fmt.Errorf("descriptor 0 is not open for reading")
	case slot > 0 && !info.Write:
		return fmt.Errorf("descriptor %d is not open for writing", slot)
	}
	return nil
}

// CheckStdio applies the rule to these files as 0, 1, 2 in their order.
func (f *Files) CheckStdio() error {
	for slot, fd := range f.fds {
		info, err := Inspect(fd)
		if err == nil {
			err = CheckStdio(slot, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
