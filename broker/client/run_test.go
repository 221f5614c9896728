package client_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/broker/client"
	"snens/internal/wire"
)

func TestRunSendsTheRequestAndGivesTheResult(t *testing.T) {
	stdin := "in\xff"
	for _, c := range []struct {
		q    client.Request
		want string
	}{
		{client.Request{Command: client.Command{Rule: "web"}}, `{"rule":"web","slots":{},"fds":0}`},
		{
			client.Request{Command: client.Command{Rule: "web", Slots: map[string][]string{"unit": {"a", "b"}, "how": {""}}}},
			`{"rule":"web","slots":{"how":[""],"unit":["a","b"]},"fds":0}`,
		},
		{
			client.Request{
				Command: client.Command{Argv: []string{"ls", "-l", "\xfe"}}, Cwd: "/srv", Env: []string{"A=1"}, Stdin: &stdin,
				Claims: action.Claims{Session: "s", Reason: "because"}, TTL: 90*time.Second + 3*time.Microsecond, Detach: true,
			},
			`{"argv":["ls","-l",{"base64":"/g=="}],"cwd":"/srv","env":["A=1"],"stdin":{"base64":"aW7/"},` +
				`"claims":{"session":"s","reason":"because"},"ttl":"1m30s","detach":true,"fds":0}`,
		},
	} {
		path := fake(t, runs(t, func(r *running) {
			if got := string(r.q.Params.JSON()); r.q.Method != "run" || got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			r.ends(exited(3))
		}))
		if r, err := dial(t, path).Run(context.Background(), c.q, nil); err != nil || r != exited(3) {
			t.Errorf("%+v: %+v, %v", c.q, r, err)
		}
	}
}

func TestRunRefusesNonsense(t *testing.T) {
	path := fake(t, func(c *wire.Conn) {
		if q, err := c.ReadRequest(0); err == nil {
			t.Errorf("%s was sent", q.Method)
		}
	})
	c := dial(t, path)
	for _, q := range []client.Request{
		{},
		{Command: client.Command{Rule: "a", Argv: []string{"b"}}},
		{Command: client.Command{Argv: []string{"b"}, Slots: map[string][]string{"s": {"x"}}}},
		{Command: client.Command{Rule: "a"}, Detach: true, Files: [3]*os.File{os.Stdin}},
	} {
		if _, err := c.Run(context.Background(), q, nil); client.ExitStatus(err) != action.ExitBadRequest {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// A request above the length of a line is told so, and is no fault of the broker.
func TestTooLongForALine(t *testing.T) {
	path := fake(t, func(c *wire.Conn) { _, _ = c.ReadRequest(0) })
	_, err := dial(t, path).Run(context.Background(), client.Request{Command: client.Command{Argv: []string{strings.Repeat("x", 300<<10)}}}, nil)
	if client.ExitStatus(err) != action.ExitBadRequest {
		t.Errorf("got %v", err)
	}
}

func TestPeopleWereAsked(t *testing.T) {
	path := fake(t, runs(t, func(r *running) {
		r.pends(anID, 2)
		r.ends(action.Result{ID: anID, State: action.Denied, Reason: action.ReasonApproverDenied})
	}))
	var got []client.Pending
	result, err := dial(t, path).Run(context.Background(), client.Request{Command: client.Command{Rule: "web"}}, func(p client.Pending) { got = append(got, p) })
	if err != nil || result.Reason != action.ReasonApproverDenied || result.ExitStatus() != action.ExitDenied {
		t.Errorf("%+v, %v", result, err)
	}
	if len(got) != 1 || got[0].ID != anID || got[0].Digest != action.DigestOf("text") || got[0].Rule != "web" || got[0].Asked != 2 ||
		!slices.Equal(got[0].Approvers, []string{"group:ops", "ann"}) || !got[0].Expires.Equal(time.Date(2030, 1, 31, 23, 59, 59, 0, time.UTC)) {
		t.Errorf("%+v", got)
	}
}

func TestDetached(t *testing.T) {
	path := fake(t, runs(t, func(r *running) { _ = r.Reply(r.id, value(t, `{"id":"`+anID.String()+`","state":"pending"}`)) }))
	result, err := dial(t, path).Run(context.Background(), client.Request{Command: client.Command{Rule: "web"}, Detach: true}, nil)
	if want := (action.Result{ID: anID, State: action.Pending}); err != nil || result != want {
		t.Errorf("%+v, %v", result, err)
	}
}

// Each descriptor arrives in its place; one that is not there is the null file.
func TestFilesArePassed(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	f, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	path := fake(t, runs(t, func(r *running) {
		if r.files.Len() != 3 {
			t.Errorf("%d descriptors", r.files.Len())
		}
		if err := r.files.CheckStdio(); err != nil {
			t.Error(err)
		}
		for i, want := range []string{os.DevNull, os.DevNull, out} {
			d := r.file(t, i)
			defer d.Close()
			var got, named unix.Stat_t
			if err := errors.Join(unix.Fstat(int(d.Fd()), &got), unix.Stat(want, &named)); err != nil || got.Ino != named.Ino || got.Dev != named.Dev {
				t.Errorf("descriptor %d is not %s (%v)", i, want, err)
			}
		}
		r.ends(exited(0))
	}))
	if _, err := dial(t, path).Run(context.Background(), client.Request{Command: client.Command{Rule: "web"}, Files: [3]*os.File{2: f}}, nil); err != nil {
		t.Error(err)
	}
}

// What can be neither passed nor copied: an unreadable stdin is an empty one
// (nohup), an output that cannot be written is an error before anything is sent.
func TestFilesOfTheWrongKind(t *testing.T) {
	unreadable, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unreadable.Close()
	path := fake(t, runs(t, func(r *running) {
		if err := r.files.CheckStdio(); err != nil {
			t.Error(err)
		}
		r.ends(exited(0))
	}))
	if _, err := dial(t, path).Run(context.Background(), client.Request{Command: client.Command{Rule: "web"}, Files: [3]*os.File{0: unreadable}}, nil); err != nil {
		t.Error(err)
	}
	folder, err := os.Open("/")
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	quiet := fake(t, func(c *wire.Conn) {
		if q, err := c.ReadRequest(0); !errors.Is(err, io.EOF) {
			t.Errorf("%s was sent (%v)", q.Method, err)
		}
	})
	c := dial(t, quiet)
	var refused *client.Refused
	if _, err := c.Run(context.Background(), client.Request{Command: client.Command{Rule: "web"}, Files: [3]*os.File{1: folder}}, nil); !errors.As(err, &refused) || refused.Reason != action.ReasonBadDescriptors {
		t.Errorf("got %v", err)
	}
}
