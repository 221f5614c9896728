package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"snens/approval/prompt"
	"snens/broker/action"
	"snens/internal/escape"
	"snens/internal/fields"
)

func (a *app) approveShow(o *brokerOptions) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "show all of a request",
		Long: `show prints the whole review text of a request, rendered here from the object that
would run, and below it what looks suspicious in it, what the requester claims, and
what the broker saw of his process. It changes nothing.`,
		RunE: func(_ *cobra.Command, args []string) error {
			arg, err := oneApproval(args)
			if err != nil {
				return err
			}
			p, err := a.findPending(*o, arg)
			if err != nil {
				return explainApproval("show "+arg, err)
			}
			if a.json {
				v := pendingValue(
					&p, newNames(),
					fields.Member("seen", p.Seen.Value()),
					fields.Member("votes", fields.List(p.Votes, prompt.Vote.Value)),
					fields.Member("text", fields.Text(p.Request.Text())),
					fields.Member("warnings", fields.List(warningsOf(&p), fields.Text)),
				)
				return a.printJSON(rawJSON(v.JSON()))
			}
			for _, line := range reviewLines(&p, newNames(), time.Now()) {
				fmt.Fprintln(a.out, line)
			}
			return nil
		},
	}
}

// oneApproval reads the ID of a command.
func oneApproval(args []string) (string, error) {
	if len(args) != 1 {
		return "", failf(statusUsage, "cannot tell which request is meant: give one id, or the beginning of one digest").
			withHint("snens approve list shows them")
	}
	return args[0], nil
}

// reviewLines is all that a person decides by: the review text, whole, and then,
// each line marked for what it is, what does not belong to it.
func reviewLines(p *prompt.Pending, names names, now time.Time) []string {
	r := p.Request.Request()
	lines := strings.Split(strings.TrimSuffix(p.Request.Text(), "\n"), "\n")
	lines = append(lines, "")
	for _, w := range warningsOf(p) {
		lines = append(lines, "WARNING: "+w)
	}
	if r.RunAs.UID == 0 {
		lines = append(lines, "runs as root")
	}
	lines = append(
		lines,
		"asked by "+names.words(r.Requester.UID)+", "+roughly(now.Sub(p.Since))+" ago, "+remaining(r.Expires, now),
		"the rule says: "+quote(p.About),
		fmt.Sprintf("who is asked: %s; %s; proof: %s", quoteAll(p.Approvers), enough(p.Need), p.Presence),
	)
	for _, v := range p.Votes {
		lines = append(lines, "answered already: "+quoteWord(string(v.Person))+": "+v.Decision.String())
	}
	for _, c := range []struct{ name, text string }{
		{"reason", p.Claims.Reason}, {"session", p.Claims.Session}, {"tool", p.Claims.Tool},
	} {
		if c.text != "" {
			lines = append(lines, "claimed by the requester, checked by nobody: "+c.name+" "+quote(c.text))
		}
	}
	for _, hint := range seenWords(p.Seen) {
		lines = append(lines, "seen when he connected, may have changed: "+hint)
	}
	return append(lines, "", "request "+p.ID.String(), "digest "+p.Request.Digest().String())
}

func seenWords(s action.Seen) (words []string) {
	if s.PID != 0 {
		words = append(words, fmt.Sprintf("process %d", s.PID))
	}
	for _, w := range []struct{ name, text string }{{"name", s.Command}, {"program", s.Exe}, {"control group", s.Cgroup}} {
		if w.text != "" {
			words = append(words, w.name+" "+quote(w.text))
		}
	}
	if s.Login.Set {
		words = append(words, "login uid "+s.Login.UID.String())
	}
	return words
}

func quoteAll(words []string) string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = quoteWord(word)
	}
	return strings.Join(out, ", ")
}

func enough(need int) string {
	if need == 1 {
		return "one has to approve"
	}
	return fmt.Sprintf("%d have to approve", need)
}

// warningsOf says what about a request an eye can miss, each with its place.
func warningsOf(p *prompt.Pending) (out []string) {
	r := p.Request.Request()
	look := func(place, text string) {
		for _, w := range escape.Warnings(text) {
			out = append(out, place+": "+w)
		}
	}
	if r.Stdin.Mode == action.StdinPass {
		out = append(out, "input not reviewed: the command reads what the requester gives it, and nobody has seen that")
	}
	for i, word := range r.Argv {
		look(fmt.Sprintf("argv[%d]", i), word)
	}
	look("executable", r.Executable.Path)
	for i, f := range r.Interpreters {
		look(fmt.Sprintf("interpreters[%d]", i), f.Path)
	}
	for i, f := range r.Opened {
		look(fmt.Sprintf("opened[%d]", i), f.Path)
	}
	look("cwd", r.Cwd)
	for i, v := range r.Env {
		look(fmt.Sprintf("environment[%d]", i), v.Name+"="+v.Value)
	}
	look("run as user", r.RunAs.User)
	look("run as group", r.RunAs.Group)
	for i, line := range strings.Split(strings.TrimSuffix(r.Stdin.Content, "\n"), "\n") {
		look(fmt.Sprintf("stdin lines[%d]", i), line)
	}
	look("the rule's words", p.About)
	for _, c := range []struct{ place, text string }{
		{"claimed reason", p.Claims.Reason},
		{"claimed session", p.Claims.Session},
		{"claimed tool", p.Claims.Tool},
		{"seen name", p.Seen.Command},
		{"seen program", p.Seen.Exe},
		{"seen control group", p.Seen.Cgroup},
	} {
		look(c.place, c.text)
	}
	return out
}
