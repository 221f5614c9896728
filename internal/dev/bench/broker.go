package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The ids of those who ask and approve; nobody else on the machine has them.
const (
	uidAsker    = 47101 // and the group of the request socket
	uidApprover = 47102 // and that of the approval socket
)

// broker is a running snens-priv with files of its own.
type broker struct {
	dir     string
	request string // sockets
	approve string
	cmd     *exec.Cmd
	log     *os.File
}

// startBroker starts the built daemon as root, with this policy, and waits until
// it serves. Nothing of the machine's own broker is touched.
func (b *bench) startBroker(name, policy string) (*broker, error) {
	if os.Geteuid() != 0 {
		return nil, &missingError{"root, which the broker runs as,"}
	}
	br := &broker{dir: filepath.Join(b.dir, name)}
	br.request, br.approve = filepath.Join(br.dir, "request.sock"), filepath.Join(br.dir, "approval.sock")
	if err := errors.Join(os.Chmod(b.dir, 0o711), os.Mkdir(br.dir, 0o755), os.WriteFile(br.path("priv.toml"), []byte(policy), 0o600)); err != nil {
		return nil, err
	}
	var err error
	if br.log, err = os.Create(br.path("stderr")); err != nil {
		return nil, err
	}
	ready, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: br.path("notify.sock"), Net: "unixgram"})
	if err != nil {
		return nil, err
	}
	defer ready.Close()
	br.cmd = exec.Command(filepath.Join(b.bin, "snens-priv"), "serve",
		"--config", br.path("priv.toml"), "--state-dir", br.path("state"), "--log-dir", br.path("log"), "--log-level", "warn",
		"--socket", br.request, "--socket-group", fmt.Sprint(uidAsker),
		"--approval-socket", br.approve, "--approval-group", fmt.Sprint(uidApprover))
	br.cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "NOTIFY_SOCKET=" + br.path("notify.sock")}
	br.cmd.Dir, br.cmd.Stderr = "/", br.log
	if err := br.cmd.Start(); err != nil {
		return nil, err
	}
	if err := br.await(ready); err != nil {
		_ = br.cmd.Process.Kill()
		_ = br.cmd.Wait()
		said, _ := os.ReadFile(br.log.Name())
		return nil, fmt.Errorf("the broker does not start: %w: %s", err, said)
	}
	return br, nil
}

func (br *broker) path(name string) string { return filepath.Join(br.dir, name) }

// await reads what a service manager would until the broker serves.
func (br *broker) await(ready *net.UnixConn) error {
	buf := make([]byte, 4096)
	if err := ready.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return err
	}
	for {
		n, err := ready.Read(buf)
		if err != nil || strings.Contains(string(buf[:n]), "READY=1") {
			return err
		}
	}
}

// stop ends it in order.
func (br *broker) stop() error {
	return errors.Join(br.cmd.Process.Signal(unix.SIGTERM), br.cmd.Wait(), br.log.Close())
}

// resident is the memory of the broker, in KiB.
func (br *broker) resident() (kib int, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", br.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for l := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(l, "VmRSS:"); ok {
			_, err := fmt.Sscanf(rest, "%d", &kib)
			return kib, err
		}
	}
	return 0, errors.New("/proc/PID/status has no VmRSS")
}

// asker makes a command a plain user's.
func asker(cmd *exec.Cmd) *exec.Cmd {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uidAsker, Gid: uidAsker}}
	return cmd
}

// asUser does something with the ids of a user, on a thread that ends with it.
func asUser(uid, gid int, f func() error) error {
	return onThread(func() error {
		if _, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); e != 0 {
			return e
		}
		if _, _, e := unix.RawSyscall(unix.SYS_SETRESGID, uintptr(gid), uintptr(gid), uintptr(gid)); e != 0 {
			return e
		}
		if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); e != 0 {
			return e
		}
		return f()
	})
}

// onThread runs f on a thread that nothing else uses, before or after.
func onThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked
		done <- f()
	}()
	return <-done
}

// copyFile copies a program to where every user can start it.
func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
