package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

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

func (a *app) privRun(args []string, dash int, o *privOptions, end *privEnd) error {
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
	defer stop.close()
	if err := a.privStreams(ctx, &q, o); err != nil {
		return err
	}
	c, err := a.dial(ctx, o.broker)
	if err != nil {
		return err
	}
	defer c.Close()
	stop.giveUp(c)
	end.result, err = c.Run(ctx, q, func(p client.Pending) {
		end.pending = p
		a.tellPending(p)
	})
	end.has = err == nil
	end.detached = o.noWait
	return err
}

// commandOf turns the words into what is asked for; dash is how many stand
// before "--", -1 without one.
func commandOf(args []string, dash int) (w client.Command, err error) {
	switch {
	case dash == 0 && len(args) == 0:
		return w, badRequest("cannot ask for nothing: no command stands behind --").withHint("snens priv -- COMMAND [ARG ...]")
	case dash == 0:
		return client.Command{Argv: args}, nil
	case len(args) == 0:
		return w, badRequest("cannot ask for nothing: name a rule or a command").
			withHint("snens priv rules lists the rules; a command goes behind --: snens priv -- COMMAND [ARG ...]")
	case dash > 0:
		return w, badRequest("cannot ask for a rule and a command at once: %q stands before --", args[0]).
			withHint("snens priv %s SLOT=VALUE ..., or: snens priv -- COMMAND [ARG ...]", args[0])
	}
	if w.Rule, err = action.ParseRuleID(args[0]); err != nil {
		return w, badRequest("cannot ask for %q: it is no rule's name", args[0]).
			withHint("a command goes behind --: snens priv -- %s", briefly(args))
	}
	w.Slots = map[string][]string{}
	for _, word := range args[1:] {
		slot, value, ok := strings.Cut(word, "=")
		if !ok || slot == "" {
			return w, badRequest("cannot use the word %q: the arguments of a rule are written SLOT=VALUE", word).
				withHint("snens priv rules shows the slots; a command goes behind --: snens priv -- %s", briefly(args))
		}
		w.Slots[slot] = append(w.Slots[slot], value)
	}
	return w, nil
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

// sessionClaim is the session that we say we are in.
func (a *app) sessionClaim() string {
	if a.session != "" {
		return a.session
	}
	return a.getenv("SNENS_SESSION")
}

// variables are those that --env names, as NAME=value.
func (a *app) variables(names []string) (vars []string, err error) {
	for _, name := range names {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return nil, badRequest("cannot pass the variable %q: that is no name", name).withHint("--env takes the name alone; the value is the one that is set")
		}
		value, there := "", false
		for _, kv := range a.env {
			if k, v, ok := strings.Cut(kv, "="); ok && k == name {
				value, there = v, true
				break
			}
		}
		if !there {
			return nil, badRequest("cannot pass the variable %s: it is not set", name).withHint("set and export it, or leave --env %s out", name)
		}
		vars = append(vars, name+"="+value)
	}
	return vars, nil
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

// briefly is what was asked for, on one line and not too long for a message.
func briefly(args []string) string {
	const most = 100
	text := strings.ReplaceAll(strings.Join(args, " "), "\n", " ")
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "..."
	}
	return text
}

func badRequest(format string, args ...any) *failure {
	return failf(action.ExitBadRequest, format, args...)
}

// waitTime is the value of --wait: a time, or what the rule says.
type waitTime time.Duration

const waitForRule = "rule"

func (w *waitTime) Set(s string) error {
	if s == waitForRule {
		*w = 0
		return nil
	}
	var d duration
	if err := d.Set(s); err != nil {
		return err
	}
	t := time.Duration(d).Truncate(time.Millisecond)
	if t <= 0 || t > action.MaxDuration {
		return errors.New("it must be from 1ms to 720h")
	}
	*w = waitTime(t)
	return nil
}

func (w *waitTime) String() string { return (*duration)(w).String() }
func (w *waitTime) Type() string   { return "DUR" }
