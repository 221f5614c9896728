package main

import (
	"errors"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"snens/internal/peer"
	"snens/internal/strictjson"
	"snens/internal/wire"
)

// answerBound is how long the daemon may take: a reload reads files and asks
// their file systems.
const answerBound = time.Minute

// ask calls a method without parameters on the request socket and gives its one
// answer. Whoever listens must be root, or in user mode this user, before a byte
// is sent.
func (a *app) ask(socket string, user bool, method string) (strictjson.Value, error) {
	var none strictjson.Value
	where, err := a.placesOf(user)
	if err != nil {
		return none, err
	}
	socket = or(socket, where.request)
	var dialer net.Dialer
	dialer.Timeout = answerBound
	c, err := dialer.Dial("unix", socket)
	if err != nil {
		f := failf(exitUntrusted, "cannot reach the broker: %w", err)
		if errors.Is(err, unix.EACCES) {
			return none, f.hintf("only root asks the broker for this")
		}
		return none, f.hintf("is it running? systemctl status snens-priv")
	}
	uc := c.(*net.UnixConn) // by the network's name
	defer uc.Close()
	want := peer.UID(0)
	if user {
		want = peer.UID(a.uid)
	}
	if err := peer.Listener(uc, want); err != nil {
		return none, failf(exitUntrusted, "cannot trust %s: %w", socket, err)
	}
	conn, err := wire.New(uc, wire.Options{})
	if err != nil {
		return none, failf(exitFailed, "cannot talk to the broker: %w", err)
	}
	defer conn.End()
	v, err := exchange(conn, method)
	if err != nil {
		return none, answerFailure(method, err)
	}
	return v, nil
}

func exchange(conn *wire.Conn, method string) (strictjson.Value, error) {
	if _, err := conn.Hello(); err != nil {
		return strictjson.Value{}, err
	}
	if err := conn.Send(wire.Request{ID: 1, Method: method, Params: strictjson.Value{Kind: strictjson.Object}}); err != nil {
		return strictjson.Value{}, err
	}
	r, err := conn.ReadReply(answerBound)
	switch {
	case err != nil:
		return strictjson.Value{}, err
	case r.Err != nil:
		return strictjson.Value{}, r.Err
	case r.ID != 1 || r.More:
		return strictjson.Value{}, errors.New("it answered something else")
	}
	return r.Result, nil
}

// answerFailure says what the daemon said.
func answerFailure(method string, err error) error {
	var e *wire.Error
	if !errors.As(err, &e) {
		return failf(exitFailed, "cannot talk to the broker: %w", err)
	}
	switch e.Code {
	case "denied":
		return failf(exitFailed, "cannot ask the broker for %s: %w", method, e).hintf("only root may, and the user of a broker with --user")
	case "reload_failed":
		text := "cannot load the policy; the one before it stays in force"
		if e.Detail != nil {
			if faults := e.Detail.Get("faults"); faults != nil {
				for _, f := range faults.Items {
					text += "\n" + f.Text
				}
			}
		}
		return failf(exitFailed, "%s", text)
	}
	return failf(exitFailed, "cannot ask the broker for %s: %w", method, e)
}
