package search

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// file is one file to search.
type file struct {
	path string // as shown and opened
	size int64
}

// skipped counts what was not searched, by reason.
type skipped struct {
	binary, links, special, versions, virtual, unreadable int
	longLines                                             int
	firstUnreadable                                       string // "path: why"
}

func (s *skipped) cannotRead(path string, err error) {
	if s.unreadable++; s.firstUnreadable == "" {
		s.firstUnreadable = path + ": " + cause(err)
	}
}

// walker finds the files below the roots in the order of their names.
type walker struct {
	glob *glob
	skip *skipped
	emit func(file) error
}

// root searches one path of the request: a file is taken whatever its name is,
// and a link is followed.
func (w *walker) root(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		w.skip.cannotRead(path, err)
		return nil
	}
	if !info.IsDir() {
		if !info.Mode().IsRegular() {
			w.skip.special++
			return nil
		}
		return w.emit(file{path, info.Size()})
	}
	return w.folder(path, "", device(info))
}

// folder walks the folder at path; rel is its path below the root.
func (w *walker) folder(path, rel string, dev uint64) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		w.skip.cannotRead(path, err)
		// What could be read before the failure is searched.
	}
	for _, entry := range entries {
		sub, subRel := join(path, entry.Name()), join(rel, entry.Name())
		switch {
		case entry.Type()&fs.ModeSymlink != 0:
			w.skip.links++
		case entry.IsDir():
			err = w.subfolder(entry, sub, subRel, dev)
		case entry.Type().IsRegular():
			err = w.file(entry, sub, subRel)
		default:
			w.skip.special++
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) file(entry fs.DirEntry, path, rel string) error {
	if !w.glob.chooses(rel) {
		return nil
	}
	info, err := entry.Info()
	if err != nil {
		w.skip.cannotRead(path, err)
		return nil
	}
	return w.emit(file{path, info.Size()})
}

func (w *walker) subfolder(entry fs.DirEntry, path, rel string, parent uint64) error {
	switch name := entry.Name(); {
	case name == ".git" || name == ".hg" || name == ".svn":
		w.skip.versions++
		return nil
	case w.glob.skips(rel):
		return nil
	}
	info, err := entry.Info()
	if err != nil {
		w.skip.cannotRead(path, err)
		return nil
	}
	dev := device(info)
	if dev != parent && virtual(path) {
		w.skip.virtual++
		return nil
	}
	return w.folder(path, rel, dev)
}

// join is filepath.Join without a leading "./".
func join(dir, name string) string {
	if dir == "" || dir == "." {
		return name
	}
	return filepath.Join(dir, name)
}

func device(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev)
	}
	return 0
}

// virtual says whether path is the top of a file system whose files are made
// up by the kernel: reading them all can block, or never end.
func virtual(path string) bool {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return false
	}
	switch int64(st.Type) {
	case unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC,
		unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.SECURITYFS_MAGIC, unix.PSTOREFS_MAGIC,
		unix.BPF_FS_MAGIC, unix.EFIVARFS_MAGIC, unix.DEVPTS_SUPER_MAGIC, unix.SELINUX_MAGIC, unix.BINFMTFS_MAGIC:
		return true
	}
	return false
}
