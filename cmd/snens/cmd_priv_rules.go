package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"snens/broker/action"
	"snens/broker/client"
	"snens/internal/escape"
	"snens/internal/strictjson"
)

func (a *app) privRules(o *brokerOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "rules",
		Short: "list what one may ask for",
		Long: `rules shows the rules under which one may ask for commands: how each is called,
what it runs and as whom, and whether people are asked.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			return a.withBroker(o, func(ctx context.Context, c *client.Client) error {
				rules, err := c.Rules(ctx)
				if err != nil {
					return err
				}
				return a.printRules(rules)
			})
		},
	}
}

func (a *app) printRules(rules []client.Rule) error {
	if a.json {
		raw := strictjson.Value{Kind: strictjson.Array}
		for i := range rules {
			raw.Items = append(raw.Items, rules[i].Raw)
		}
		return a.printJSON(rawJSON(raw.JSON()))
	}
	for i := range rules {
		r := &rules[i]
		fmt.Fprintf(a.out, "%s\n", a.style.strong(usageOf(r)))
		if r.About != "" {
			fmt.Fprintf(a.out, "  %s\n", escape.Line(r.About))
		}
		fmt.Fprintf(a.out, "  runs as %s: %s\n", escape.Line(r.RunAs), escape.Line(commandLine(r)))
		fmt.Fprintf(a.out, "  %s\n", escape.Line(conditions(r)))
	}
	return nil
}

// usageOf is how one asks by a rule.
func usageOf(r *client.Rule) string {
	words := []string{"snens priv", string(r.ID)}
	for _, arg := range r.Args {
		if arg.Slot == "" {
			continue
		}
		word := arg.Slot + "=" + fitting(&arg)
		if arg.Many > 1 {
			word += " ..."
		}
		if arg.Optional {
			word = "[" + word + "]"
		}
		words = append(words, word)
	}
	if r.Stdin == "sealed" {
		words = append(words, "--stdin")
	}
	if r.ReasonRequired {
		words = append(words, "--reason TEXT")
	}
	return escape.Line(strings.Join(words, " "))
}

// fitting says what fits a slot.
func fitting(arg *client.Arg) string {
	switch {
	case len(arg.Values) > 0:
		return strings.Join(arg.Values, "|")
	case arg.Kind == "int" && arg.Min != nil && arg.Max != nil:
		return fmt.Sprintf("%d..%d", *arg.Min, *arg.Max)
	case arg.Beneath != "":
		return strings.TrimSuffix(arg.Beneath, "/") + "/..."
	case arg.Pattern != "":
		return "/" + arg.Pattern + "/"
	}
	return strings.ToUpper(arg.Kind)
}

// commandLine is what a rule runs.
func commandLine(r *client.Rule) string {
	words := []string{r.Command}
	for _, arg := range r.Args {
		if arg.Slot != "" {
			words = append(words, "{"+arg.Slot+"}")
		} else {
			words = append(words, arg.Text)
		}
	}
	return strings.Join(words, " ")
}

// conditions says what happens when one asks.
func conditions(r *client.Rule) string {
	text := "at once"
	if r.Decision == client.Ask {
		text = fmt.Sprintf("when %s has approved, within %s", people(r.Approvers), span(r.TTL))
	}
	if r.Timeout > 0 {
		text += "; at most " + span(r.Timeout)
	}
	if len(r.EnvPass) > 0 {
		text += "; variables (--env): " + strings.Join(r.EnvPass, ", ")
	}
	if r.Detach {
		text += "; --no-wait"
	}
	return text
}

// span is a time as policies write it.
func span(d time.Duration) string {
	if d < time.Millisecond {
		return "0s"
	}
	return action.FormatDuration(d.Truncate(time.Millisecond))
}

// rawJSON is text that is JSON already.
type rawJSON []byte

// MarshalJSON gives the text itself.
func (r rawJSON) MarshalJSON() ([]byte, error) { return r, nil }

// completePriv completes the name of a rule. It asks the broker, who answers from
// memory; without one there is nothing to complete.
func (a *app) completePriv(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var out []cobra.Completion
	rule := ""
	if len(args) > 0 {
		rule = args[0]
	}
	_ = a.withBroker(&brokerOptions{}, func(ctx context.Context, c *client.Client) error {
		rules, err := c.Rules(ctx)
		for i := range rules {
			switch r := &rules[i]; {
			case rule == "" && strings.HasPrefix(string(r.ID), typed):
				out = append(out, cobra.CompletionWithDesc(string(r.ID), escape.Line(r.About)))
			case rule == string(r.ID):
				out = append(out, slotWords(r, typed)...)
			}
		}
		return err
	})
	if rule == "" {
		return out, cobra.ShellCompDirectiveNoFileComp
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// slotWords are the words that may come next for a rule.
func slotWords(r *client.Rule, typed string) (out []cobra.Completion) {
	for _, arg := range r.Args {
		words := []string{arg.Slot + "="}
		if strings.HasPrefix(typed, arg.Slot+"=") {
			words = words[:0]
			for _, v := range arg.Values {
				words = append(words, arg.Slot+"="+v)
			}
		}
		for _, w := range words {
			if arg.Slot != "" && strings.HasPrefix(w, typed) && !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}
