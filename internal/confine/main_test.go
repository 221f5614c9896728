package confine_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
	"snens/internal/confine"
)

const opVar = "SNENS_TEST_CONFINE_OP"

// TestMain is also the program that the tests start: with opVar set it makes
// one attempt and prints how it ended, "ok" or the name of the error.
func TestMain(m *testing.M) {
	if op := os.Getenv(opVar); op != "" {
		fmt.Print(outcome(attempt(op, os.Args[1:])))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return unix.ErrnoName(errno)
	}
	return err.Error()
}

var attempts = map[string]func(a []string) error{
	"read":      func(a []string) error { _, err := os.ReadFile(a[0]); return err },
	"write":     func(a []string) error { return openWith(a[0], unix.O_WRONLY) },
	"append":    func(a []string) error { return openWith(a[0], unix.O_WRONLY|unix.O_APPEND) },
	"create":    func(a []string) error { return openWith(a[0]+".new", unix.O_CREAT|unix.O_WRONLY) },
	"truncate":  func(a []string) error { return unix.Truncate(a[0], 0) },
	"opentrunc": func(a []string) error { return openWith(a[0], unix.O_RDONLY|unix.O_TRUNC) },
	"openat2": func(a []string) error {
		fd, err := unix.Openat2(unix.AT_FDCWD, a[0], &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_TRUNC})
		unix.Close(fd)
		return err
	},
	"mkdir":   func(a []string) error { return unix.Mkdir(a[0]+".dir", 0o755) },
	"rename":  func(a []string) error { return unix.Rename(a[0], a[0]+".moved") },
	"unlink":  func(a []string) error { return unix.Unlink(a[0]) },
	"rmdir":   func(a []string) error { return unix.Rmdir(a[1]) },
	"symlink": func(a []string) error { return unix.Symlink("x", a[0]+".sym") },
	"link":    func(a []string) error { return unix.Link(a[0], a[0]+".hard") },
	"fifo":    func(a []string) error { return unix.Mkfifo(a[0]+".fifo", 0o600) },
	"chmod":   func(a []string) error { return unix.Chmod(a[0], 0o600) },
	"fchmod": func(a []string) error {
		f, err := os.Open(a[0])
		if err != nil {
			return err
		}
		defer f.Close()
		return unix.Fchmod(int(f.Fd()), 0o600)
	},
	"fchmodat2": func(a []string) error {
		return unix.Fchmodat(unix.AT_FDCWD, a[0], 0o600, unix.AT_SYMLINK_NOFOLLOW)
	},
	"chown":    func(a []string) error { return unix.Lchown(a[0], os.Getuid(), os.Getgid()) },
	"utime":    func(a []string) error { return unix.Utimes(a[0], make([]unix.Timeval, 2)) },
	"utimens":  func(a []string) error { return unix.UtimesNano(a[0], make([]unix.Timespec, 2)) },
	"setxattr": func(a []string) error { return unix.Setxattr(a[0], "user.snens", []byte("1"), 0) },
	"chattr": func(a []string) error {
		f, err := os.Open(a[0])
		if err != nil {
			return err
		}
		defer f.Close()
		flags, err := unix.IoctlGetInt(int(f.Fd()), fsIocGetFlags)
		if err != nil {
			return err
		}
		return unix.IoctlSetPointerInt(int(f.Fd()), fsIocSetFlags, flags)
	},
	"devioctl": func([]string) error {
		f, err := os.Open("/dev/urandom")
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = unix.IoctlGetInt(int(f.Fd()), rndGetEntCnt)
		return err
	},
	"mount":       func(a []string) error { return unix.Mount("none", a[1], "tmpfs", 0, "") },
	"sethostname": func([]string) error { n, _ := os.Hostname(); return unix.Sethostname([]byte(n)) },
	"tcp":         func(a []string) error { return dial("tcp", a[2]) },
	"udp":         func(a []string) error { return dial("udp", a[2]) },
	"unix":        func(a []string) error { return dial("unix", a[3]) },
	"abstract":    func(a []string) error { return dial("unix", a[4]) },
	"dgrampair":   func(a []string) error { return redirect(unix.SOCK_DGRAM, a[5]) },
	"rawpair":     func(a []string) error { return redirect(unix.SOCK_RAW, a[5]) },
	"streampair": func([]string) error {
		_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		return err
	},
	"netlink": func([]string) error {
		_, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, 0)
		return err
	},
	"iouring": func([]string) error {
		var params [120]byte
		_, _, e := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
		return errnoOrNil(e)
	},
	"signal":  func(a []string) error { return unix.Kill(pid(a), unix.SIGCONT) },
	"ptrace":  func(a []string) error { return unix.PtraceSeize(pid(a)) },
	"vmwrite": func(a []string) error { return vmWrite(pid(a)) },
	"procmem": func(a []string) error { return openWith("/proc/"+a[6]+"/mem", unix.O_RDWR) },
	"signalchild": func([]string) error {
		c := exec.Command("/bin/cat")
		in, err := c.StdinPipe()
		if err != nil {
			return err
		}
		defer in.Close()
		if err := c.Start(); err != nil {
			return err
		}
		if err := c.Process.Kill(); err != nil {
			return err
		}
		_ = c.Wait() // ends by the signal, which is the point
		return nil
	},
	"exec": func([]string) error { return exec.Command("/bin/true").Run() },
	"null": func([]string) error { return openWith("/dev/null", unix.O_WRONLY|unix.O_TRUNC|unix.O_CREAT) },
	"isatty": func([]string) error {
		f, err := os.Open("/dev/null")
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
		if err == unix.ENOTTY {
			return nil
		}
		return fmt.Errorf("isatty: %v", err)
	},
}

func attempt(op string, args []string) error {
	f := attempts[op]
	if f == nil {
		return errors.New("no such attempt")
	}
	return f(args)
}

const (
	fsIocGetFlags = 0x80086601
	fsIocSetFlags = 0x40086602
	rndGetEntCnt  = 0x80045200
)

func errnoOrNil(e syscall.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}

func pid(a []string) int { n, _ := strconv.Atoi(a[6]); return n }

func openWith(path string, flags int) error {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o600)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func dial(network, addr string) error {
	c, err := net.Dial(network, addr)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Write([]byte("x"))
	return err
}

// redirect makes a pair and sends over it to somebody else's socket.
func redirect(typ int, path string) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, typ|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return unix.Sendto(pair[0], []byte("x"), unix.MSG_DONTWAIT, &unix.SockaddrUnix{Name: path})
}

func vmWrite(pid int) error {
	var b byte
	local := []unix.Iovec{{Base: &b, Len: 1}}
	// The far address is never mapped: a permitted attempt ends in EFAULT.
	_, err := unix.ProcessVMWritev(pid, local, []unix.RemoteIovec{{Base: 8, Len: 1}}, 0)
	if err == unix.EFAULT {
		return nil
	}
	return err
}

// world is what the attempts act on: made anew for each of them.
type world struct {
	dir  string
	args []string
	dead func() // ends what was started
}

// try runs one attempt under the rules and gives its outcome.
func try(t *testing.T, r confine.Rules, op string, args ...string) string {
	t.Helper()
	return tryWith(t, func(f func() error) error { return confine.Run(r, f) }, op, args...)
}

func tryWith(t *testing.T, run func(func() error) error, op string, args ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, args...)
	// A race-enabled binary otherwise sleeps a second at exit.
	c.Env = append(os.Environ(), opVar+"="+op, "GORACE=atexit_sleep_ms=0")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if c.Stdin, err = os.Open(os.DevNull); err != nil {
		t.Fatal(err)
	}
	if err := run(c.Start); err != nil {
		t.Fatalf("cannot start the attempt %s: %v", op, err)
	}
	if err := c.Wait(); err != nil {
		t.Fatalf("attempt %s: %v\n%s", op, err, out.String())
	}
	return strings.TrimSpace(out.String())
}
