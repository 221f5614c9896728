package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"snens/broker/action"
	"snens/broker/client"
	"snens/cmd/snens-tools/internal/cli"
	"snens/cmd/snens-tools/internal/privileged"
	"snens/cmd/snens-tools/internal/visible"
	"snens/internal/strictjson"
)

const privHelp = `priv — ask the privilege broker to run a command, or what may be asked for.
priv (--list | --check | --result ID | --cancel ID | [--reason TEXT] [--no-wait] [--stdin]) [--rule R [--slots JSON]] [-- COMMAND ARG...]

--list         list the rules under which you may ask
--rule R       ask by this rule
--slots JSON   its slots: {"unit": "nginx.service", "names": ["a", "b"]}
COMMAND ARG... ask for this whole command; the broker looks for a rule
--reason TEXT  tell the approvers why
--stdin        read stdin to its end; it becomes part of what is approved
--check        only say what the policy would answer
--no-wait      do not wait; print the id of the request
--result ID    what became of a request of yours
--cancel ID    give it up, or have its command ended

Root's policy decides; where it says so, people are asked first, and this waits
for them. What is refused is told with the reason, and with what is possible.

Exit status: 0 it ran and succeeded, or the answer is shown, 1 it ran and failed,
2 bad arguments, 3 nothing to list, 64 the request was not understood, 69 no
broker, 70 a fault, 75 try later, 76 nobody answered, 77 not allowed, 126 and 127
the command could not be started.
`

// exitEmpty says that there is nothing of what was asked for.
const exitEmpty = 3

// privRequest is a call of priv.
type privRequest struct {
	list, check, noWait, stdin bool
	result, cancel             action.RequestID
	command                    client.Command
	reason                     string
}

func parsePriv(args []string) (r privRequest, err error) {
	set := cli.NewSet(privHelp)
	set.Bool("list", &r.list)
	set.Bool("check", &r.check)
	set.Bool("no-wait", &r.noWait)
	set.Bool("stdin", &r.stdin)
	set.String("reason", &r.reason)
	set.Func("result", parser(&r.result, action.ParseRequestID))
	set.Func("cancel", parser(&r.cancel, action.ParseRequestID))
	set.Func("rule", parser(&r.command.Rule, action.ParseRuleID))
	set.Func("slots", parser(&r.command.Slots, parseSlots))
	if r.command.Argv, err = set.Parse(args); err != nil {
		return r, err
	}
	asks := r.command.Rule != "" || len(r.command.Argv) > 0
	modes := 0
	for _, on := range []bool{r.list, r.check, !r.result.IsZero(), !r.cancel.IsZero()} {
		if on {
			modes++
		}
	}
	switch {
	case modes > 1:
		return r, set.Refuse("--list, --check, --result and --cancel exclude each other")
	case modes == 1 && !r.check && asks:
		return r, set.Refuse("--list, --result and --cancel take no command")
	case modes == 1 && (r.noWait || r.stdin || r.reason != ""):
		return r, set.Refuse("--reason, --stdin and --no-wait are for a request")
	case r.command.Rule != "" && len(r.command.Argv) > 0:
		return r, set.Refuse("give a rule with its slots or a whole command, not both")
	case r.command.Slots != nil && r.command.Rule == "":
		return r, set.Refuse("--slots needs --rule")
	case (modes == 0 || r.check) && !asks:
		return r, set.Refuse("needs a rule or a command; --list shows what there is")
	case len(r.command.Argv) > 0 && r.command.Argv[0] == "":
		return r, set.Refuse("the command's name is empty")
	}
	return r, nil
}

// parser makes a reader of an option's value.
func parser[T any](into *T, parse func(string) (T, error)) func(string) error {
	return func(v string) (err error) {
		*into, err = parse(v)
		return err
	}
}

// parseSlots reads {"slot": "word", "other": ["word", "word"]}.
func parseSlots(text string) (map[string][]string, error) {
	v, err := strictjson.Parse([]byte(text), strictjson.Options{})
	if err != nil || v.Kind != strictjson.Object {
		return nil, errors.New(`must be an object of words, {"slot": "word"}`)
	}
	slots := map[string][]string{}
	for _, m := range v.Members {
		items := []strictjson.Value{m.Value}
		if m.Value.Kind == strictjson.Array {
			items = m.Value.Items
		}
		words := []string{}
		for _, item := range items {
			switch item.Kind {
			case strictjson.String:
				words = append(words, item.Text)
			case strictjson.Number:
				words = append(words, string(item.JSON()))
			default:
				return nil, fmt.Errorf("has a slot %q that is neither a word nor a list of words", m.Name)
			}
		}
		slots[m.Name] = words
	}
	return slots, nil
}

func runPriv(args []string, std cli.IO) error {
	r, err := parsePriv(args)
	if err != nil {
		return err
	}
	ctx, stop := privileged.Context()
	defer stop()
	if !r.list && !r.check && r.result.IsZero() && r.cancel.IsZero() {
		return requestPriv(ctx, r, std)
	}
	c, err := privileged.Open(ctx, os.Environ())
	if err != nil {
		return err
	}
	defer c.Close()
	switch {
	case r.list:
		return listPriv(ctx, c, std.Out)
	case r.check:
		return checkPriv(ctx, c, r.command, std.Out)
	case !r.cancel.IsZero():
		if err := c.Cancel(ctx, r.cancel); err != nil {
			return privileged.Explain("cancel request "+r.cancel.String(), err)
		}
		fmt.Fprintf(std.Out, "cancelled %s\n", r.cancel)
		return nil
	}
	return resultPriv(ctx, c, r.result, std.Out)
}

func requestPriv(ctx context.Context, r privRequest, std cli.IO) error {
	task := privileged.Task{Tool: "priv", Doing: "run " + strings.Join(r.command.Argv, " "), Command: r.command, Reason: r.reason, NoWait: r.noWait}
	if r.command.Rule != "" {
		task.Doing = "run rule " + string(r.command.Rule)
	}
	if r.stdin {
		text, err := io.ReadAll(io.LimitReader(std.In, action.MaxText+1))
		switch {
		case err != nil:
			return cli.Fail("", "cannot read stdin: %v", err)
		case len(text) > action.MaxText:
			return cli.Usage("", "cannot ask: stdin has more than the %d bytes that people can be asked to review", action.MaxText)
		}
		content := string(text)
		task.Stdin = &content
	}
	return task.Run(ctx, std, os.Environ())
}

func listPriv(ctx context.Context, c *client.Client, w io.Writer) error {
	rules, err := c.Rules(ctx)
	if err != nil {
		return privileged.Explain("list what may be asked for", err)
	}
	if len(rules) == 0 {
		fmt.Fprintln(w, "there is nothing that you may ask for")
		return &cli.Error{Code: exitEmpty}
	}
	for i := range rules {
		fmt.Fprint(w, privileged.Describe(&rules[i]))
	}
	return nil
}

func checkPriv(ctx context.Context, c *client.Client, what client.Command, w io.Writer) error {
	j, err := c.Check(ctx, what)
	if err != nil {
		return privileged.Explain("check this", err)
	}
	text := string(j.Decision)
	if j.Rule != "" {
		text += ", by rule " + string(j.Rule)
	}
	switch j.Decision {
	case client.Ask:
		text += ", of " + privileged.People(j.Approvers)
		if j.ReasonRequired {
			text += "; needs a reason"
		}
	case client.Deny:
		text += ": " + j.Reason.Text()
		if j.Why != "" {
			text += ": " + j.Why
		}
	}
	fmt.Fprintln(w, visible.Line(text))
	return nil
}

func resultPriv(ctx context.Context, c *client.Client, id action.RequestID, w io.Writer) error {
	r, err := c.Result(ctx, id, false)
	if err != nil {
		return privileged.Explain("find request "+id.String(), err)
	}
	text := r.State.String()
	switch {
	case r.State == action.Exited:
		text += ": " + privileged.HowItEnded(&r)
	case r.State.Final():
		text += ": " + r.Reason.Text()
	}
	fmt.Fprintf(w, "%s: %s\n", id, text)
	return nil
}
