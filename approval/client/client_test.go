package client_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"snens/approval/client"
	"snens/approval/prompt"
	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	ctx  = context.Background()
	anID = action.RequestID{1, 2, 3}
)

// fake answers one request with lines of JSON, the last one as the last answer,
// and wants it to be this one.
func fake(t *testing.T, method, params string, answers ...string) *client.Client {
	t.Helper()
	return serve(t, func(c *wire.Conn, q wire.Request) {
		if got := string(q.Params.JSON()); q.Method != method || got != params {
			t.Errorf("got %s %s, want %s %s", q.Method, got, method, params)
		}
		for i, text := range answers {
			v, err := strictjson.Parse([]byte(text), strictjson.Options{})
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
			if i < len(answers)-1 {
				_ = c.More(q.ID, v)
			} else {
				_ = c.Reply(q.ID, v)
			}
		}
	})
}

func serve(t *testing.T, answer func(c *wire.Conn, q wire.Request)) *client.Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		uc, err := l.AcceptUnix()
		if err != nil {
			return
		}
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
			answer(c, q)
			_, _ = c.ReadRequest(0) // until the client has left
		}
	})
	c, err := client.Dial(ctx, client.Options{Socket: path, Listener: uint32(os.Getuid())})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		l.Close()
		wg.Wait()
	})
	return c
}

func pending(t *testing.T) prompt.Pending {
	t.Helper()
	sealed, err := action.Seal(action.Request{
		Argv: []string{"true"}, Executable: action.File{Path: "/usr/bin/true", SHA256: action.DigestOf("x")}, Cwd: "/",
		Timeout: time.Minute, Stdin: action.Stdin{Mode: action.StdinNone}, Rule: "web", RuleDigest: action.DigestOf("r"),
		Requester: action.Requester{UID: 1001}, Expires: time.Unix(2_000_000_000, 0).UTC(), Nonce: action.Nonce{1}, Install: action.InstallID{1},
	})
	if err != nil {
		t.Fatal(err)
	}
	return prompt.Pending{ID: anID, Request: sealed, Since: time.Unix(1_999_999_000, 0).UTC(), Need: 1, Presence: prompt.PresencePeer}
}

func shown(p prompt.Pending, more ...strictjson.Member) string {
	v := p.Value()
	v.Members = append(v.Members, more...)
	text := fields.Object(fields.Member("pending", v))
	return string(text.JSON())
}

func TestListAndShow(t *testing.T) {
	p := pending(t)
	for limit, params := range map[int]string{0: `{}`, 5: `{"limit":5}`} {
		list, total, err := fake(t, "list", params, shown(p), `{"count":1,"total":9}`).List(ctx, limit)
		if err != nil || total != 9 || len(list) != 1 || list[0].Request.Digest() != p.Request.Digest() {
			t.Errorf("%+v, %d, %v", list, total, err)
		}
	}
	named := `{"request":"` + anID.String() + `"}`
	got, err := fake(t, "show", named, shown(p)).Show(ctx, anID)
	if err != nil || got.Request.Text() != p.Request.Text() {
		t.Errorf("%+v, %v", got, err)
	}
	// What a server must not say is no answer.
	for _, answer := range []string{
		shown(p, fields.Member("digest", fields.Text(p.Request.Digest().String()))),
		shown(p, fields.Member("text", fields.Text("harmless"))),
		shown(func() prompt.Pending { q := p; q.ID = action.RequestID{9}; return q }()),
		`{}`, `{"pending":{}}`,
	} {
		got, err := fake(t, "show", named, answer).Show(ctx, anID)
		var refused *client.Refused
		if !errors.As(err, &refused) || refused.Reason != action.ReasonInternal || got.Request != nil || client.ExitStatus(err) != 1 {
			t.Errorf("%s: %+v, %v", answer, got, err)
		}
	}
	if list, _, err := fake(t, "list", `{}`, shown(p), `{"count":2,"total":2}`).List(ctx, 0); err == nil || list != nil {
		t.Errorf("a false count: %+v", list)
	}
}

func TestAnswers(t *testing.T) {
	p := pending(t)
	id, digest := anID.String(), p.Request.Digest()
	c := fake(t, "answer", `{"request":"`+id+`","decision":"approve","digest":"`+digest.String()+`","lifespan":"once"}`, `{"state":"approved"}`)
	if state, err := c.Approve(ctx, anID, digest, action.Once); state != action.Approved || err != nil {
		t.Errorf("%v, %v", state, err)
	}
	c = fake(t, "answer", `{"request":"`+id+`","decision":"deny","digest":"`+digest.String()+`"}`, `{"state":"denied"}`)
	if state, err := c.Deny(ctx, anID, digest); state != action.Denied || err != nil {
		t.Errorf("%v, %v", state, err)
	}
	if err := fake(t, "kill", `{"request":"`+id+`"}`, `{}`).Kill(ctx, anID); err != nil {
		t.Error(err)
	}
	c = serve(t, func(c *wire.Conn, q wire.Request) { t.Errorf("asked %s", q.Method) })
	if state, err := c.Approve(ctx, anID, action.Digest{}, action.Once); state != 0 || err == nil {
		t.Errorf("a digest that was never set: %v", state)
	}
	c = serve(t, func(c *wire.Conn, q wire.Request) { _ = c.Fail(q.ID, wire.Errorf("self_approval", "trust me")) })
	_, err := c.Approve(ctx, anID, digest, action.Once)
	var refused *client.Refused
	if !errors.As(err, &refused) || refused.Reason != action.ReasonSelfApproval || refused.Error() != action.ReasonSelfApproval.Text() {
		t.Errorf("%v", err)
	}
}

func TestWatch(t *testing.T) {
	event := `{"event":{"event":"pending","id":"` + anID.String() + `","state":"pending"}}`
	var got []prompt.Event
	ready := 0
	each := func(e prompt.Event) error { got = append(got, e); return nil }
	begun := func() error { ready++; return nil }
	err := fake(t, "watch", `{}`, `{"state":"watching"}`, event, `{"state":"dropped"}`).Watch(ctx, begun, each)
	if !errors.Is(err, client.ErrDropped) || ready != 1 || len(got) != 1 || got[0].ID != anID || got[0].Kind != action.EventPending {
		t.Errorf("%v, %d, %+v", err, ready, got)
	}
	for _, answers := range [][]string{{event, `{}`}, {`{"state":"watching"}`, `{"state":"watching"}`}, {`{"state":"watching"}`, `{}`, `{}`}} {
		var refused *client.Refused
		if err := fake(t, "watch", `{}`, answers...).Watch(ctx, begun, func(prompt.Event) error { return nil }); !errors.As(err, &refused) {
			t.Errorf("%q: %v", answers, err)
		}
	}
	end := errors.New("enough")
	if err := fake(t, "watch", `{}`, `{"state":"watching"}`, `{}`).Watch(ctx, func() error { return end }, each); !errors.Is(err, end) {
		t.Error(err)
	}
	ending, cancel := context.WithCancel(ctx)
	c := fake(t, "watch", `{}`, `{"state":"watching"}`, event, event, `{"state":"dropped"}`)
	if err := c.Watch(ending, func() error { cancel(); return nil }, each); err == nil {
		t.Error("the end of the context does not end a watch")
	}
}

func TestNobodyIsThere(t *testing.T) {
	_, err := client.Dial(ctx, client.Options{Socket: filepath.Join(t.TempDir(), "s")})
	if client.ExitStatus(err) != action.ExitUnreachable {
		t.Error(err)
	}
}

// A listener of another uid gets no byte.
func TestAFakeServerHearsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = client.Dial(ctx, client.Options{Socket: path, Listener: uint32(os.Getuid()) + 1})
	var refused *client.Refused
	if !errors.As(err, &refused) || refused.Reason != action.ReasonUntrustedBroker || client.ExitStatus(err) != action.ExitUnreachable {
		t.Errorf("%v", err)
	}
	uc, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer uc.Close()
	if n, err := uc.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("it heard %d bytes", n)
	}
}
