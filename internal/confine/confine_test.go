package confine_test

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"snens/internal/confine"
	"snens/internal/testneed"
)

func needSupport(t testing.TB) confine.Support {
	t.Helper()
	s := confine.Supported()
	testneed.Kernel(t, s.OK(), "Landlock and seccomp: "+s.String())
	return s
}

// newWorld makes a file, a folder, listening sockets and a process outside.
// args: file, empty folder, TCP and UDP address, Unix path, abstract name,
// datagram path, pid.
func newWorld(t *testing.T) world {
	t.Helper()
	dir := t.TempDir()
	file, folder := filepath.Join(dir, "file"), filepath.Join(dir, "folder")
	if err := os.WriteFile(file, []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	abstract := "@" + dir
	var closers []io.Closer
	closers = append(closers, tcp)
	for _, name := range []string{filepath.Join(dir, "s"), abstract} {
		l, err := net.Listen("unix", name)
		if err != nil {
			t.Fatal(err)
		}
		closers = append(closers, l)
	}
	dgram := filepath.Join(dir, "d")
	d, err := net.ListenPacket("unixgram", dgram)
	if err != nil {
		t.Fatal(err)
	}
	closers = append(closers, d)
	cat := exec.Command("/bin/cat")
	in, err := cat.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cat.Start(); err != nil {
		t.Fatal(err)
	}
	w := world{dir: dir, dead: func() {
		for _, c := range closers {
			c.Close()
		}
		in.Close()
		_ = cat.Process.Kill()
		_ = cat.Wait() // ended by us
	}}
	t.Cleanup(w.dead)
	w.args = []string{file, folder, tcp.Addr().String(), filepath.Join(dir, "s"), abstract, dgram, strconv.Itoa(cat.Process.Pid)}
	return w
}

var strict = confine.Rules{ReadOnly: true, NoNetwork: true, NoUnix: true}

// Each attempt works outside (the control) and fails with this error inside.
func TestForbiddenInsideAllowedOutside(t *testing.T) {
	s := needSupport(t)
	testneed.Root(t) // mount, sethostname
	cases := []struct {
		op, want string
		needABI  int
	}{
		{"write", "EACCES", 1},
		{"append", "EACCES", 1},
		{"create", "EACCES", 1},
		{"truncate", "EACCES", 1},
		{"opentrunc", "EACCES", 1},
		{"openat2", "EACCES", 1},
		{"mkdir", "EACCES", 1},
		{"rename", "EACCES", 1},
		{"unlink", "EACCES", 1},
		{"rmdir", "EACCES", 1},
		{"symlink", "EACCES", 1},
		{"link", "EACCES", 1},
		{"fifo", "EACCES", 1},
		{"chmod", "EPERM", 1},
		{"fchmod", "EPERM", 1},
		{"fchmodat2", "EPERM", 1},
		{"chown", "EPERM", 1},
		{"utime", "EPERM", 1},
		{"utimens", "EPERM", 1},
		{"setxattr", "EPERM", 1},
		{"chattr", "EPERM", 1},
		{"devioctl", "EACCES", 5},
		{"mount", "EPERM", 1},
		{"sethostname", "EPERM", 1},
		{"tcp", "EAFNOSUPPORT", 1},
		{"udp", "EAFNOSUPPORT", 1},
		{"netlink", "EAFNOSUPPORT", 1},
		{"unix", "EAFNOSUPPORT", 1},
		{"abstract", "EAFNOSUPPORT", 1},
		{"dgrampair", "EAFNOSUPPORT", 1},
		{"rawpair", "EAFNOSUPPORT", 1},
		{"iouring", "ENOSYS", 1},
		{"ptrace", "EPERM", 1},
		{"vmwrite", "EPERM", 1},
		{"procmem", "EACCES", 1},
		{"signal", "EPERM", 6},
	}
	for _, c := range cases {
		t.Run(c.op, func(t *testing.T) {
			testneed.Kernel(t, s.Landlock >= c.needABI, "Landlock ABI "+strconv.Itoa(c.needABI))
			w := newWorld(t)
			if got := try(t, strict, c.op, w.args...); got != c.want {
				t.Errorf("inside: %s, want %s", got, c.want)
			}
			if got, err := os.ReadFile(w.args[0]); err != nil || string(got) != "content" {
				t.Errorf("the file is %q (%v) afterwards", got, err)
			}
			if got := try(t, confine.Rules{}, c.op, w.args...); got != "ok" {
				t.Errorf("control outside: %s, want ok", got)
			}
			if c.op == "mount" {
				if err := unix.Unmount(w.args[1], 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestStillAllowedInside(t *testing.T) {
	needSupport(t)
	for _, op := range []string{"read", "exec", "null", "isatty", "streampair", "signalchild"} {
		w := newWorld(t)
		if got := try(t, strict, op, w.args...); got != "ok" {
			t.Errorf("%s: %s, want ok", op, got)
		}
	}
}

// One rule alone leaves the others' ground free.
func TestRulesAreIndependent(t *testing.T) {
	needSupport(t)
	cases := []struct {
		rules confine.Rules
		op    string
		want  string
	}{
		{confine.Rules{ReadOnly: true}, "tcp", "ok"},
		{confine.Rules{ReadOnly: true}, "udp", "ok"},
		{confine.Rules{ReadOnly: true}, "unix", "ok"},
		{confine.Rules{ReadOnly: true}, "abstract", "ok"},
		{confine.Rules{ReadOnly: true}, "dgrampair", "ok"},
		{confine.Rules{ReadOnly: true, AllowMetadata: true}, "chmod", "ok"},
		{confine.Rules{ReadOnly: true, AllowMetadata: true}, "utimens", "ok"},
		{confine.Rules{ReadOnly: true, AllowMetadata: true}, "setxattr", "ok"},
		{confine.Rules{ReadOnly: true, AllowMetadata: true}, "chattr", "ok"},
		{confine.Rules{ReadOnly: true, AllowMetadata: true}, "write", "EACCES"},
		{confine.Rules{NoNetwork: true}, "write", "ok"},
		{confine.Rules{NoNetwork: true}, "create", "ok"},
		{confine.Rules{NoNetwork: true}, "chmod", "ok"},
		{confine.Rules{NoNetwork: true}, "unix", "ok"},
		{confine.Rules{NoNetwork: true}, "abstract", "ok"},
		{confine.Rules{NoNetwork: true}, "tcp", "EAFNOSUPPORT"},
		{confine.Rules{NoNetwork: true}, "ptrace", "EPERM"},
		{confine.Rules{NoNetwork: true}, "iouring", "ENOSYS"},
		{confine.Rules{NoUnix: true}, "tcp", "ok"},
		{confine.Rules{NoUnix: true}, "write", "ok"},
		{confine.Rules{NoUnix: true}, "unix", "EAFNOSUPPORT"},
		{confine.Rules{NoUnix: true}, "abstract", "EAFNOSUPPORT"},
		{confine.Rules{NoUnix: true}, "dgrampair", "EAFNOSUPPORT"},
		{confine.Rules{NoUnix: true}, "ptrace", "EPERM"},
	}
	for _, c := range cases {
		w := newWorld(t)
		if got := try(t, c.rules, c.op, w.args...); got != c.want {
			t.Errorf("%+v %s: %s, want %s", c.rules, c.op, got, c.want)
		}
	}
}

func TestWriteBeneath(t *testing.T) {
	needSupport(t)
	for _, op := range []string{"write", "create", "truncate", "mkdir", "rename", "unlink", "rmdir", "symlink", "link", "fifo"} {
		w := newWorld(t)
		r := strict
		r.WriteBeneath = []string{w.dir}
		if got := try(t, r, op, w.args...); got != "ok" {
			t.Errorf("%s beneath the writable folder: %s", op, got)
		}
	}
	w, other := newWorld(t), newWorld(t)
	r := strict
	r.WriteBeneath = []string{w.args[0], other.dir} // a single file, and a folder
	if got := try(t, r, "write", w.args...); got != "ok" {
		t.Errorf("write to the single file: %s", got)
	}
	if got := try(t, r, "create", w.args...); got != "EACCES" {
		t.Errorf("create beside the single file: %s, want EACCES", got)
	}
}

func TestWrongRulesRefused(t *testing.T) {
	needSupport(t)
	for path, want := range map[string]string{
		"relative/path": `cannot restrict the child: cannot keep "relative/path" writable: the path is not absolute`,
		"/no/such/dir":  `cannot restrict the child: cannot keep "/no/such/dir" writable: no such file or directory`,
	} {
		ran := false
		err := confine.Run(confine.Rules{ReadOnly: true, WriteBeneath: []string{path}}, func() error { ran = true; return nil })
		var setup *confine.SetupError
		if !errors.As(err, &setup) || err.Error() != want || ran {
			t.Errorf("%s: error %v (ran: %v), want %s", path, err, ran, want)
		}
	}
}

func TestUnsupportedErrorIsInspectable(t *testing.T) {
	var err error = &confine.UnsupportedError{Missing: []string{"one", "two"}}
	if !errors.Is(err, confine.ErrUnsupported) {
		t.Error("not recognised by errors.Is")
	}
	if want := "cannot restrict the child: missing one; two"; err.Error() != want {
		t.Errorf("text %q, want %q", err, want)
	}
}

func TestRunPassesTheErrorOn(t *testing.T) {
	needSupport(t)
	mine := errors.New("mine")
	for _, r := range []confine.Rules{{}, strict} {
		if err := confine.Run(r, func() error { return mine }); err != mine {
			t.Errorf("%+v: %v, want the error of f itself", r, err)
		}
	}
	if err := confine.Run(strict, func() error { runtime.Goexit(); return nil }); err == nil {
		t.Error("a goroutine that ended early was reported as success")
	}
}

func TestProve(t *testing.T) {
	needSupport(t)
	if err := confine.Prove(); err != nil {
		t.Error(err)
	}
}

// Hundred goroutines write files while as many restricted threads come and go;
// afterwards no thread of this process is restricted.
func TestOtherThreadsStayFree(t *testing.T) {
	needSupport(t)
	dir := t.TempDir()
	var group sync.WaitGroup
	for i := range 100 {
		group.Go(func() {
			for j := range 5 {
				name := filepath.Join(dir, strconv.Itoa(i)+"-"+strconv.Itoa(j))
				if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
					t.Error(err)
				}
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Error(err)
					continue
				}
				l.Close()
			}
		})
		group.Go(func() {
			err := confine.Run(strict, func() error { return openWith(filepath.Join(dir, "in"), unix.O_CREAT|unix.O_WRONLY) })
			if err != unix.EACCES {
				t.Errorf("restricted write: %v, want EACCES", err)
			}
		})
	}
	group.Wait()
	if err := os.WriteFile(filepath.Join(dir, "after"), nil, 0o600); err != nil {
		t.Error(err)
	}
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		status, err := os.ReadFile("/proc/self/task/" + task.Name() + "/status")
		if err != nil {
			continue // ended meanwhile
		}
		// A restricted thread may still be on its way out; it is then dying.
		if restricted(status) && !dying(t, task.Name()) {
			t.Errorf("thread %s is still restricted", task.Name())
		}
	}
}

func restricted(status []byte) bool { return strings.Contains(string(status), "Seccomp:\t2") }

// dying waits for a thread to be gone.
func dying(t *testing.T, tid string) bool {
	t.Helper()
	n, err := strconv.Atoi(tid)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		if unix.Tgkill(os.Getpid(), n, 0) == unix.ESRCH {
			return true
		}
		runtime.Gosched()
	}
	return false
}
