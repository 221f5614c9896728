package execute

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/internal/spawn"
)

// namePrefix begins the name of every action's control group, markLen digits
// that stand for the installation and a dash follow, then the request's id.
const (
	namePrefix = "priv-"
	markLen    = 16
)

// markOf stands for an installation in the names of control groups, which
// everybody can read: brokers that share a folder must not end each other's
// actions.
func markOf(install action.InstallID) string {
	sum := sha256.Sum256(install[:])
	return hex.EncodeToString(sum[:markLen/2])
}

func (x *Executor) groupName(id action.RequestID) string {
	return namePrefix + x.mark + "-" + id.String()
}

// firstOpened is the descriptor behind 0, 1 and 2.
const firstOpened = 3

// spec makes the Spec of the sealed request, and of nothing else.
func (r *run) spec() (spawn.Spec, error) {
	q := r.request
	switch {
	case q.Modes.Terminal || q.Modes.Recorded:
		return spawn.Spec{}, errors.New("cannot start the action: terminals are not built")
	case len(q.Opened) > 1 || len(q.Opened) == 1 && q.Opened[0].Descriptor != firstOpened:
		return spawn.Spec{}, fmt.Errorf("cannot start the action: only one opened file, as descriptor %d, can be passed", firstOpened)
	}
	if err := r.program(); err != nil {
		return spawn.Spec{}, err
	}
	files, err := r.files()
	if err != nil {
		return spawn.Spec{}, err
	}
	s := spawn.Spec{
		Name: r.x.groupName(r.id), Program: r.kept.program, Argv: q.Argv, Env: []string{}, Dir: q.Cwd,
		UID: uint32(q.RunAs.UID), GID: uint32(q.RunAs.GID), Umask: uint32(q.Umask), Files: files,
		Limits: spawn.Limits{
			Memory: q.Limits.Memory, Processes: q.Limits.Processes, CPU: q.Limits.CPU,
			OpenFiles: q.Limits.OpenFiles, FileSize: q.Limits.FileSize,
		},
		Timeout: q.Timeout, Grace: r.x.o.Grace,
	}
	for _, v := range q.Env {
		s.Env = append(s.Env, v.Name+"="+v.Value)
	}
	for _, g := range q.RunAs.Groups {
		s.Groups = append(s.Groups, uint32(g))
	}
	return s, nil
}

// program sees to it that the opened program is the approved one.
func (r *run) program() error {
	approved := approvedFiles(r.request)
	if r.kept.program == nil {
		p, err := r.x.o.Opener.Open(r.request.Executable.Path)
		if err != nil {
			return err
		}
		r.kept.program = p
	}
	return r.kept.program.Same(approved)
}

func approvedFiles(q *action.Request) []spawn.File {
	files := []spawn.File{spawnFile(q.Executable)}
	for _, f := range q.Interpreters {
		files = append(files, spawnFile(f))
	}
	return files
}

func spawnFile(f action.File) spawn.File {
	return spawn.File{Path: f.Path, Dev: f.Device, Inode: f.Inode, SHA256: f.SHA256}
}

// files are the child's 0, 1, 2 and what was opened for it.
func (r *run) files() ([]int, error) {
	files := []int{spawn.NullFile, spawn.NullFile, spawn.NullFile}
	var err error
	if r.theirs, err = r.kept.parked.receive(0); err != nil {
		return nil, err
	}
	stdio := r.kept.parked.stdio
	copy(files, r.theirs[:stdio])
	opened := r.theirs[stdio:]
	if err := checkOpened(opened, r.request.Opened); err != nil {
		return nil, err
	}
	files = append(files, opened...)
	switch mode := r.request.Stdin.Mode; mode {
	case action.StdinPass:
	case action.StdinNone:
		files[0] = spawn.NullFile
	case action.StdinSealed:
		if files[0], err = sealedInput(r.request.Stdin.Content); err != nil {
			return nil, err
		}
		r.input = []int{files[0]}
	default:
		return nil, internalError{"its input has no mode"}
	}
	return files, nil
}

// checkOpened compares the opened files with those of the request, without
// asking their file system.
func checkOpened(fds []int, want []action.OpenedFile) error {
	if len(fds) != len(want) {
		return fmt.Errorf("cannot start the action: %d opened files are there for it, %d belong to it", len(fds), len(want))
	}
	for i, w := range want {
		var st unix.Statx_t
		if err := unix.Statx(fds[i], "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC, unix.STATX_INO, &st); err != nil {
			return fmt.Errorf("cannot look at the file opened as descriptor %d: %w", w.Descriptor, err)
		}
		if unix.Mkdev(st.Dev_major, st.Dev_minor) != w.Device || st.Ino != w.Inode {
			return &spawn.ChangedError{Path: w.Path, What: "another file is opened"}
		}
	}
	return nil
}

// sealedInput is a file with the content that nobody can change, at its
// beginning, open for reading.
func sealedInput(content string) (int, error) {
	fail := func(err error) (int, error) { return -1, fmt.Errorf("cannot make the input: %w", err) }
	const seals = unix.F_SEAL_WRITE | unix.F_SEAL_GROW | unix.F_SEAL_SHRINK | unix.F_SEAL_SEAL
	fd, err := unix.MemfdCreate("input", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_NOEXEC_SEAL)
	if err == unix.EINVAL { // before Linux 6.3
		fd, err = unix.MemfdCreate("input", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return fail(err)
	}
	defer unix.Close(fd)
	for rest := []byte(content); len(rest) > 0; {
		n, err := unix.Write(fd, rest)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return fail(err)
		}
		rest = rest[n:]
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		return fail(err)
	}
	// Opened again: at its beginning, and for reading only.
	for {
		in, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		switch err {
		case unix.EINTR:
			continue
		case nil:
			return in, nil
		}
		return fail(err)
	}
}

// parseGroup says whether the name of a control group is that of an action, and
// of which installation.
func parseGroup(name string) (mark string, id action.RequestID, ok bool) {
	word, ok := strings.CutPrefix(name, groupPrefix)
	if !ok {
		return "", id, false
	}
	mark, word, ok = strings.Cut(word, "-")
	if !ok || len(mark) != markLen || strings.Trim(mark, "0123456789abcdef") != "" {
		return "", id, false
	}
	id, err := action.ParseRequestID(word)
	return mark, id, err == nil
}
