package main

import (
	"github.com/spf13/cobra"
)

func (a *app) approveCommand() *cobra.Command {
	var o brokerOptions
	c := &cobra.Command{
		Use:   "approve",
		Short: "answer what the privilege broker asks you",
		Long: `approve is for those whom a rule of the privilege broker's policy asks before a
command runs with other rights.

Alone, at a terminal, it shows the requests that wait for you, one after the
other, and asks about each: y approves it, n denies it, Enter leaves it as it is,
q ends. The end of input is never a yes, and keys that were typed before the
question do not count. Elsewhere it lists them.

What is shown is rendered and hashed here from the very object that would run,
whole: a long text comes page by page, and is asked about at its end. Everything
that a terminal would obey or an eye would miss is spelled out as \u{HEX}. Below
the text stands what the requester claims; nobody has checked that.

An ID is the id of a request, or the first 12 or more digits of its digest.`,
		Example: `  snens approve list
  snens approve show aaaqeayeaudaocajbifqydiob4
  snens approve yes aaaqeayeaudaocajbifqydiob4 --digest fe54a05b434e
  snens approve no fe54a05b434e`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.approveNext(o) },
	}
	flags := c.PersistentFlags()
	flags.StringVar(&o.socket, "socket", "", "use the socket `PATH` (default: $SNENS_APPROVAL_SOCK outside of a tool call, the configuration, /run/snens-priv/approval.sock)")
	flags.BoolVar(&o.user, "user", false, "the broker is one's own (snens-priv serve --user) and not root's")
	_ = c.MarkPersistentFlagFilename("socket")
	c.AddCommand(a.approveList(&o), a.approveShow(&o), a.approveYes(&o), a.approveNo(&o), a.approveKill(&o), a.approveWatch(&o))
	return c
}
