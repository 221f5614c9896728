package privileged

import (
	"fmt"
	"strings"

	"snens/broker/client"
	"snens/cmd/snens-tools/internal/visible"
)

// Describe is a rule in lines: what it is for, the command with its slots, what
// fits each slot, and on what condition it runs.
func Describe(r *client.Rule) string {
	var b strings.Builder
	line := func(indent, format string, a ...any) {
		b.WriteString(indent + visible.Line(fmt.Sprintf(format, a...)) + "\n")
	}
	head := "rule " + string(r.ID)
	if r.About != "" {
		head += ": " + r.About
	}
	line("  ", "%s", head)
	line("    ", "%s", commandLine(r))
	for i := range r.Args {
		if a := &r.Args[i]; a.Slot != "" {
			line("      ", "{%s}: %s", a.Slot, Fitting(a))
		}
	}
	line("    ", "%s", condition(r))
	return b.String()
}

func commandLine(r *client.Rule) string {
	words := []string{r.Command}
	for i := range r.Args {
		switch a := &r.Args[i]; {
		case a.Slot != "":
			words = append(words, "{"+a.Slot+"}")
		case a.Text == "" || strings.ContainsAny(a.Text, " \t'\"{"):
			words = append(words, "'"+a.Text+"'")
		default:
			words = append(words, a.Text)
		}
	}
	return strings.Join(words, " ")
}

// Fitting says what fits a slot.
func Fitting(a *client.Arg) string {
	var text string
	switch {
	case len(a.Values) > 0:
		text = "one of " + strings.Join(a.Values, ", ")
	case a.Kind == "int" && a.Min != nil && a.Max != nil:
		text = fmt.Sprintf("a whole number from %d to %d", *a.Min, *a.Max)
	case a.Kind == "user":
		text = "the name of a user"
	case a.Kind == "unit":
		text = "the full name of a systemd unit, such as nginx.service"
	case a.Beneath != "":
		text = "an absolute path below " + a.Beneath
	default:
		text = "a " + a.Kind
	}
	if a.Pattern != "" {
		text += ", all of it matching " + a.Pattern
	}
	if a.Many > 1 {
		text += fmt.Sprintf("; up to %d of them", a.Many)
	}
	if a.Optional {
		text += "; may be left out"
	}
	return text
}

func condition(r *client.Rule) string {
	text := "runs as " + r.RunAs + " at once"
	if r.Decision == client.Ask {
		text = fmt.Sprintf("runs as %s when %s has approved; waits for that at most %s", r.RunAs, People(r.Approvers), r.TTL)
	}
	if r.ReasonRequired {
		text += "; needs a reason"
	}
	if r.Stdin == "sealed" {
		text += "; reads stdin"
	}
	if r.Detach {
		text += "; no_wait is possible"
	}
	return text
}
