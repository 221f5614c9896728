package main

import (
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"snens/internal/strictjson"
	"snens/internal/wire"
)

// client is a connection as some user.
type client struct {
	t *testing.T
	*wire.Conn
	socket *net.UnixConn
	last   wire.ID
}

// connect connects with other ids: those of one thread, which ends with it.
func connect(path string, uid, gid int) (*net.UnixConn, error) {
	type result struct {
		c   *net.UnixConn
		err error
	}
	done := make(chan result)
	go func() {
		runtime.LockOSThread() // and never unlocked
		c, err := connectAs(path, uid, gid)
		done <- result{c, err}
	}()
	r := <-done
	return r.c, r.err
}

func connectAs(path string, uid, gid int) (*net.UnixConn, error) {
	if os.Geteuid() == 0 {
		var none unsafe.Pointer
		if _, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, 0, uintptr(none), 0); e != 0 {
			return nil, e
		}
		if _, _, e := unix.RawSyscall(unix.SYS_SETRESGID, uintptr(gid), uintptr(gid), uintptr(gid)); e != 0 {
			return nil, e
		}
		if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); e != 0 {
			return nil, e
		}
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		return nil, err
	}
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	return c.(*net.UnixConn), nil
}

// dial greets a socket of the daemon as a user.
func (p *process) dial(socket string, uid, gid int) *client {
	p.t.Helper()
	uc, err := connect(p.path("run/"+socket+".sock"), uid, gid)
	must(p.t, err)
	p.t.Cleanup(func() { _ = uc.Close() })
	return greet(p.t, uc)
}

func greet(t *testing.T, uc *net.UnixConn) *client {
	t.Helper()
	conn, err := wire.New(uc, wire.Options{})
	must(t, err)
	_, err = conn.Hello()
	must(t, err)
	return &client{t: t, Conn: conn, socket: uc}
}

func (p *process) asker() *client { return p.dial("request", uidAsker, gidAskers) }

// send sends a request, the parameters as JSON.
func (c *client) send(method, params string) {
	c.t.Helper()
	v, err := strictjson.Parse([]byte(params), strictjson.Options{})
	must(c.t, err)
	c.last++
	must(c.t, c.Send(wire.Request{ID: c.last, Method: method, Params: v}))
}

// next is the next answer; its error, if it is one, is in the text.
func (c *client) next() (v strictjson.Value, more bool) {
	c.t.Helper()
	r, err := c.ReadReply(patience)
	if err != nil {
		c.t.Fatalf("no answer: %v", err)
	}
	if r.Err != nil {
		return strictjson.StringValue(string(r.Err.Code)), false
	}
	return r.Result, r.More
}

// call is a method with one answer.
func (c *client) call(method, params string) strictjson.Value {
	c.t.Helper()
	c.send(method, params)
	v, _ := c.next()
	return v
}

// code is the code of an error that a call was answered with.
func (c *client) code(method, params string) string {
	c.t.Helper()
	v := c.call(method, params)
	if v.Kind == strictjson.String {
		return v.Text
	}
	return "no error: " + string(v.JSON())
}

// begin begins a run with the null file, and two ends of a pipe; it gives the
// other end, and the first answer afterwards or the code of an error.
func (c *client) begin(params string) (*os.File, strictjson.Value) {
	c.t.Helper()
	r, w, err := os.Pipe()
	must(c.t, err)
	defer w.Close()
	c.t.Cleanup(func() { _ = r.Close() })
	null, err := os.Open(os.DevNull)
	must(c.t, err)
	defer null.Close()
	c.send("run", strings.TrimSuffix(params, "}")+`,"fds":3}`)
	v, more := c.next()
	if !more {
		return r, v
	}
	if got := field(v, "state"); got != "send_fds" {
		c.t.Fatalf("answered %s before the descriptors", got)
	}
	must(c.t, c.SendFDs(int(null.Fd()), int(w.Fd()), int(w.Fd())))
	v, _ = c.next()
	return r, v
}

// field is a member's text, or the value itself where it is the code of an error.
func field(v strictjson.Value, name string) string {
	if v.Kind == strictjson.String {
		return "error " + v.Text
	}
	if m := v.Get(name); m != nil {
		return m.Text
	}
	return ""
}

// ended says how a run ended: "exited exited".
func ended(v strictjson.Value) string { return field(v, "state") + " " + field(v, "reason") }

// output reads to the end.
func output(t *testing.T, r *os.File) string {
	t.Helper()
	must(t, r.SetReadDeadline(time.Now().Add(patience)))
	var b strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		b.Write(buf[:n])
		if err != nil {
			return b.String()
		}
	}
}
