package main

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

// fakeBroker does with each connection what serve says, and returns its socket.
func fakeBroker(t *testing.T, serve func(c *wire.Conn, q wire.Request)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
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
				if _, err := c.Accept(); err != nil {
					return
				}
				if q, err := c.ReadRequest(0); err == nil {
					serve(c, q)
					_, _ = c.ReadRequest(0) // until the client has left
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

// answers is a broker that answers one request with lines of JSON.
func answers(t *testing.T, method, params string, lines ...string) string {
	return fakeBroker(t, func(c *wire.Conn, q wire.Request) {
		if got := string(q.Params.JSON()); q.Method != method || got != params {
			t.Errorf("got %s %s, want %s %s", q.Method, got, method, params)
		}
		for i, line := range lines {
			v, err := strictjson.Parse([]byte(line), strictjson.Options{})
			if err != nil {
				t.Errorf("%s: %v", line, err)
			}
			if i < len(lines)-1 {
				_ = c.More(q.ID, v)
			} else {
				_ = c.Reply(q.ID, v)
			}
		}
	})
}

// refuses is a broker that refuses whatever is asked.
func refuses(t *testing.T, e *wire.Error) string {
	return fakeBroker(t, func(c *wire.Conn, q wire.Request) { _ = c.Fail(q.ID, e) })
}

// takes takes the descriptors of a run, as often as were announced.
func takes(t *testing.T, c *wire.Conn, q wire.Request) *wire.Files {
	o := q.Fields()
	files, err := c.TakeFDs(q.ID, int(o.Field("fds").Uint(3)))
	if err != nil {
		t.Errorf("the descriptors: %v", err)
		return &wire.Files{}
	}
	if err := files.CheckStdio(); err != nil {
		t.Error(err)
	}
	return files
}

// ends is a broker whose commands write to both outputs and end like that.
func ends(t *testing.T, r action.Result) string {
	return fakeBroker(t, func(c *wire.Conn, q wire.Request) {
		files := takes(t, c, q)
		if files.Len() == 3 {
			_, _ = unix.Write(files.FD(1), []byte("out\n"))
			_, _ = unix.Write(files.FD(2), []byte("err\n"))
		}
		files.Close()
		_ = c.Reply(q.ID, r.Value())
	})
}

func pendingNotice(asked int) strictjson.Value {
	return fields.Object(
		fields.Member("state", fields.Text("pending")),
		fields.Member("id", fields.Text(someID.String())),
		fields.Member("digest", fields.Text(action.DigestOf("text").String())),
		fields.Member("rule", fields.Text("web")),
		fields.Member("expires", fields.Text("2020-01-31T23:59:59.000000Z")),
		fields.Member("approvers", fields.List([]string{"group:ops", "ann\x1b"}, fields.Text)),
		fields.Member("asked", fields.Int(int64(asked))),
	)
}

var someID = action.RequestID{1, 2, 3}

// privRunner is a runner whose broker is at socket.
func privRunner(t *testing.T, socket string) *runner {
	r := newRunner(t)
	r.env = append(r.env, "SNENS_PRIV="+socket)
	return r
}

// privStatus runs with --status-fd and returns the line, too.
func (r *runner) privStatus(args ...string) (status int, stdout, stderr, line string) {
	r.t.Helper()
	f, err := os.Create(filepath.Join(r.t.TempDir(), "line"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer f.Close()
	args = append([]string{"priv", "--user", "--status-fd", strconv.Itoa(int(f.Fd()))}, args...)
	status, stdout, stderr = r.run(args...)
	return status, stdout, stderr, r.drain(f)
}

// obliging is a broker that does whatever it is asked.
func obliging(t *testing.T) string {
	return fakeBroker(t, func(c *wire.Conn, q wire.Request) {
		done := action.Result{ID: someID, State: action.Exited, Reason: action.ReasonExited}
		switch q.Method {
		case "run":
			files := takes(t, c, q)
			if files.Len() == 3 {
				_, _ = unix.Write(files.FD(1), []byte("done\n"))
			} else {
				done = action.Result{ID: someID, State: action.Approved}
			}
			files.Close()
			_ = c.Reply(q.ID, done.Value())
		case "result":
			_ = c.Reply(q.ID, done.Value())
		case "rules":
			rule := fields.Object(fields.Member("id", fields.Text("web")), fields.Member("decision", fields.Text("allow")))
			_ = c.More(q.ID, fields.Object(fields.Member("rule", rule)))
			_ = c.Reply(q.ID, fields.Object(fields.Member("count", fields.Int(1))))
		case "check":
			_ = c.Reply(q.ID, fields.Object(fields.Member("decision", fields.Text("allow"))))
		default:
			_ = c.Fail(q.ID, wire.Errorf(wire.UnknownMethod, "%s", q.Method))
		}
	})
}
