package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"snens/approval/client"
	"snens/approval/prompt"
	"snens/broker/action"
	"snens/internal/escape"
)

// approvalsAt finds the socket of approvals. A supervised tool call chooses its
// own environment, so a variable that comes from there names nothing: whoever
// starts snens approve in it would be shown what the tool likes.
func (a *app) approvalsAt(o brokerOptions) (client.Options, error) {
	named := a.getenv("SNENS_APPROVAL_SOCK")
	if a.inCall() {
		named = ""
	}
	socket, listener, err := a.findBroker(o, named, true)
	return client.Options{Socket: socket, Listener: listener}, err
}

// inCall says that we were started within a supervised tool call.
func (a *app) inCall() bool {
	for _, kv := range a.env {
		if strings.HasPrefix(kv, "SNENS_CALL_ID=") {
			return true
		}
	}
	return false
}

// approvals asks the broker something on a connection of its own: a person takes
// his time between two questions, and a broker does not wait for him.
func (a *app) approvals(o brokerOptions, ask func(ctx context.Context, c *client.Client) error) error {
	where, err := a.approvalsAt(o)
	if err != nil {
		return err
	}
	ctx := context.Background() // signals end us as they end any program: nothing has been said then
	c, err := client.Dial(ctx, where)
	if err != nil {
		return err
	}
	defer c.Close()
	return ask(ctx, c)
}

// findPending gives the request that an ID argument names.
func (a *app) findPending(o brokerOptions, arg string) (p prompt.Pending, err error) {
	id, notID := action.ParseRequestID(arg)
	if notID != nil && !isDigest(arg) {
		return p, failf(statusUsage, "cannot tell which request is %q: an id has 26 letters and digits, the beginning of a digest at least %d digits", arg, action.ShortDigits).
			withHint("snens approve list shows both")
	}
	err = a.approvals(o, func(ctx context.Context, c *client.Client) error {
		if notID == nil {
			p, err = c.Show(ctx, id)
			if reasonOf(err) != action.ReasonNotFound || !isDigest(arg) {
				return err
			}
		}
		list, err := allPending(ctx, c)
		if err != nil {
			return err
		}
		p, err = pick(list, arg)
		return err
	})
	return p, err
}

// pick finds the one whose digest begins so.
func pick(list []prompt.Pending, digits string) (found prompt.Pending, err error) {
	for i := range list {
		switch {
		case !list[i].Request.Digest().Matches(digits):
		case found.Request != nil:
			return prompt.Pending{}, failf(statusFailed, "cannot tell which request is meant: several digests begin with %s", digits).
				withHint("give more digits, or the id")
		default:
			found = list[i]
		}
	}
	if found.Request == nil {
		return found, failf(statusFailed, "cannot find the request %s: nothing that waits for you has this digest", digits).
			withHint("what waits: snens approve list; what runs is named by its id")
	}
	return found, nil
}

// allPending lists everything, also from a broker that gives a part unasked.
func allPending(ctx context.Context, c *client.Client) ([]prompt.Pending, error) {
	list, total, err := c.List(ctx, 0)
	if err == nil && total > len(list) {
		list, _, err = c.List(ctx, total)
	}
	return list, err
}

// isDigest says that s can be a digest or the beginning of one.
func isDigest(s string) bool {
	return len(s) >= action.ShortDigits && len(s) <= 2*len(action.Digest{}) && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

func reasonOf(err error) action.Reason {
	var refused *client.Refused
	if errors.As(err, &refused) {
		return refused.Reason
	}
	return 0
}

// statusPatience is how long the status line may take.
const statusPatience = 500 * time.Millisecond

// approvalsWaiting says how many requests wait for us; nil when nobody says.
func (a *app) approvalsWaiting() *int {
	where, err := a.approvalsAt(brokerOptions{})
	if err != nil {
		return nil
	}
	if _, err := os.Stat(where.Socket); err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), statusPatience)
	defer cancel()
	c, err := client.Dial(ctx, where)
	if err != nil {
		return nil
	}
	defer c.Close()
	_, n, err := c.List(ctx, 1)
	if err != nil {
		return nil
	}
	return &n
}

// explainApproval puts an error of the broker's into words, with a way out. what
// is what was to be done: "approve fe54a05b434e".
func explainApproval(what string, err error) error {
	var refused *client.Refused
	if !errors.As(err, &refused) {
		return err
	}
	text := escape.Line(refused.Error())
	if !strings.HasPrefix(text, "cannot ") {
		text = "cannot " + what + ": " + text
	}
	f := failf(refused.ExitStatus(), "%s", text)
	f.hint = approvalHint(refused.Reason)
	return f
}

// approvalHint says what one can do about it; "" for nothing.
func approvalHint(reason action.Reason) string {
	switch reason {
	case action.ReasonDenied:
		return "no rule asks you; root's policy says whom it asks (approve.from)"
	case action.ReasonSelfApproval:
		return "somebody else has to approve it; you may deny it: snens approve no ID"
	case action.ReasonNotApprover:
		return "somebody else has to approve it"
	case action.ReasonGone, action.ReasonNotFound, action.ReasonAlreadyVoted:
		return "what waits: snens approve list"
	case action.ReasonDigestMismatch:
		return "nothing was approved; read it again: snens approve show ID"
	case action.ReasonPresenceMissing:
		return "what the rule asks for is shown by: snens approve show ID"
	case action.ReasonBusy:
		return "try again a little later"
	case action.ReasonUnreachable:
		return "does it run: systemctl status snens-priv-approval.socket; may you use it: the group snens-approve; for a broker of one's own: --user"
	case action.ReasonUntrustedBroker:
		return "nothing was sent to it; a broker of one's own needs --user"
	}
	return ""
}
