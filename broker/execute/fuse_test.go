package execute_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/broker/execute"
	"snens/internal/testneed"
	"snens/internal/wire"
)

// stalled is a FUSE file system of one file, served by a process of its own: its
// end is the end of everything that hangs.
type stalled struct {
	path string
	cmd  *exec.Cmd
}

// Opcodes of the FUSE protocol.
const (
	opGetattr = 3
	opOpen    = 14
	opStatfs  = 17
	opRelease = 18
	opFlush   = 25
	opInit    = 26
)

// serveStalled opens the file and says what it is when asked, and lets hang what
// is in hang.
func serveStalled(t *testing.T, hang ...int) *stalled {
	t.Helper()
	testneed.Root(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	read, write := pipe(t)
	f := &stalled{path: path, cmd: &exec.Cmd{
		Path: exe, Args: []string{server, path}, Env: []string{"GORACE=atexit_sleep_ms=0"}, Stdout: write,
		SysProcAttr: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	}}
	for _, op := range hang {
		f.cmd.Args = append(f.cmd.Args, strconv.Itoa(op))
	}
	runtime.LockOSThread() // whose end would be Pdeathsig's
	t.Cleanup(runtime.UnlockOSThread)
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	t.Cleanup(func() {
		f.end()
		_ = unix.Unmount(f.path, unix.MNT_DETACH)
	})
	line, _ := bufio.NewReader(read).ReadString('\n')
	testneed.Kernel(t, line == "ready\n", "FUSE ("+line+")")
	return f
}

// end aborts the connection: whoever waits gets an error. Twice is as good as
// once.
func (f *stalled) end() {
	_ = f.cmd.Process.Kill()
	_ = f.cmd.Wait()
}

// serveFUSE is the other process: it answers all but the operations in hang.
func serveFUSE(path string, hang []string) error {
	dev, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	err = unix.Mount("test", path, "fuse", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("fd=%d,rootmode=100644,user_id=0,group_id=0", dev))
	if err != nil {
		return err
	}
	fmt.Println("ready")
	buf := make([]byte, 1<<20)
	for {
		n, err := unix.Read(dev, buf)
		if err == unix.ENOENT || err == unix.EINTR {
			continue // the asking process was interrupted, or we
		}
		if err != nil || n < 40 {
			return err
		}
		if reply := answerFUSE(buf[:n], hang); reply != nil {
			_, _ = unix.Write(dev, reply)
		}
	}
}

// answerFUSE is the answer to a request, nil for none.
func answerFUSE(request []byte, hang []string) []byte {
	op := binary.NativeEndian.Uint32(request[4:])
	if slices.Contains(hang, strconv.Itoa(int(op))) {
		return nil
	}
	var body []byte
	var errno int32
	switch op {
	case opInit:
		body = make([]byte, 64)
		binary.NativeEndian.PutUint32(body, 7)
		binary.NativeEndian.PutUint32(body[4:], 31)
		binary.NativeEndian.PutUint32(body[20:], 4096) // max_write
	case opGetattr:
		body = make([]byte, 104)
		binary.NativeEndian.PutUint64(body, 3600) // valid for an hour
		binary.NativeEndian.PutUint64(body[16:], 1)
		binary.NativeEndian.PutUint32(body[76:], unix.S_IFREG|0o644)
		binary.NativeEndian.PutUint32(body[80:], 1)
	case opOpen:
		body = make([]byte, 16)
	case opStatfs:
		body = make([]byte, 80)
	case opRelease, opFlush:
	default:
		errno = -int32(unix.ENOSYS)
	}
	head := make([]byte, 16, 16+len(body))
	binary.NativeEndian.PutUint32(head, uint32(16+len(body)))
	binary.NativeEndian.PutUint32(head[4:], uint32(errno))
	copy(head[8:], request[8:16]) // unique
	return append(head, body...)
}

// A file system of the requester's that does not answer holds up himself alone:
// not the starts of others, not the broker.
func TestStalledFileHoldsUpNobodyElse(t *testing.T) {
	for name, hang := range map[string][]int{"well": nil, "closing hangs": {opFlush}, "all hangs": {opFlush, opStatfs}} {
		t.Run(name, func(t *testing.T) {
			w, f := groups(t), serveStalled(t, hang...)
			theirs, err := os.Open(f.path)
			if err != nil {
				t.Fatal(err)
			}
			fd := int(theirs.Fd())
			files := w.files(4242, fd, fd, fd)
			w.closer.AtOnce(4242, func() { theirs.Close() })
			eventually(t, "its own end to be closed", func() bool { _, n := table(t, f.path); return n <= 3 })
			if err := w.Keep(w.id(), 4242, execute.Held{Files: files}); !errors.Is(err, execute.ErrDescriptors) {
				t.Errorf("kept: %v", err)
			}
			eventually(t, "it to leave the table", func() bool { _, n := table(t, f.path); return n == 0 })
			begin := time.Now()
			p := w.open("/bin/true")
			q := w.request(p, "true")
			q.Requester.UID = 4243
			j := w.keep(q, p, nil)
			if e := j.run(context.Background()); e.Reason != action.ReasonExited || time.Since(begin) > 5*time.Second {
				t.Errorf("another requester's run: %+v in %s", e, time.Since(begin))
			}
			if hung := w.Stuck(4242) > 0; hung != (hang != nil) {
				eventually(t, "the count", func() bool { return (w.Stuck(4242) > 0) == (hang != nil) })
			}
			f.end()
			w.settled()
			eventually(t, "nothing to hang", func() bool { return w.Stuck(4242) == 0 })
		})
	}
}

// A stalled file is refused before it is in our table, where a start in that
// moment would get a copy; what is not stalled comes in, and nothing else than
// what was announced.
func TestStalledFileIsNotEvenReceived(t *testing.T) {
	w := groups(t)
	// Its closing does not hang: the client is this process too.
	f := serveStalled(t, opStatfs)
	theirs, err := os.Open(f.path)
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer good.Close()
	stalled, null := int(theirs.Fd()), int(good.Fd())
	looked := 0
	take := func(uid uint32, want int, fds ...int) (*wire.Files, error) {
		return w.take(wire.Options{UID: uid, Closer: w.closer, Look: func(socket, want int) error {
			looked++
			err := w.Look(uid, socket, want)
			if _, n := table(t, f.path); n != 1 {
				t.Errorf("the stalled file is %d times in our table", n)
			}
			return err
		}}, want, fds...)
	}
	for _, c := range []struct {
		want int
		fds  []int
		why  string
	}{
		{3, []int{null, stalled, null}, "a file system does not answer"},
		{0, []int{stalled}, "some came, none was announced"},
		{1, []int{null, stalled}, "not the announced 1"},
		{2, []int{stalled}, "not the announced 2"},
	} {
		files, err := take(4242, c.want, c.fds...)
		if e := new(wire.Error); files != nil || !errors.As(err, &e) || e.Code != wire.BadDescriptors || !strings.Contains(e.Message, c.why) {
			t.Errorf("%v: %v, want %s", c.fds, err, c.why)
		}
	}
	before := looked
	for _, fds := range [][]int{{}, {null}, {null, null, null}} {
		files, err := take(4243, len(fds), fds...)
		if err != nil || files.Len() != len(fds) {
			t.Fatalf("%v: %v", fds, err)
		}
		files.Close()
	}
	if before != 4 || looked != 6 {
		t.Errorf("looked %d times, then %d", before, looked)
	}
	w.closer.AtOnce(4242, func() { theirs.Close() })
	f.end()
	w.settled()
	eventually(t, "nothing to hang", func() bool { return w.Stuck(4242) == 0 })
}

// An action that survives SIGKILL is told as unkillable, and counted against its
// requester until it is gone.
func TestActionThatSurvivesKill(t *testing.T) {
	var problems atomic.Int32
	w := newWorld(t, groupTree(t), func(o *execute.Options) {
		o.UnkillablePerUID = 1
		o.Problem = func(error) { problems.Add(1) }
	})
	f := serveStalled(t, opFlush)
	j := w.sh("exec 9<"+f.path+"; exec 9<&-", func(q *action.Request) { q.Timeout = 100 * time.Millisecond })
	e := j.run(context.Background())
	if e.Reason != action.ReasonUnkillable || !strings.HasPrefix(e.Detail, "cannot be ended: 1 processes (") || !j.ran() || problems.Load() != 1 {
		t.Errorf("%+v, %d problems", e, problems.Load())
	}
	if !errors.Is(w.Room(4242), execute.ErrBusy) || w.Room(4243) != nil {
		t.Errorf("%v, %v", w.Room(4242), w.Room(4243))
	}
	if err := w.Keep(w.id(), 4242, execute.Held{}); !errors.Is(err, execute.ErrBusy) {
		t.Errorf("kept: %v", err)
	}
	f.end()
	eventually(t, "it to be gone", func() bool { return w.Room(4242) == nil })
}
