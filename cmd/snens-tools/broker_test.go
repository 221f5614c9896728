package main

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/cmd/snens-tools/internal/cli"
	"snens/cmd/snens-tools/internal/units"
	"snens/internal/strictjson"
	"snens/internal/testneed"
	"snens/internal/wire"
)

// anID is the request of every fake broker.
var anID = action.RequestID{1, 2, 3}

// script is a broker that answers each method with lines of JSON, the last one
// without more; "!code message {detail}" is an error.
type script struct {
	t *testing.T

	mu      sync.Mutex // guards what follows
	writes  string     // what the command of a run writes to its output
	answers map[string][]string
	calls   []string // "method params"
}

// newScript starts one and points the tools at it.
func newScript(t *testing.T, answers map[string][]string) *script {
	t.Helper()
	dir := t.TempDir()
	s := &script{t: t, answers: answers}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "request.sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			uc, err := l.AcceptUnix()
			if err != nil {
				return
			}
			wg.Go(func() { s.serve(uc) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	pointAt(t, l.Addr().String(), true)
	return s
}

// pointAt sets the variables by which the tools find a broker; own says that it is
// the caller's.
func pointAt(t *testing.T, socket string, own bool) {
	t.Helper()
	config := "/dev/null"
	if own {
		config = filepath.Join(t.TempDir(), "snens.toml")
		if err := os.WriteFile(config, []byte("[priv]\nuser = true\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("SNENS_CONFIG", config)
	t.Setenv("SNENS_PRIV", socket)
	t.Setenv("SNENS_SESSION", "")
}

func (s *script) serve(uc *net.UnixConn) {
	c, err := wire.New(uc, wire.Options{})
	if err != nil {
		s.t.Error(err)
		return
	}
	defer c.Close()
	if _, err := c.Accept(); err != nil {
		return
	}
	for {
		q, err := c.ReadRequest(0)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.calls = append(s.calls, q.Method+" "+string(q.Params.JSON()))
		answers, writes := s.answers[q.Method], s.writes
		s.mu.Unlock()
		s.answer(c, q, answers, writes)
	}
}

// says changes the answers to a method.
func (s *script) says(method string, answers ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[method] = answers
}

func (s *script) answer(c *wire.Conn, q wire.Request, answers []string, writes string) {
	if len(answers) == 0 {
		answers = []string{"!unknown_method there is no method " + q.Method}
	}
	if q.Method == "run" && !strings.HasPrefix(answers[0], "!") {
		n := 0
		if v := q.Params.Get("fds"); v != nil && v.Text == "3" {
			n = 3
		}
		files, err := c.TakeFDs(q.ID, n)
		if err != nil {
			s.t.Errorf("the descriptors: %v", err)
			return
		}
		defer files.Close()
		if n == 3 && writes != "" {
			_, _ = unix.Write(files.FD(1), []byte(writes))
		}
	}
	for i, a := range answers {
		refusal, no := strings.CutPrefix(a, "!")
		switch {
		case no:
			code, message, _ := strings.Cut(refusal, " ")
			message, detail, has := strings.Cut(message, " {")
			e := wire.Errorf(wire.Code(code), "%s", message)
			if has {
				v := s.value("{" + detail)
				e.Detail = &v
			}
			_ = c.Fail(q.ID, e)
		case i < len(answers)-1:
			_ = c.More(q.ID, s.value(a))
		default:
			_ = c.Reply(q.ID, s.value(a))
		}
	}
}

func (s *script) value(text string) strictjson.Value {
	v, err := strictjson.Parse([]byte(text), strictjson.Options{})
	if err != nil {
		s.t.Errorf("%s: %v", text, err)
	}
	return v
}

// asked are the calls since the last time.
func (s *script) asked() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := strings.Join(s.calls, "\n")
	s.calls = nil
	return calls
}

// use calls a tool as callers do, with files for its output.
func use(t *testing.T, stdin string, argv ...string) (status int, stdout, stderr string) {
	t.Helper()
	return useOn(t, "", stdin, argv...)
}

// useOn is use on a machine with that root; service alone looks at it.
func useOn(t *testing.T, root, stdin string, argv ...string) (status int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	std := cli.IO{In: strings.NewReader(stdin)}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for name, w := range map[string]func(f *os.File){"out": func(f *os.File) { std.Out = f }, "err": func(f *os.File) { std.Err = f }} {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		w(f)
	}
	if root != "" {
		status = cli.Report(std.Err, argv[0], doService(argv[1:], std, units.Source{Root: root}))
	} else {
		status = run(argv, std)
	}
	return status, read("out"), read("err")
}

// sees uses a tool and compares all it does.
func sees(t *testing.T, status int, stdout, stderr string, argv ...string) {
	t.Helper()
	gotStatus, gotOut, gotErr := use(t, "", argv...)
	if gotStatus != status || gotOut != stdout || gotErr != stderr {
		t.Errorf("%q ended with %d\nstdout %q\nstderr %q\nwant %d\nstdout %q\nstderr %q", argv, gotStatus, gotOut, gotErr, status, stdout, stderr)
	}
}

const exited = `{"id":"ID","state":"exited","reason":"exited","exit_code":0,"started":"2030-01-31T23:59:58.000000Z","ended":"2030-01-31T23:59:59.000000Z"}`

// result is exited, or what the pairs make of it.
func result(pairs ...string) string {
	return strings.NewReplacer(append([]string{"ID", anID.String()}, pairs...)...).Replace(exited)
}

// A broker that somebody else put into SNENS_PRIV is sent nothing, and no other way
// is tried.
func TestAFakeBrokerGainsNothing(t *testing.T) {
	testneed.Root(t)
	socket := filepath.Join(t.TempDir(), "request.sock")
	l := listenAs(t, socket, 54401)
	for _, own := range []bool{false, true} {
		pointAt(t, socket, own)
		for _, argv := range [][]string{
			{"service", "restart", "nginx"},
			{"package", "install", "jq"},
			{"priv", "--list"},
			{"priv", "--check", "--", "true"},
			{"priv", "--reason=secret", "--", "true"},
		} {
			status, out, errs := use(t, "", argv...)
			if status != action.ExitUnreachable || out != "" || !strings.Contains(errs, "cannot use the socket") || !strings.Contains(errs, "nothing was sent") {
				t.Errorf("own %v: %q: %d %q %q", own, argv, status, out, errs)
			}
			c, err := l.AcceptUnix()
			if err != nil {
				t.Fatal(err)
			}
			if n, err := c.Read(make([]byte, 100)); n != 0 || err == nil {
				t.Errorf("%q: %d bytes were sent", argv, n)
			}
			c.Close()
		}
	}
}

// listenAs listens as another user: who listens is whoever calls listen.
func listenAs(t *testing.T, socket string, uid int) *net.UnixListener {
	t.Helper()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: socket}); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with us
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); errno != 0 {
			done <- errno
			return
		}
		done <- unix.Listen(fd, 16)
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "listener")
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.(*net.UnixListener)
}
