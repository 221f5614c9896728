package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"

	"snens/broker/action"
	"snens/broker/client"
	"snens/internal/fields"
	"snens/internal/wire"
)

const askPolicy = `
[[rule]]
id       = "say"
decision = "ask"
command  = "/usr/bin/echo"
args     = ["x"]
from     = ["uid:47101"]
run_as   = {user = "root", group = "root"}
approve  = {from = ["uid:47102"], ttl = "1m"}
`

// approval is the time from a person's yes, sent, to the first thing that the
// command does: it prints. The bare side is from the start to the same print.
func (b *bench) approval() (r row, err error) {
	br, err := b.startBroker("broker-approval", askPolicy)
	if err != nil {
		return row{}, err
	}
	defer func() { err = errors.Join(err, br.stop()) }()
	v := &voter{}
	if v.conn, err = dialApprover(br.approve); err != nil {
		return row{}, err
	}
	defer v.conn.Close()
	var asking *client.Client
	if err := asUser(uidAsker, uidAsker, func() error {
		asking, err = client.Dial(context.Background(), client.Options{Socket: br.request})
		return err
	}); err != nil {
		return row{}, err
	}
	defer asking.Close()
	// More of one uid at once would be a flood, and refused.
	p, err := timedTurns(50/b.div, func() (time.Duration, error) { return v.approved(asking) }, echoed)
	return row{
		a: "approval sent, to the first byte of echo", b: "os/exec started, to the first byte of echo",
		times: p, aimMore: 5 * time.Millisecond,
	}, err
}

// voter is who approves.
type voter struct {
	conn *wire.Conn
	last wire.ID
}

func dialApprover(path string) (conn *wire.Conn, err error) {
	err = asUser(uidApprover, uidApprover, func() error {
		uc, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			return err
		}
		if conn, err = wire.New(uc, wire.Options{}); err == nil {
			_, err = conn.Hello()
		}
		var refused *wire.Error
		if errors.As(err, &refused) && refused.Code == wire.Code(action.ReasonDenied.String()) {
			return &missingError{"a server for approvers"}
		}
		return err
	})
	return conn, err
}

// approve says yes, and when it did.
func (v *voter) approve(p client.Pending) (said time.Time, err error) {
	v.last++
	params := fields.Object(
		fields.Member("request", fields.Text(p.ID.String())), fields.Member("decision", fields.Text("approve")),
		fields.Member("digest", fields.Text(p.Digest.String())), fields.Member("lifespan", fields.Text("once")))
	said = time.Now()
	return said, v.conn.Send(wire.Request{ID: v.last, Method: "answer", Params: params})
}

// approved is one request, from the yes to what it prints.
func (v *voter) approved(c *client.Client) (took time.Duration, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	defer w.Close()
	printed := make(chan time.Time, 1)
	go func() { printed <- firstByte(r) }()
	var said time.Time
	var voted error
	result, err := c.Run(context.Background(), client.Request{
		Command: client.Command{Rule: "say"}, Files: [3]*os.File{nil, w, nil},
	}, func(p client.Pending) { said, voted = v.approve(p) })
	_ = w.Close()
	first := <-printed
	if err := errors.Join(err, voted); err != nil {
		return 0, err
	}
	reply, err := v.conn.ReadReply(10 * time.Second)
	switch {
	case err != nil:
		return 0, err
	case reply.Err != nil:
		return 0, reply.Err
	case result.Reason != action.ReasonExited || first.IsZero():
		return 0, fmt.Errorf("the command ended %s (%s)", result.State, result.Reason)
	}
	return first.Sub(said), nil
}

// echoed is the same without a broker.
func echoed() (time.Duration, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	printed := make(chan time.Time, 1)
	go func() { printed <- firstByte(r) }()
	cmd := exec.Command("/usr/bin/echo", "x")
	cmd.Stdout = w
	began := time.Now()
	err = cmd.Run()
	_ = w.Close()
	return (<-printed).Sub(began), err
}

// firstByte is when it came; zero when nothing did.
func firstByte(f *os.File) time.Time {
	if n, err := f.Read(make([]byte, 16)); n == 0 || err != nil {
		return time.Time{}
	}
	return time.Now()
}
