package prepare

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"snens/broker/policy"
	"snens/internal/safefile"
)

// strictly is how everything is looked up that a requester names.
const strictly = unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS

// openBeneath opens the file of an as = "fd" slot for reading, with the rights
// of the calling thread. What is there is looked at before it is opened, so that
// nothing happens to a device and no FIFO is waited for.
func openBeneath(fd policy.PathFD, owner int) (*os.File, error) {
	rest, ok := strings.CutPrefix(fd.Path, strings.TrimSuffix(fd.Beneath, "/")+"/")
	if !ok || rest == "" || path.Clean(fd.Path) != fd.Path {
		return nil, fmt.Errorf("it is not beneath %s", fd.Beneath)
	}
	folder, err := openFolder(fd.Beneath, owner)
	if err != nil {
		return nil, err
	}
	defer unix.Close(folder)
	handle, err := openat2(folder, rest, unix.O_PATH|unix.O_CLOEXEC, unix.RESOLVE_BENEATH|strictly)
	if err != nil {
		return nil, err
	}
	defer unix.Close(handle)
	if err := checkFileSystem(handle); err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(handle, &st); err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, errors.New("it is not a regular file")
	}
	// Without O_NONBLOCK the holder of a lease could keep us here.
	file, err := open(fmt.Sprintf("/proc/self/fd/%d", handle), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC)
	if err != nil {
		return nil, err
	}
	if _, err := unix.FcntlInt(uintptr(file), unix.F_SETFL, 0); err != nil { // the command expects a plain file
		unix.Close(file)
		return nil, err
	}
	return os.NewFile(uintptr(file), fd.Path), nil
}

// fuse is the f_type of a file system that is a program.
const fuse = 0x65735546

// checkFileSystem refuses a file whose file system is a program, which may be the
// requester's own: once it is open, each start of an action closes a copy of it,
// for as long as he likes. The handle is a path alone, which tells it nothing.
func checkFileSystem(handle int) error {
	for {
		var st unix.Statfs_t
		err := unix.Fstatfs(handle, &st)
		switch {
		case err == unix.EINTR:
			continue
		case err == nil && st.Type == fuse:
			return errors.New("it is a file of a FUSE file system, which can hold up the broker; copy it elsewhere")
		}
		return err
	}
}

// openFolder finds the folder of a slot. Symlinks on the way to it are followed
// where nobody but root and owner can have made them.
func openFolder(folder string, owner int) (int, error) {
	const how = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC
	fd, err := openat2(unix.AT_FDCWD, folder, how, strictly)
	if err != unix.ELOOP {
		return fd, err
	}
	trusted := folder
	for trusted != "/" && safefile.CheckTrusted(trusted, owner) != nil {
		trusted = path.Dir(trusted)
	}
	if fd, err = open(trusted, how); err != nil || trusted == folder {
		return fd, err
	}
	defer unix.Close(fd)
	return openat2(fd, strings.TrimPrefix(folder[len(trusted):], "/"), how, unix.RESOLVE_BENEATH|strictly)
}

// checkFolder says why the calling thread's rights do not let it enter a folder
// that is named by its physical path.
func checkFolder(dir string) error {
	if !path.IsAbs(dir) || path.Clean(dir) != dir || strings.IndexByte(dir, 0) >= 0 {
		return errors.New("it must be an absolute path without //, dots or symlinks")
	}
	// The dot asks for the right to search the folder itself.
	fd, err := openat2(unix.AT_FDCWD, strings.TrimSuffix(dir, "/")+"/.", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, strictly)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

func openat2(dir int, name string, flags, resolve uint64) (int, error) {
	for {
		fd, err := unix.Openat2(dir, name, &unix.OpenHow{Flags: flags, Resolve: resolve})
		if err != unix.EINTR {
			return fd, err
		}
	}
}

func open(name string, flags int) (int, error) {
	for {
		fd, err := unix.Open(name, flags, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}
