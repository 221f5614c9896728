package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"snens/broker/action"
	"snens/broker/client"
	"snens/internal/escape"
)

func (a *app) privCheck(o *brokerOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "check RULE [SLOT=VALUE ...] | -- COMMAND [ARG ...]",
		Short: "ask what the policy would say",
		Long: `check asks the broker what it would do with a request, and runs nothing. It ends
with 0 when the command would run at once, with 1 when people would be asked,
and with 77 when it would be refused.`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completePriv,
		RunE: func(c *cobra.Command, args []string) error {
			command, err := commandOf(args, c.ArgsLenAtDash())
			if err != nil {
				return err
			}
			return a.withBroker(o, func(ctx context.Context, c *client.Client) error {
				j, err := c.Check(ctx, command)
				if err != nil {
					return err
				}
				return a.printJudgement(&j)
			})
		},
	}
}

func (a *app) printJudgement(j *client.Judgement) error {
	if a.json {
		if err := a.printJSON(rawJSON(j.Raw.JSON())); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(a.out, escape.Line(judgementWords(j)))
	}
	switch j.Decision {
	case client.Allow:
		return nil
	case client.Ask:
		return &failure{status: statusFailed}
	}
	return &failure{status: action.ExitDenied}
}

func judgementWords(j *client.Judgement) string {
	text := string(j.Decision)
	if j.Rule != "" {
		text += ", by the rule " + string(j.Rule)
	}
	switch j.Decision {
	case client.Deny:
		text += ": " + j.Reason.Text()
		if j.Why != "" {
			text += ": " + j.Why
		}
		return text
	case client.Ask:
		text += ", of " + people(j.Approvers)
		if j.ReasonRequired {
			text += ", with --reason"
		}
	}
	if len(j.Argv) > 0 {
		text += ": " + strings.Join(j.Argv, " ")
	}
	return text
}
