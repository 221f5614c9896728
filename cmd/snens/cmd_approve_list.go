package main

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"snens/approval/client"
	"snens/approval/prompt"
	"snens/broker/action"
	"snens/internal/fields"
	"snens/internal/strictjson"
)

// listedAtOnce is how many requests are listed without --all.
const listedAtOnce = 100

func (a *app) approveList(o *brokerOptions) *cobra.Command {
	all := false
	c := &cobra.Command{
		Use:   "list",
		Short: "list what waits for you",
		Long: `list shows a line for each request that waits for you, the oldest first: its id,
the beginning of its digest, the rule, who asks, since when, for how long still,
and the command. A command that is cut says how long it is; snens approve show has
all of it.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.listApprovals(*o, all) },
	}
	c.Flags().BoolVar(&all, "all", false, fmt.Sprintf("list them all, not the first %d", listedAtOnce))
	return c
}

func (a *app) listApprovals(o brokerOptions, all bool) error {
	var list []prompt.Pending
	total := 0
	err := a.approvals(o, func(ctx context.Context, c *client.Client) (err error) {
		if all {
			list, err = allPending(ctx, c)
			total = len(list)
			return err
		}
		list, total, err = c.List(ctx, listedAtOnce)
		return err
	})
	if err != nil {
		return explainApproval("list what waits for you", err)
	}
	names := newNames()
	if a.json {
		v := fields.List(list, func(p prompt.Pending) strictjson.Value { return pendingValue(&p, names) })
		return a.printJSON(rawJSON(v.JSON()))
	}
	if len(list) == 0 {
		fmt.Fprintln(a.out, "nothing waits for you")
		return nil
	}
	a.printPending(list, names)
	if more := total - len(list); more > 0 {
		fmt.Fprintf(a.out, "and %d more: snens approve list --all\n", more)
	}
	return nil
}

// printPending prints a line each. The command is cut where the terminal ends,
// lest the rest of it stands at the beginning of a line like an entry.
func (a *app) printPending(list []prompt.Pending, names names) {
	const most, least = 160, 24
	now := time.Now()
	rows := make([]row, len(list))
	widths := [6]int{}
	for i := range list {
		r := list[i].Request.Request()
		cells := []string{
			list[i].ID.String(), list[i].Request.Digest().Short(), string(r.Rule), names.words(r.Requester.UID),
			roughly(now.Sub(list[i].Since)), remaining(r.Expires, now),
		}
		for column, cell := range cells {
			widths[column] = max(widths[column], utf8.RuneCountInString(cell)+2)
		}
		rows[i] = row{cells: cells}
	}
	limit := most
	if a.style.width > 0 {
		limit = a.style.width
		for _, width := range widths {
			limit -= width
		}
		limit = min(max(limit, least), most)
	}
	for i := range list {
		rows[i].cells = append(rows[i].cells, commandWords(list[i].Request.Request().Argv, limit))
	}
	style{color: a.style.color}.table(a.out, rows)
}

// pendingValue is a request for programs. What is free text has the form that it
// has in the protocol: {"base64": ...} where it is no UTF-8.
func pendingValue(p *prompt.Pending, names names, more ...strictjson.Member) strictjson.Value {
	sealed := p.Request.Value()
	part := func(name string) strictjson.Member { return fields.Member(name, *sealed.Get(name)) }
	r := p.Request.Request()
	return fields.Object(append([]strictjson.Member{
		fields.Member("id", fields.Text(p.ID.String())),
		fields.Member("digest", fields.Text(p.Request.Digest().String())),
		part("argv"),
		part("rule"),
		fields.Member("requester", fields.Object(
			fields.Member("uid", fields.Uint(r.Requester.UID)),
			fields.Member("name", fields.Text(names.of(r.Requester.UID))),
			fields.Member("gid", fields.Uint(r.Requester.GID)),
			fields.Member("groups", fields.List(r.Requester.Groups, fields.Uint[action.GID])),
		)),
		fields.Member("about", fields.Text(p.About)),
		fields.Member("since", fields.Text(action.FormatInstant(p.Since))),
		part("expires"),
		fields.Member("approvers", fields.List(p.Approvers, fields.Text)),
		fields.Member("need", fields.Int(int64(p.Need))),
		fields.Member("presence", fields.Text(p.Presence.String())),
		fields.Member("claims", p.Claims.Value()),
		part("run_as"), part("cwd"), part("env"), part("stdin"),
	}, more...)...)
}
