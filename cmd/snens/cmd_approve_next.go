package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"snens/approval/client"
	"snens/approval/prompt"
	"snens/broker/action"
)

// approveNext shows what waits, one request after the other, and asks.
func (a *app) approveNext(o brokerOptions) error {
	if !a.atTerminal() {
		if err := a.listApprovals(o, false); err != nil {
			return err
		}
		if !a.json {
			fmt.Fprintln(a.notes, "snens: to be asked about each, run snens approve at a terminal; elsewhere answer by: snens approve yes ID --digest DIGITS, or: snens approve no ID")
		}
		return nil
	}
	names := newNames()
	seen := map[action.RequestID]bool{}
	failed := false
	for {
		p, more, err := a.nextPending(o, seen)
		switch {
		case err != nil:
			return explainApproval("find what waits for you", err)
		case p == nil && len(seen) == 0:
			fmt.Fprintln(a.out, "nothing waits for you")
			return nil
		case p == nil && failed:
			return &failure{status: statusFailed}
		case p == nil:
			fmt.Fprintln(a.out, "nothing else waits for you")
			return nil
		}
		seen[p.ID] = true
		if more > 0 {
			fmt.Fprintf(a.out, "%d more behind this one\n", more)
		}
		goOn, err := a.askAbout(o, p, names)
		if err != nil {
			failed = true
			a.finish(err, statusFailed)
		}
		if !goOn {
			break
		}
	}
	if failed {
		return &failure{status: statusFailed}
	}
	return nil
}

// nextPending is the oldest request that was not shown yet, nil for none, and how
// many stand behind it.
func (a *app) nextPending(o brokerOptions, seen map[action.RequestID]bool) (next *prompt.Pending, more int, err error) {
	err = a.approvals(o, func(ctx context.Context, c *client.Client) error {
		list, total, err := c.List(ctx, len(seen)+1)
		if err != nil {
			return err
		}
		old := 0
		for i := range list {
			if seen[list[i].ID] {
				old++
			} else if next == nil {
				next = &list[i]
			}
		}
		more = total - old - 1
		return nil
	})
	return next, more, err
}

// askAbout shows a request and does what is said about it. false ends the round.
func (a *app) askAbout(o brokerOptions, p *prompt.Pending, names names) (goOn bool, err error) {
	if !a.read(reviewLines(p, names, time.Now())) {
		return false, nil
	}
	short := p.Request.Digest().Short()
	for {
		answer, ok := a.question(fmt.Sprintf("approve %s? [y = approve, n = deny, Enter = leave it, q = end]", short))
		switch {
		case !ok, strings.EqualFold(answer, "q"):
			return false, nil
		case answer == "":
			return true, nil
		case isYes(answer):
			return true, a.sendAnswer(o, p, action.Approve)
		case strings.EqualFold(answer, "n"), strings.EqualFold(answer, "no"):
			return true, a.sendAnswer(o, p, action.Deny)
		}
	}
}
