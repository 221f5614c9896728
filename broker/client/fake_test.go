package client_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/broker/client"
	"snens/internal/fields"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a broker that does with each connection what serve says. It returns
// the socket's path.
func fake(t *testing.T, serve func(c *wire.Conn)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "request.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
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
			wg.Go(func() {
				c, err := wire.New(uc, wire.Options{})
				if err != nil {
					t.Error(err)
					return
				}
				defer c.Close()
				if _, err := c.Accept(); err == nil {
					serve(c)
				}
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	return path
}

// dial connects to a fake, which is one's own.
func dial(t *testing.T, path string, more ...func(*client.Options)) *client.Client {
	t.Helper()
	o := client.Options{Socket: path, Listener: uint32(os.Getuid())}
	for _, f := range more {
		f(&o)
	}
	c, err := client.Dial(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// once reads a request and answers it with lines of JSON: the last one is the
// last answer, those before it are followed by more.
func once(t *testing.T, method, params string, answers ...string) func(c *wire.Conn) {
	return func(c *wire.Conn) {
		q, err := c.ReadRequest(0)
		if err != nil {
			return
		}
		if got := string(q.Params.JSON()); q.Method != method || got != params {
			t.Errorf("got %s %s, want %s %s", q.Method, got, method, params)
		}
		for i, a := range answers {
			if i < len(answers)-1 {
				_ = c.More(q.ID, value(t, a))
			} else {
				_ = c.Reply(q.ID, value(t, a))
			}
		}
		_, _ = c.ReadRequest(0) // until the client has left
	}
}

func value(t *testing.T, text string) strictjson.Value {
	t.Helper()
	v, err := strictjson.Parse([]byte(text), strictjson.Options{})
	if err != nil {
		t.Errorf("%s: %v", text, err)
	}
	return v
}

// running is a run on the fake's side, its descriptors taken.
type running struct {
	*wire.Conn
	id    wire.ID
	q     wire.Request
	files *wire.Files
}

// runs serves a run: it takes the descriptors and goes on by then.
func runs(t *testing.T, then func(r *running)) func(c *wire.Conn) {
	return func(c *wire.Conn) {
		q, err := c.ReadRequest(0)
		if err != nil {
			return
		}
		o := q.Fields()
		files, err := c.TakeFDs(q.ID, int(o.Field("fds").Uint(3)))
		if err != nil {
			t.Errorf("the descriptors: %v", err)
			return
		}
		defer files.Close()
		then(&running{c, q.ID, q, files})
	}
}

// file is a copy of descriptor i.
func (r *running) file(t *testing.T, i int) *os.File {
	t.Helper()
	fd, err := unix.FcntlInt(uintptr(r.files.FD(i)), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		t.Error(err)
	}
	return os.NewFile(uintptr(fd), "descriptor")
}

// ends answers with a result.
func (r *running) ends(result action.Result) { _ = r.Reply(r.id, result.Value()) }

func (r *running) pends(id action.RequestID, asked int) {
	_ = r.More(r.id, fields.Object(
		fields.Member("state", fields.Text("pending")),
		fields.Member("id", fields.Text(id.String())),
		fields.Member("digest", fields.Text(action.DigestOf("text").String())),
		fields.Member("rule", fields.Text("web")),
		fields.Member("expires", fields.Text("2030-01-31T23:59:59.000000Z")),
		fields.Member("approvers", fields.List([]string{"group:ops", "ann"}, fields.Text)),
		fields.Member("asked", fields.Int(int64(asked))),
	))
}

var anID = action.RequestID{1, 2, 3}

func exited(code int) action.Result {
	return action.Result{ID: anID, State: action.Exited, Reason: action.ReasonExited, Code: code}
}
