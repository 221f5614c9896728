package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"snens/approval/client"
	"snens/approval/prompt"
	"snens/broker/action"
	"snens/internal/fields"
)

func (a *app) approveYes(o *brokerOptions) *cobra.Command {
	digest := ""
	c := &cobra.Command{
		Use:   "yes ID",
		Short: "approve a request",
		Long: `yes approves a request. At a terminal it shows all of it and asks; only y and Enter
approve. Elsewhere it wants --digest: the first 12 or more digits of the digest of
the text that was read (snens approve show prints it). What is sent is the digest of
what was rendered here, so that nothing else can run.`,
		Example: `  snens approve yes fe54a05b434e --digest fe54a05b434e`,
		RunE: func(_ *cobra.Command, args []string) error {
			arg, err := oneApproval(args)
			if err != nil {
				return err
			}
			return a.yes(*o, arg, digest)
		},
	}
	c.Flags().StringVar(&digest, "digest", "", "the first 12 or more `DIGITS` of the digest of what was read")
	return c
}

func (a *app) yes(o brokerOptions, arg, digest string) error {
	switch {
	case digest == "" && !a.atTerminal():
		return failf(statusUsage, "cannot approve %s: here is nobody to be asked, and no --digest says what was read", arg).
			withHint("snens approve show %s prints the digest; then: snens approve yes %s --digest DIGITS", arg, arg)
	case digest != "" && !isDigest(digest):
		return failf(statusUsage, "cannot use --digest %s: it takes the first %d or more digits of a digest", digest, action.ShortDigits)
	}
	p, err := a.findPending(o, arg)
	if err != nil {
		return explainApproval("approve "+arg, err)
	}
	short := p.Request.Digest().Short()
	if digest != "" && !p.Request.Digest().Matches(digest) {
		return failf(statusFailed, "cannot approve %s: it is another text than the one that was read: its digest begins with %s", arg, short).
			withHint("%s", approvalHint(action.ReasonDigestMismatch))
	}
	if a.atTerminal() {
		if !a.read(reviewLines(&p, newNames(), time.Now())) {
			return notApproved(short)
		}
		answer, ok := a.question(fmt.Sprintf("approve %s? [y/N]", short))
		if !ok || !isYes(answer) {
			return notApproved(short)
		}
	}
	return a.sendAnswer(o, &p, action.Approve)
}

func notApproved(short string) error {
	return failf(statusFailed, "nothing was answered: %s was not approved", short).withHint("to deny it: snens approve no %s", short)
}

func (a *app) approveNo(o *brokerOptions) *cobra.Command {
	return &cobra.Command{
		Use:     "no ID",
		Aliases: []string{"deny"},
		Short:   "deny a request",
		Long:    `no denies a request, and asks nothing. One denial is enough to end it.`,
		RunE: func(_ *cobra.Command, args []string) error {
			arg, err := oneApproval(args)
			if err != nil {
				return err
			}
			p, err := a.findPending(*o, arg)
			if err != nil {
				return explainApproval("deny "+arg, err)
			}
			return a.sendAnswer(*o, &p, action.Deny)
		},
	}
}

// sendAnswer answers with the digest of what was rendered here.
func (a *app) sendAnswer(o brokerOptions, p *prompt.Pending, d action.Decision) error {
	digest := p.Request.Digest()
	var state action.State
	err := a.approvals(o, func(ctx context.Context, c *client.Client) (err error) {
		if d == action.Approve {
			state, err = c.Approve(ctx, p.ID, digest, action.Once)
		} else {
			state, err = c.Deny(ctx, p.ID, digest)
		}
		return err
	})
	if err != nil {
		return explainApproval(d.String()+" "+digest.Short(), err)
	}
	if a.json {
		v := fields.Object(
			fields.Member("id", fields.Text(p.ID.String())),
			fields.Member("digest", fields.Text(digest.String())),
			fields.Member("decision", fields.Text(d.String())),
			fields.Member("state", fields.Text(state.String())),
		)
		return a.printJSON(rawJSON(v.JSON()))
	}
	said := map[action.Decision]string{action.Approve: "approved", action.Deny: "denied"}[d]
	fmt.Fprintf(a.out, "%s %s: %s\n", said, digest.Short(), commandWords(p.Request.Request().Argv, 0))
	if d == action.Approve && state == action.Pending {
		fmt.Fprintf(a.out, "it still waits for others: %s\n", enough(p.Need))
	}
	return nil
}

func (a *app) approveKill(o *brokerOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "kill ID",
		Short: "end a command that runs",
		Long:  `kill ends the command of a request that runs. It asks nothing.`,
		RunE: func(_ *cobra.Command, args []string) error {
			arg, err := oneApproval(args)
			if err != nil {
				return err
			}
			id, notID := action.ParseRequestID(arg)
			if notID != nil {
				return failf(statusUsage, "cannot end %q: a command that runs is named by the id of its request", arg).
					withHint("snens approve watch prints the ids of what is going on")
			}
			err = a.approvals(*o, func(ctx context.Context, c *client.Client) error { return c.Kill(ctx, id) })
			if err != nil {
				return explainApproval("end "+arg, err)
			}
			if a.json {
				return a.printJSON(rawJSON(`{}`))
			}
			fmt.Fprintf(a.out, "ended %s\n", id)
			return nil
		},
	}
}
