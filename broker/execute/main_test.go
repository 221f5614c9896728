package execute_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/broker/execute"
	"snens/internal/cgroup"
	"snens/internal/spawn"
	"snens/internal/testneed"
	"snens/internal/wire"
)

// reporter is the name under which the test binary plays the action.
const reporter = "execute-test-report"

const (
	hardened = "execute-test-harden"
	flight   = "execute-test-flight"
	server   = "execute-test-fuse"
)

func TestMain(m *testing.M) {
	switch os.Args[0] {
	case reporter:
		if err := json.NewEncoder(os.Stdout).Encode(lookAtSelf()); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	case hardened:
		hardenSelf()
		os.Exit(0)
	case server:
		fmt.Println(serveFUSE(os.Args[1], os.Args[2:]))
		os.Exit(1)
	case flight:
		fmt.Println(keepMany())
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// report is what a child finds itself to be.
type report struct {
	Args        []string
	Environ     []byte
	Status      map[string]string
	Dir         string
	Descriptors []string // number, blank, what it leads to
	Input       []byte
	Offset      int64 // of the input before it was read
	CanWrite    bool  // the input is open for writing
	Third       []byte
}

func lookAtSelf() (r report) {
	r.Args, r.Status = os.Args, map[string]string{}
	r.Descriptors = descriptors() // first of all: the runtime opens some for itself
	r.Environ, _ = os.ReadFile("/proc/self/environ")
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if k, v, ok := strings.Cut(line, ":"); ok {
			r.Status[k] = strings.Join(strings.Fields(v), " ")
		}
	}
	r.Dir, _ = unix.Getwd()
	r.Offset, _ = unix.Seek(0, 0, io.SeekCurrent)
	flags, _ := unix.FcntlInt(0, unix.F_GETFL, 0)
	r.CanWrite = flags&unix.O_ACCMODE != unix.O_RDONLY
	r.Input, _ = io.ReadAll(os.Stdin)
	if slices.ContainsFunc(r.Descriptors, func(s string) bool { return strings.HasPrefix(s, "3 ") }) {
		r.Third, _ = os.ReadFile("/proc/self/fd/3")
	}
	return r
}

func descriptors() (list []string) {
	fd, err := unix.Open("/proc/self/fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return []string{err.Error()}
	}
	defer unix.Close(fd)
	buf := make([]byte, 1<<16)
	n, _ := unix.ReadDirent(fd, buf)
	_, _, names := unix.ParseDirent(buf[:n], -1, nil)
	for _, name := range names {
		if name != fmt.Sprint(fd) {
			link := make([]byte, 4096)
			k, _ := unix.Readlink("/proc/self/fd/"+name, link)
			if to := string(link[:k]); !strings.Contains(to, "/cpu.") { // Go's own
				list = append(list, name+" "+to)
			}
		}
	}
	slices.Sort(list)
	return list
}

// world is an Executor with what it is made of.
type world struct {
	*execute.Executor
	t      *testing.T
	opener *spawn.Opener
	closer *wire.Closer
	tree   *cgroup.Tree
	ids    byte
}

type whyKey struct{}

// because is a context that can be ended for a reason.
func because(why action.Reason) (context.Context, context.CancelFunc) {
	return context.WithCancel(context.WithValue(context.Background(), whyKey{}, why))
}

func newWorld(t *testing.T, tree *cgroup.Tree, change func(*execute.Options)) *world {
	t.Helper()
	testneed.Root(t)
	runner, err := spawn.NewRunner(tree)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, opener: spawn.NewOpener(os.Geteuid()), closer: wire.NewCloser(), tree: tree}
	o := execute.Options{
		Opener: w.opener, Runner: runner, Groups: tree, Closer: w.closer, Install: action.InstallID{1}, Grace: 200 * time.Millisecond,
		Why: func(ctx context.Context) action.Reason {
			why, _ := ctx.Value(whyKey{}).(action.Reason)
			return why
		},
		Problem: func(err error) { t.Error(err) },
	}
	if change != nil {
		change(&o)
	}
	if w.Executor, err = execute.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := w.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return w
}

// groups is a world with control groups.
func groups(t *testing.T) *world {
	t.Helper()
	return newWorld(t, groupTree(t), nil)
}

func groupTree(t *testing.T) *cgroup.Tree {
	t.Helper()
	testneed.CgroupV2(t)
	tree, err := execute.Probe()
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// both runs f with control groups and with the fallback.
func both(t *testing.T, f func(*world)) {
	t.Run("group", func(t *testing.T) { f(groups(t)) })
	t.Run("fallback", func(t *testing.T) { f(newWorld(t, nil, nil)) })
}

func (w *world) open(path string) *spawn.Program {
	w.t.Helper()
	p, err := w.opener.Open(path)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// request is a sound request for the program, as root.
func (w *world) request(p *spawn.Program, argv ...string) action.Request {
	files := p.Files()
	q := action.Request{
		Argv: argv, Cwd: "/", Env: []action.Var{{Name: "GORACE", Value: "atexit_sleep_ms=0"}, {Name: "PATH", Value: "/usr/sbin:/usr/bin:/sbin:/bin"}},
		Umask: 0o022, Timeout: time.Minute, Stdin: action.Stdin{Mode: action.StdinNone},
		Requester: action.Requester{UID: 4242, GID: 4242}, Rule: "test", RuleDigest: action.DigestOf("rule"),
		Expires: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), Nonce: action.Nonce{1}, Install: action.InstallID{1},
		Executable: actionFile(files[0]),
	}
	for _, f := range files[1:] {
		q.Interpreters = append(q.Interpreters, actionFile(f))
	}
	return q
}

func actionFile(f spawn.File) action.File {
	return action.File{Path: f.Path, Device: f.Dev, Inode: f.Inode, SHA256: f.SHA256}
}

func (w *world) id() (id action.RequestID) {
	w.ids++
	t := time.Now().UnixNano()
	for i := range 8 {
		id[i] = byte(t >> (8 * i))
	}
	id[14], id[15] = byte(os.Getpid()), w.ids
	return id
}

func seal(t *testing.T, q action.Request) *action.Sealed {
	t.Helper()
	s, err := action.Seal(q)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// job is one request on its way.
type job struct {
	w       *world
	id      action.RequestID
	sealed  *action.Sealed
	started chan uint32
}

// keep seals q and keeps what belongs to it.
func (w *world) keep(q action.Request, p *spawn.Program, opened []*os.File, files ...int) *job {
	w.t.Helper()
	j := &job{w: w, id: w.id(), sealed: seal(w.t, q), started: make(chan uint32, 2)}
	held := execute.Held{Program: p, Opened: opened, Files: w.files(uint32(q.Requester.UID), files...)}
	if err := w.Keep(j.id, uint32(q.Requester.UID), held); err != nil {
		w.t.Fatal(err)
	}
	return j
}

func (j *job) run(ctx context.Context) execute.Ending {
	defer j.w.Drop(j.id)
	return j.w.Run(ctx, j.id, j.sealed, func(pid uint32) { j.started <- pid })
}

func (j *job) ran() bool { return len(j.started) == 1 }

// sh is a request that runs a script by the shell.
func (w *world) sh(script string, change func(*action.Request)) *job {
	w.t.Helper()
	p := w.open("/bin/sh")
	q := w.request(p, "sh", "-c", script)
	if change != nil {
		change(&q)
	}
	return w.keep(q, p, nil)
}

// report runs this binary as the action and gives what it found.
func (w *world) report(change func(*action.Request), opened []*os.File, args ...string) report {
	w.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	p := w.open(exe)
	q := w.request(p, append([]string{reporter}, args...)...)
	if change != nil {
		change(&q)
	}
	read, write := pipe(w.t)
	null, err := os.Open(os.DevNull)
	if err != nil {
		w.t.Fatal(err)
	}
	j := w.keep(q, p, opened, int(null.Fd()), int(write.Fd()))
	null.Close()
	write.Close()
	text, got := drain(read), make(chan execute.Ending, 1)
	go func() { got <- j.run(context.Background()) }()
	out := <-text
	if e := <-got; e.Reason != action.ReasonExited || e.Code != 0 || !j.ran() {
		w.t.Fatalf("%+v: %s", e, out)
	}
	var r report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	return r
}

func pipe(t *testing.T) (read, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { read.Close(); write.Close() })
	return read, write
}

func drain(f *os.File) <-chan string {
	out := make(chan string, 1)
	go func() {
		var b bytes.Buffer
		_, _ = io.Copy(&b, f)
		out <- b.String()
	}()
	return out
}

// files are copies of the descriptors as they come from a client of uid.
func (w *world) files(uid uint32, fds ...int) *wire.Files {
	w.t.Helper()
	if len(fds) == 0 {
		return nil
	}
	got, err := w.take(wire.Options{UID: uid, Closer: w.closer}, len(fds), fds...)
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

// take is the step for descriptors, with a client who sends fds.
func (w *world) take(server wire.Options, want int, fds ...int) (*wire.Files, error) {
	w.t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	var conns [2]*wire.Conn
	for i, o := range []wire.Options{server, {}} {
		f := os.NewFile(uintptr(pair[i]), "pair")
		c, err := net.FileConn(f)
		f.Close()
		if err == nil {
			conns[i], err = wire.New(c.(*net.UnixConn), o)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		defer conns[i].Close()
	}
	sent := make(chan error, 1)
	go func() {
		_, err := conns[1].Hello()
		if err == nil {
			_, err = conns[1].ReadReply(time.Minute)
		}
		sent <- errors.Join(err, conns[1].SendFDs(fds...))
	}()
	if _, err := conns[0].Accept(); err != nil {
		w.t.Fatal(err)
	}
	got, err := conns[0].TakeFDs(1, want)
	if err := <-sent; err != nil {
		w.t.Fatal(err)
	}
	return got, err
}

// eventually polls until have is true; half a minute is the end.
func eventually(t *testing.T, what string, have func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !have(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// settled waits until nothing is being closed.
func (w *world) settled() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := w.closer.Wait(ctx); err != nil {
		w.t.Fatal(err)
	}
}

func alive(pid string) bool {
	b, err := os.ReadFile("/proc/" + strings.TrimSpace(pid) + "/stat")
	if err != nil {
		return false
	}
	after := string(b[bytes.LastIndexByte(b, ')')+1:])
	return !strings.HasPrefix(after, " Z") && !strings.HasPrefix(after, " X")
}
