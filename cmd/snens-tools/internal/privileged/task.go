package privileged

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"snens/broker/action"
	"snens/broker/client"
	"snens/cmd/snens-tools/internal/cli"
	"snens/cmd/snens-tools/internal/visible"
)

// Task is something that the broker is asked to do.
type Task struct {
	Tool    string // who asks, as people are told
	Doing   string // what, behind "cannot" and "done:"
	Command client.Command
	Reason  string  // for the approvers
	Stdin   *string // content that becomes part of the request
	NoWait  bool    // do not wait for people and the command; the rule must allow it
}

// Run asks, waits and reports. The command writes to std itself, whose writers
// must be files. The end of ctx gives the request up.
func (t Task) Run(ctx context.Context, std cli.IO, env []string) error {
	q := client.Request{
		Command: t.Command, Cwd: ownFolder(), Stdin: t.Stdin, Detach: t.NoWait,
		Claims: action.Claims{Session: variable(env, "SNENS_SESSION"), Tool: t.Tool, Reason: t.Reason},
	}
	if err := q.Claims.Check(); err != nil {
		return &cli.Error{Code: cli.ExitUsage, Message: fmt.Sprintf("cannot %s: %v", t.Doing, err)}
	}
	if !t.NoWait {
		var err error
		if q.Files, err = outputs(std); err != nil {
			return err
		}
	}
	c, err := open(ctx, env, t.Doing)
	if err != nil {
		return err
	}
	defer c.Close()
	var people client.Pending
	result, err := c.Run(ctx, q, func(p client.Pending) {
		people = p
		tellPending(std.Err, p)
	})
	var refused *client.Refused
	switch {
	case errors.As(err, &refused):
		return t.refused(ctx, std, c, refused)
	case err != nil:
		return Explain(t.Doing, err)
	case t.NoWait && !result.State.Final():
		fmt.Fprintf(std.Out, "%s: %s, as request %s\n", result.State, visible.Line(t.Doing), result.ID)
		fmt.Fprintf(std.Out, "priv result=%s tells what became of it, priv cancel=%s gives it up\n", result.ID, result.ID)
		return nil
	}
	return t.ended(std, &result, people)
}

// ended reports a request that has come to its end.
func (t Task) ended(std cli.IO, r *action.Result, people client.Pending) error {
	switch {
	case r.Reason == action.ReasonExited && r.Code == 0:
		fmt.Fprintf(std.Err, "done: %s (request %s)\n", visible.Line(t.Doing), r.ID)
		return nil
	case r.State == action.Exited:
		return cli.Fail("what it printed says more", "cannot %s: %s", t.Doing, HowItEnded(r))
	}
	hint := hintFor(r.Reason, r.ID)
	if r.Reason == action.ReasonExpired && len(people.Approvers) > 0 {
		hint = fmt.Sprintf("tell %s; then ask again, and one of them types: snens approve", People(people.Approvers))
	}
	return &cli.Error{Code: status(r.Reason), Message: fmt.Sprintf("cannot %s: %s", t.Doing, r.Reason.Text()), Hint: hint}
}

// HowItEnded says how a command ended that ran.
func HowItEnded(r *action.Result) string {
	switch r.Reason {
	case action.ReasonExited:
		return fmt.Sprintf("the command ended with status %d", r.Code)
	case action.ReasonSignalled:
		return fmt.Sprintf("the command was ended by %s", unix.SignalName(unix.Signal(r.Signal)))
	}
	return r.Reason.Text()
}

func tellPending(w io.Writer, p client.Pending) {
	left := max(time.Until(p.Expires).Truncate(time.Second), 0)
	fmt.Fprintf(w, "waiting at most %s for %s to approve request %s (digest %s, rule %s)\n",
		left, visible.Line(People(p.Approvers)), p.ID, p.Digest.Short(), p.Rule)
	if p.Asked == 0 {
		fmt.Fprintf(w, "none of them is listening now; one of them can type: snens approve show %s\n", p.ID)
	}
}

// People puts approvers into words.
func People(list []string) string {
	switch len(list) {
	case 0:
		return "an approver"
	case 1:
		return list[0]
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}

// outputs are the streams of the command: nothing to read, ours to write.
func outputs(std cli.IO) (files [3]*os.File, err error) {
	for i, w := range []io.Writer{std.Out, std.Err} {
		f, ok := w.(*os.File)
		if !ok {
			return files, errors.New("cannot pass an output that is no file")
		}
		files[i+1] = f
	}
	return files, nil
}

// ownFolder is the folder we are in, without symlinks; "" when it is gone.
func ownFolder() string {
	var buf [unix.PathMax]byte
	n, err := unix.Getcwd(buf[:])
	if err != nil || n < 2 || buf[0] != '/' {
		return "" // "(unreachable)" where it is outside of our root
	}
	return string(buf[:n-1])
}
