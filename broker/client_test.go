package broker_test

import (
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/strictjson"
	"snens/internal/wire"
)

// client is the other end of a connection.
type client struct {
	*wire.Conn
	t    testing.TB
	uc   *net.UnixConn
	next wire.ID
}

func (w *world) dial() *client { w.t.Helper(); return dial(w.t, w.path) }

// dial connects as the uid of the tests, and greets.
func dial(t testing.TB, path string) *client {
	t.Helper()
	uc, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	must(t, err)
	return greet(t, uc)
}

func greet(t testing.TB, uc *net.UnixConn) *client {
	t.Helper()
	c := &client{t: t, uc: uc}
	var err error
	c.Conn, err = wire.New(uc, wire.Options{})
	must(t, err)
	t.Cleanup(func() { c.Close() })
	_, err = c.Hello()
	must(t, err)
	return c
}

// connectAs connects as somebody: the kernel asks the thread that connects, and
// that thread is not used again.
func connectAs(t testing.TB, path string, uid, gid int, groups ...int) *net.UnixConn {
	t.Helper()
	type dialed struct {
		fd  int
		err error
	}
	out := make(chan dialed)
	go func() {
		runtime.LockOSThread()
		list := make([]uint32, len(groups)+1)
		for i, g := range groups {
			list[i] = uint32(g)
		}
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		for _, e := range []unix.Errno{setgroups(list[:len(groups)]), raw(unix.SYS_SETRESGID, gid), raw(unix.SYS_SETRESUID, uid)} {
			if e != 0 && err == nil {
				err = e
			}
		}
		if err == nil {
			err = unix.Connect(fd, &unix.SockaddrUnix{Name: path})
		}
		out <- dialed{fd, err}
	}()
	d := <-out
	must(t, d.err)
	f := os.NewFile(uintptr(d.fd), path)
	defer f.Close()
	c, err := net.FileConn(f)
	must(t, err)
	return c.(*net.UnixConn)
}

// ask sends a request and gives its only answer.
func (c *client) ask(method, params string) wire.Reply {
	c.t.Helper()
	c.send(method, params)
	return c.last()
}

func (c *client) send(method, params string) {
	c.t.Helper()
	v, err := strictjson.Parse([]byte(params), strictjson.Options{})
	must(c.t, err)
	c.next++
	must(c.t, c.Send(wire.Request{ID: c.next, Method: method, Params: v}))
}

// last reads the last answer to the last request.
func (c *client) last() wire.Reply {
	c.t.Helper()
	r := c.read()
	if r.More || r.ID != c.next {
		c.t.Fatalf("answer %d (more %t) %s, want the last one to %d", r.ID, r.More, said(r), c.next)
	}
	return r
}

func (c *client) read() wire.Reply {
	c.t.Helper()
	r, err := c.ReadReply(30 * time.Second)
	must(c.t, err)
	return r
}

// start sends a run and does the step for descriptors. The answers are to be read.
func (c *client) start(params string, fds ...int) {
	c.t.Helper()
	c.send("run", params)
	r := c.read()
	if !r.More || said(r) != `{"state":"send_fds"}` {
		c.t.Fatalf("told %s, want send_fds", said(r))
	}
	must(c.t, c.SendFDs(fds...))
}

// said is what an answer says.
func said(r wire.Reply) string {
	if r.Err == nil {
		return string(r.Result.JSON())
	}
	s := string(r.Err.Code) + ": " + r.Err.Message
	if r.Err.Detail != nil {
		s += " " + string(r.Err.Detail.JSON())
	}
	return s
}

// says demands an answer.
func says(t testing.TB, r wire.Reply, want string) {
	t.Helper()
	if got := said(r); got != want {
		t.Errorf("told %s\nwant %s", got, want)
	}
}

// ends demands that the server hangs up, and gives what it said before.
func (c *client) ends() (why []wire.Reply) {
	c.t.Helper()
	for {
		r, err := c.ReadReply(30 * time.Second)
		if err != nil {
			if e, ok := err.(*wire.Error); ok {
				return append(why, wire.Reply{Err: e})
			}
			return why
		}
		why = append(why, r)
	}
}
