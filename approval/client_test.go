package approval_test

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

// as connects as somebody, and greets.
func (w *world) as(uid int, groups ...int) *client {
	w.t.Helper()
	return greet(w.t, connectAs(w.t, w.path, uid, groups...))
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
func connectAs(t testing.TB, path string, uid int, groups ...int) *net.UnixConn {
	t.Helper()
	type dialed struct {
		fd  int
		err error
	}
	out := make(chan dialed)
	go func() {
		runtime.LockOSThread()
		list := make([]uint32, len(groups))
		for i, g := range groups {
			list[i] = uint32(g)
		}
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		for _, e := range []unix.Errno{setgroups(list), raw(unix.SYS_SETRESGID, uid), raw(unix.SYS_SETRESUID, uid)} {
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
	r := c.read()
	if r.More || r.ID != c.next {
		c.t.Fatalf("answer %d (more %t) %s, want the last one to %d", r.ID, r.More, said(r), c.next)
	}
	return r
}

func (c *client) send(method, params string) {
	c.t.Helper()
	v, err := strictjson.Parse([]byte(params), strictjson.Options{})
	must(c.t, err)
	c.next++
	must(c.t, c.Send(wire.Request{ID: c.next, Method: method, Params: v}))
}

func (c *client) read() wire.Reply {
	c.t.Helper()
	r, err := c.ReadReply(30 * time.Second)
	must(c.t, err)
	return r
}

// watch begins a watch and gives its id.
func (c *client) watch() wire.ID {
	c.t.Helper()
	c.send("watch", `{}`)
	says(c.t, c.read(), `{"state":"watching"}`)
	return c.next
}

// list asks for everything and gives the ids that came, and the last answer.
func (c *client) list(params string) (ids []string, last wire.Reply) {
	c.t.Helper()
	c.send("list", params)
	for {
		r := c.read()
		if !r.More {
			return ids, r
		}
		ids = append(ids, r.Result.Get("pending").Get("id").Text)
	}
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

// code is the code of an error, or the state that an answer brought about.
func code(r wire.Reply) string {
	if r.Err != nil {
		return string(r.Err.Code)
	}
	if s := r.Result.Get("state"); s != nil {
		return s.Text
	}
	return said(r)
}

// says demands an answer.
func says(t testing.TB, r wire.Reply, want string) {
	t.Helper()
	if got := said(r); got != want {
		t.Errorf("told %s\nwant %s", got, want)
	}
}
