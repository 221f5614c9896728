package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"snens/broker/action"
	"snens/broker/client"
)

func (a *app) privList(o *brokerOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "list one's own requests",
		Long: `list shows the requests that one has made and the broker still knows: those that
wait, run, or ended a while ago.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			return a.withBroker(o, func(ctx context.Context, c *client.Client) error {
				list, err := c.List(ctx)
				if err != nil {
					return err
				}
				return a.printRequests(list)
			})
		},
	}
}

func (a *app) printRequests(list []action.Result) error {
	records := []privRecord{}
	rows := []row{}
	for i := range list {
		var r privRecord
		r.fill(&list[i])
		records = append(records, r)
		rows = append(rows, row{cells: []string{list[i].ID.String(), list[i].State.String(), howItEnded(&list[i])}})
	}
	if a.json {
		return a.printJSON(records)
	}
	a.style.table(a.out, rows)
	return nil
}

// howItEnded says it in a few words; "" while it has not.
func howItEnded(r *action.Result) string {
	switch {
	case !r.State.Final():
		return ""
	case r.Reason == action.ReasonExited:
		return fmt.Sprintf("exit status %d", r.Code)
	case r.Reason == action.ReasonSignalled:
		return fmt.Sprintf("ended by signal %d", r.Signal)
	}
	return r.Reason.Text()
}

func (a *app) privResult(o *brokerOptions) *cobra.Command {
	wait := false
	c := &cobra.Command{
		Use:   "result ID",
		Short: "say how a request ended",
		Long: `result says how far a request of one's own has come. Of one that has ended it
ends with the exit status that snens priv would have had, the command's own where
it ran; with 75 as long as there is none.`,
		RunE: func(_ *cobra.Command, args []string) error {
			id, err := oneRequest(args)
			if err != nil {
				return err
			}
			return a.withBroker(o, func(ctx context.Context, c *client.Client) error {
				result, err := c.Result(ctx, id, wait)
				if err != nil {
					return err
				}
				return a.printResult(&result)
			})
		},
	}
	c.Flags().BoolVar(&wait, "wait", false, "wait until it has ended")
	return c
}

func (a *app) printResult(result *action.Result) error {
	var record privRecord
	record.fill(result)
	if !result.State.Final() {
		record.Exit = action.ExitTryLater
	}
	if a.json {
		if err := a.printJSON(record); err != nil {
			return err
		}
	} else {
		text := result.State.String()
		if how := howItEnded(result); how != "" {
			text += ": " + how
		}
		fmt.Fprintln(a.out, text)
	}
	if record.Exit != 0 {
		return &failure{status: record.Exit}
	}
	return nil
}

func (a *app) privCancel(o *brokerOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "cancel ID",
		Short: "give a request up",
		Long:  `cancel gives up a request of one's own. When its command runs already, it is ended.`,
		RunE: func(_ *cobra.Command, args []string) error {
			id, err := oneRequest(args)
			if err != nil {
				return err
			}
			return a.withBroker(o, func(ctx context.Context, c *client.Client) error { return c.Cancel(ctx, id) })
		},
	}
}

// oneRequest reads the ID of a command.
func oneRequest(args []string) (id action.RequestID, err error) {
	if len(args) != 1 {
		return id, badRequest("cannot tell which request is meant: give one id").withHint("snens priv list shows them")
	}
	if id, err = action.ParseRequestID(args[0]); err != nil {
		return id, badRequest("cannot look for a request: %w", err).withHint("snens priv list shows the ids")
	}
	return id, nil
}
