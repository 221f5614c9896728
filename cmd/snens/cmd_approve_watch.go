package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"snens/approval/client"
	"snens/approval/prompt"
	"snens/broker/action"
	"snens/internal/fields"
)

func (a *app) approveWatch(o *brokerOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "watch",
		Short: "tell what happens to the requests that you may answer",
		Long: `watch prints a line for each thing that happens to a request that you may answer:
that people are asked (with the command), that one of them answered, how it went on
and ended. It begins with what waits already, and goes on until it is ended. With
--json each line is one object; that of a request that waits holds it.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			w := &watching{a: a, o: *o, names: newNames(), told: map[action.RequestID]bool{}}
			for {
				err := a.approvals(*o, func(ctx context.Context, c *client.Client) error {
					return c.Watch(ctx, w.tellWaiting, w.tell)
				})
				if errors.Is(err, errNoReader) {
					return nil
				}
				if !errors.Is(err, client.ErrDropped) {
					return explainApproval("watch what happens", err)
				}
			}
		},
	}
}

// watching is what a watch has told.
type watching struct {
	a     *app
	o     brokerOptions
	names names
	told  map[action.RequestID]bool // that wait, as far as we know
}

var errNoReader = errors.New("nobody reads any more")

// tellWaiting tells those that wait and were not told.
func (w *watching) tellWaiting() error {
	var list []prompt.Pending
	err := w.a.approvals(w.o, func(ctx context.Context, c *client.Client) (err error) {
		list, err = allPending(ctx, c)
		return err
	})
	if err != nil {
		return err
	}
	for i := range list {
		if w.told[list[i].ID] {
			continue
		}
		e := prompt.Event{Kind: action.EventPending, ID: list[i].ID, State: action.Pending}
		if err := w.print(e, &list[i]); err != nil {
			return err
		}
	}
	return nil
}

// tell tells one event, and what was missed before it.
func (w *watching) tell(e prompt.Event) error {
	if e.Missed > 0 {
		if err := w.tellWaiting(); err != nil {
			return err
		}
	}
	if e.Kind != action.EventPending {
		return w.print(e, nil)
	}
	if w.told[e.ID] {
		return nil
	}
	var p *prompt.Pending
	err := w.a.approvals(w.o, func(ctx context.Context, c *client.Client) error {
		got, err := c.Show(ctx, e.ID)
		if err == nil {
			p = &got
		}
		return err
	})
	switch reasonOf(err) {
	case action.ReasonGone, action.ReasonNotFound: // it was faster than we
		err = nil
	}
	if err != nil {
		return err
	}
	return w.print(e, p)
}

func (w *watching) print(e prompt.Event, p *prompt.Pending) error {
	switch {
	case e.State == action.Pending:
		w.told[e.ID] = true
	case e.State.Final():
		delete(w.told, e.ID)
	}
	if w.a.json {
		v := e.Value()
		if p != nil {
			v.Members = append(v.Members, fields.Member("request", pendingValue(p, w.names)))
		}
		w.line(tameJSON(v.JSON()))
	} else {
		w.line([]byte(w.words(e, p)))
	}
	if !w.a.flushed() {
		return errNoReader
	}
	return nil
}

func (w *watching) line(text []byte) { fmt.Fprintf(w.a.out, "%s\n", text) }

func (w *watching) words(e prompt.Event, p *prompt.Pending) string {
	text := fmt.Sprintf("%-10s %s", e.Kind, e.ID)
	switch {
	case p != nil:
		r := p.Request.Request()
		text += fmt.Sprintf("  %s  %s  %s  ", p.Request.Digest().Short(), r.Rule, w.names.words(r.Requester.UID))
		limit := 160
		if width := w.a.style.width; width > 0 {
			limit = min(max(width-len(text), 24), limit)
		}
		text += commandWords(r.Argv, limit)
	case e.Reason != 0 && e.Reason != action.ReasonExited:
		text += "  " + e.Reason.Text()
	}
	return text
}
