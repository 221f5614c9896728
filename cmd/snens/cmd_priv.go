package main

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"

	"snens/broker/action"
	"snens/broker/client"
)

// privOptions are the options of snens priv.
type privOptions struct {
	broker   brokerOptions
	reason   string
	wait     waitTime
	noWait   bool
	stdin    bool
	env      []string
	statusFD int
}

func (a *app) privCommand() *cobra.Command {
	var o privOptions
	c := &cobra.Command{
		Use:   "priv RULE [SLOT=VALUE ...] | -- COMMAND [ARG ...]",
		Short: "ask the privilege broker to run a command",
		Long: `priv has a command run with other rights: those that a rule of root's policy
gives it. The rule says whether it runs at once or people are asked first.

RULE is a rule's name, and SLOT=VALUE fills its free arguments (SLOT=a SLOT=b
gives a slot two words). Behind "--" stands a whole command instead, for which
the broker looks for a rule. snens priv rules lists what one may ask for.

The command gets the streams of snens, and nothing else of the caller: neither
its environment (but for --env, where the rule lets the variable pass) nor, unless
the rule says so, its stdin and working folder. Its exit status becomes that of
snens.

While people are asked, priv says on stderr who they are, what they are asked
(the id and the beginning of the digest, which they see too) and how long it
waits. INT, TERM and HUP cancel the request, or have the command ended, and priv
waits for that; a second INT does not wait.

With --json the result is printed on stdout, and what the command writes goes to
stderr, its stdout included. Use --status-fd to have both apart.`,
		Example: `  snens priv rules
  snens priv restart-web unit=nginx.service --reason "new certificate"
  snens priv -- systemctl restart nginx.service
  id=$(snens priv --no-wait backup); snens priv result "$id" --wait
  snens priv check -- apt-get install jq; echo $?`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completePriv,
	}
	flags := c.Flags()
	flags.StringVar(&o.reason, "reason", "", "tell the approvers why: `TEXT`")
	flags.Var(&o.wait, "wait", "wait for people at most `DUR` (default: as long as the rule allows)")
	flags.Lookup("wait").NoOptDefVal = waitForRule
	flags.BoolVar(&o.noWait, "no-wait", false, "print the id and do not wait; the command runs on its own")
	flags.BoolVar(&o.stdin, "stdin", false, "read stdin to its end and make it part of the request, to be reviewed")
	flags.StringArrayVar(&o.env, "env", nil, "pass the variable `NAME`, if the rule lets it (repeatable)")
	flags.IntVar(&o.statusFD, "status-fd", -1, "write one JSON line to descriptor `N` that tells our exit statuses from the command's")
	flags.Lookup("status-fd").DefValue = "0"
	o.broker.addTo(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.priv(args, c.ArgsLenAtDash(), &o, c.Flags().Changed("status-fd"))
	}
	c.AddCommand(a.privRules(&o.broker), a.privList(&o.broker), a.privResult(&o.broker), a.privCancel(&o.broker), a.privCheck(&o.broker))
	return c
}

// priv asks for a command and ends with its exit status.
func (a *app) priv(args []string, dash int, o *privOptions, wantStatus bool) error {
	end := &privEnd{asked: briefly(args)}
	if wantStatus {
		var err error
		if end.status, err = statusFile(o.statusFD); err != nil {
			return fail(action.ExitBadRequest, err)
		}
		defer end.status.Close()
	}
	err := a.privRun(args, dash, o, end)
	return a.finishPriv(end, err)
}

func (a *app) privRun(args []string, dash int, o *privOptions, end *privEnd) (err error) {
	command, err := commandOf(args, dash)
	if err != nil {
		return err
	}
	end.rule = command.Rule
	q := client.Request{
		Command: command, Cwd: ownFolder(), TTL: time.Duration(o.wait), Detach: o.noWait,
		Claims: action.Claims{Session: a.sessionClaim(), Reason: o.reason},
	}
	if err := q.Claims.Check(); err != nil {
		return badRequest("cannot ask: %w", err)
	}
	if q.Env, err = a.variables(o.env); err != nil {
		return err
	}
	ctx, stop := newPrivStop()
	// Who prints may wait for whoever reads, so then signals are what they were.
	defer func() { stop.close(err != nil || a.prints(o, end)) }()
	if o.stdin {
		stop.watch() // whoever writes it may take long
	}
	if err := a.privStreams(ctx, &q, o); err != nil {
		return err
	}
	c, err := a.connect(ctx, o.broker)
	if err != nil {
		return err
	}
	defer c.Close()
	stop.watch() // takes no time of its own: the broker looks at who we are
	stop.giveUp(c)
	end.result, err = c.Run(ctx, q, func(p client.Pending) {
		end.pending = p
		a.tellPending(p)
	})
	end.has = err == nil
	end.detached = o.noWait
	return err
}

// prints says whether something is still to be written after the command's end.
func (a *app) prints(o *privOptions, end *privEnd) bool {
	return a.json || o.noWait || end.status != nil || end.result.Ours()
}

// sessionClaim is the session that we say we are in.
func (a *app) sessionClaim() string {
	if a.session != "" {
		return a.session
	}
	return a.getenv("SNENS_SESSION")
}

// privStreams gives the command its streams.
func (a *app) privStreams(ctx context.Context, q *client.Request, o *privOptions) error {
	if o.stdin {
		in := &input{ctx: ctx, stdin: a.stdin, limit: action.MaxText}
		text, err := in.read("-")
		if ctx.Err() != nil {
			return failf(action.ExitTryLater, "cannot ask: a signal came before stdin was read")
		}
		if err != nil {
			return badRequest("cannot read stdin for --stdin: %w", err)
		}
		content := string(text)
		q.Stdin = &content
	}
	if o.noWait {
		return nil
	}
	q.Files = [3]*os.File{a.stdin, a.stdout, a.stderr}
	if o.stdin || background(a.stdin) {
		q.Files[0] = nil // job control does not reach whoever reads it at the broker's
	}
	if a.json {
		q.Files[1] = a.stderr
	}
	return nil
}
