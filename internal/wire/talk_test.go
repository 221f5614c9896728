package wire_test

import (
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"snens/internal/fields"
	"snens/internal/wire"
)

// count serves one method: as many answers as asked for, and a last one.
func count(t *testing.T, server *wire.Conn) {
	defer server.End()
	if h, err := server.Accept("detach"); err != nil || h.Version != 1 || len(h.Capabilities) != 2 {
		t.Errorf("greeted by %v, %v", h, err)
	}
	for {
		q, err := server.ReadRequest(0)
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Error(err)
			return
		}
		f := q.Fields()
		n := f.Field("n").Uint(10)
		if err := f.Close(); err != nil {
			if err := server.Fail(q.ID, wire.Errorf(wire.BadRequest, "%v", err)); err != nil {
				t.Error(err)
			}
			continue
		}
		for i := range n {
			if err := server.More(q.ID, fields.Object(fields.Member("i", fields.Uint(i)))); err != nil {
				t.Error(err)
			}
		}
		if err := server.Reply(q.ID, fields.Object()); err != nil {
			t.Error(err)
		}
	}
}

func TestAWholeConversation(t *testing.T) {
	a, b := sockets(t)
	server, client := newConn(t, a, wire.Options{}), newConn(t, b, wire.Options{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer client.End()
	wg.Go(func() { count(t, server) })
	h, err := client.Hello("x", "y")
	if err != nil || len(h.Capabilities) != 1 || h.Capabilities[0] != "detach" {
		t.Fatalf("answered by %v, %v", h, err)
	}
	if err := client.Send(wire.Request{ID: 3, Method: "count", Params: fields.Object(fields.Member("n", fields.Int(2)))}); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(3) {
		r, err := client.ReadReply(0)
		if err != nil || r.ID != 3 || r.More != (i < 2) {
			t.Fatalf("answer %d: %+v, %v", i, r, err)
		}
		if r.More {
			if f := r.Fields(); f.Field("i").Uint(9) != i || f.Close() != nil {
				t.Errorf("answer %d: %+v", i, r.Result)
			}
		}
	}
	if err := client.Send(wire.Request{ID: 4, Method: "count", Params: fields.Object(fields.Member("m", fields.Int(2)))}); err != nil {
		t.Fatal(err)
	}
	r, err := client.ReadReply(0)
	if err != nil || r.ID != 4 || r.Err == nil || r.Err.Code != wire.BadRequest || !strings.Contains(r.Err.Message, `"n" is missing`) {
		t.Errorf("got %+v, %v", r, err)
	}
	for _, id := range []wire.ID{0, 1 << 53} {
		if client.Send(wire.Request{ID: id, Method: "m", Params: fields.Object()}) == nil {
			t.Errorf("the id %d was sent", id)
		}
	}
	client.Close()
}

func TestServersRefuseGreetings(t *testing.T) {
	for _, c := range []struct {
		line   string
		code   wire.Code
		answer string
	}{
		{`{"hello":{"version":2,"capabilities":[]}}`, wire.BadVersion, `{"id":null,"error":{"code":"unsupported_version","message":"version 2 is not spoken here, 1 is","detail":{"versions":[1]}}}`},
		{`{"hello":{"version":0,"capabilities":[]}}`, wire.BadVersion, `"versions":[1]`},
		{`GET / HTTP/1.1`, wire.BadRequest, `"bad_request"`},
		{`{"id":1,"method":"run"}`, wire.BadRequest, `\"hello\" is missing`},
		{strings.Repeat(" ", wire.MaxLineGreeting), wire.TooLarge, `"too_large"`},
	} {
		a, client := sockets(t)
		server := newConn(t, a, wire.Options{})
		write(t, client, c.line+"\n")
		_, err := server.Accept()
		wantCode(t, err, c.code, "")
		server.Refuse(err)
		if _, again := server.ReadRequest(0); again == nil {
			t.Errorf("%s: requests are read", c.line)
		}
		server.End()
		said, err := io.ReadAll(client)
		if err != nil || !strings.Contains(string(said), c.answer) || strings.Count(string(said), "\n") != 1 {
			t.Errorf("%.40s: the client was told %s (%v)", c.line, said, err)
		}
	}
}

func TestClientsHearWhyTheyAreRefused(t *testing.T) {
	busy := string(wire.RefusalLine(wire.Errorf(wire.Busy, "too many connections")))
	if busy != `{"id":null,"error":{"code":"busy","message":"too many connections"}}`+"\n" {
		t.Fatalf("the line is %s", busy)
	}
	long := fields.Object(fields.Member("x", fields.Text(strings.Repeat("x", wire.MaxLineGreeting))))
	if got := string(wire.RefusalLine(&wire.Error{Code: wire.Busy, Message: "too many connections", Detail: &long})); got != busy {
		t.Errorf("with a long detail it is %s", got)
	}
	for name, before := range map[string]bool{"before they speak": true, "after": false} {
		t.Run(name, func(t *testing.T) {
			a, b := sockets(t)
			client := newConn(t, b, wire.Options{})
			if before {
				write(t, a, busy)
				a.Close()
				_, err := client.Hello()
				wantCode(t, err, wire.Busy, "too many")
				return
			}
			write(t, a, `{"hello":{"version":1,"capabilities":[]}}`+"\n"+busy)
			if _, err := client.Hello(); err != nil {
				t.Fatal(err)
			}
			_, err := client.ReadReply(0)
			wantCode(t, err, wire.Busy, "too many")
		})
	}
}

func TestClientsDistrustAnswers(t *testing.T) {
	for _, line := range []string{
		`{"hello":{"version":2,"capabilities":[]}}`, `{}`, `SSH-2.0`, `{"id":1,"result":{}}`, "",
	} {
		a, b := sockets(t)
		client := newConn(t, b, wire.Options{})
		write(t, a, line+"\n")
		if _, err := client.Hello(); err == nil {
			t.Errorf("%q is taken for a greeting", line)
		}
	}
	a, b := sockets(t)
	client := newConn(t, b, wire.Options{})
	client.Greeted()
	write(t, a, `{"id":1,"result":{},"Error":1}`+"\n"+`{"id":1,"result":{}}`+"\n")
	for range 2 {
		if r, err := client.ReadReply(time.Minute); err == nil {
			t.Errorf("got %+v", r)
		}
	}
}

func TestClientsDoNotWaitForEver(t *testing.T) {
	_, b := sockets(t)
	client := newConn(t, b, wire.Options{})
	client.OnReadDeadline(func(at time.Time) time.Time {
		if at.IsZero() {
			t.Error("no end to the waiting")
		}
		return time.Unix(1, 0)
	})
	_, err := client.Hello()
	wantCode(t, err, wire.TooSlow, "took too long")
}
