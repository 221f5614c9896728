package discovery

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// program is what opening a tool's file tells.
type program struct {
	format
	head       string // of a script
	interpID   fileID // of format.interp, zero when there is none
	unreadable bool   // we may run it, but not read it
	// doubt is why the kernel alone would not run it. Further formats are
	// registered with the kernel, so only a probe can tell.
	doubt string
}

// examine opens the program, recognises it and checks what it needs to run.
func (p *pass) examine(l sight) (program, string) {
	path := l.path()
	if cause := mayExecute(path); cause != "" {
		return program{}, cause
	}
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		return program{unreadable: true}, ""
	}
	if err != nil {
		return program{}, lookCause(err, path)
	}
	defer file.Close()
	head := make([]byte, headSize)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return program{}, causeRead("the program", err)
	}
	head = head[:n]
	if bytes.HasPrefix(head, []byte("#!")) {
		f, cause := parseShebang(head)
		if cause == "" {
			cause = p.interpreterCause(f)
		}
		return program{format: f, head: string(head), interpID: p.interpreter(f.interp).id}, cause
	}
	cause := causeNoFormat
	if bytes.HasPrefix(head, []byte("\x7fELF")) {
		cause = p.elfCause(head, file)
	}
	if cause != "" && p.finder.binfmt() {
		return program{doubt: cause}, ""
	}
	return program{}, cause
}

func (p *pass) elfCause(head []byte, at io.ReaderAt) string {
	f, cause := parseELF(head, at, runtime.GOARCH)
	if cause != "" || f.interp == "" {
		return cause
	}
	if id, _ := idAt(f.interp); id == (fileID{}) {
		return causeLoader(f.interp)
	}
	return ""
}

// interpreterCause judges what a shebang names, and what env would look up.
func (p *pass) interpreterCause(f format) string {
	it := p.interpreter(f.interp)
	switch {
	case it.id == fileID{}:
		return causeInterpreter(f.interp)
	case it.mode&unix.S_IFMT != unix.S_IFREG, it.mode&0o111 == 0:
		return causeInterpreterUnfit(f.interp)
	}
	if p.trust.active {
		if cause := p.trust.checked(f.interp); cause != "" {
			return cause
		}
	}
	if f.env == "" || len(p.finder.path) == 0 {
		return ""
	}
	if cause := p.envUntrusted(f.env); cause != "" {
		return cause
	}
	if filepath.IsAbs(f.env) {
		if id, _ := idAt(f.env); id == (fileID{}) {
			return causeInterpreter(f.env)
		}
		return ""
	}
	if filepath.Base(f.env) != f.env || p.onPath(f.env) {
		return ""
	}
	return causeEnvInterpreter(f.env)
}

// onPath: a call would find name, on the system's PATH or as a tool.
func (p *pass) onPath(name string) bool {
	return p.search(name) != "" || validCause(name) == "" && len(p.spots(name)) > 0
}

// search looks name up as env does on the system's PATH; "" when it is not there.
func (p *pass) search(name string) string {
	for _, dir := range p.finder.path {
		path := dir + "/" + name
		if _, mode := idAt(path); mode&unix.S_IFMT == unix.S_IFREG && mode&0o111 != 0 {
			return path
		}
	}
	return ""
}

// envUntrusted says, for root only, what of the program that env would run
// others can change; name is what the script gives to env. A tool of that name
// comes before it in a call, but only as long as that tool is healthy.
func (p *pass) envUntrusted(name string) string {
	if !p.trust.active || name == "" {
		return ""
	}
	p.mu.Lock()
	cause, ok := p.envs[name]
	p.mu.Unlock()
	if ok {
		return cause
	}
	path := name
	if filepath.Base(name) == name {
		path = p.search(name)
	}
	if id, _ := idAt(path); filepath.IsAbs(path) && id != (fileID{}) {
		cause = p.trust.checked(path)
	}
	p.mu.Lock()
	p.envs[name] = cause
	p.mu.Unlock()
	return cause
}

// mayExecute asks the kernel; a noexec mount refuses like a missing right.
func mayExecute(path string) string {
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err == nil && fs.Flags&unix.MS_NOEXEC != 0 {
		return causeNoexec
	}
	if err := unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS); errors.Is(err, unix.EACCES) {
		return causeNotForUser
	}
	return ""
}

// binfmtInUse: some format is registered with binfmt_misc.
func binfmtInUse() bool {
	entries, err := os.ReadDir("/proc/sys/fs/binfmt_misc")
	if err != nil {
		return false
	}
	for _, e := range entries {
		if e.Name() != "register" && e.Name() != "status" {
			return true
		}
	}
	return false
}
