// Package manual writes the manual pages and the command-line reference from
// a tree of cobra commands, so that they cannot say anything else than the
// commands' own help.
//
// Man is one page in roff for man(1), Markdown one section for docs/cli.md.
// Both take the text of a command as it stands in Long: paragraphs are parted
// by an empty line, and a paragraph of which every line is indented is shown
// as it is. It is used by tests alone and linked into no program: cobra's own
// generator would bring a Markdown parser and a YAML library along.
package manual

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Section is a part of a page that the command itself does not hold.
type Section struct {
	Title string
	Text  string // like Long
	Items []Item
}

// Item is one entry of a list of terms.
type Item struct{ Term, Text string }

// Commands is c and everything below it that people may use, in order.
func Commands(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			all = append(all, Commands(sub)...)
		}
	}
	return all
}

// paragraph is a block of text; code is shown as it stands.
type paragraph struct {
	text string
	code bool
}

func paragraphs(text string) []paragraph {
	var out []paragraph
	for block := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		if block == "" {
			continue
		}
		lines := strings.Split(block, "\n")
		code := true
		for _, line := range lines {
			code = code && strings.HasPrefix(line, "  ")
		}
		if code {
			for i := range lines {
				lines[i] = strings.TrimPrefix(lines[i], "  ")
			}
		}
		out = append(out, paragraph{strings.Join(lines, "\n"), code})
	}
	return out
}

// description is what the command says about itself at length.
func description(c *cobra.Command) string {
	if c.Long != "" {
		return c.Long
	}
	return strings.ToUpper(c.Short[:1]) + c.Short[1:] + "."
}

// synopsis is how a command is used, a line for each way. A program that has
// commands may also do something by itself; a command that has commands below
// it is used through those alone.
func synopsis(c *cobra.Command) string {
	subs := subcommands(c)
	if len(subs) == 0 {
		return useLine(c)
	}
	if !c.HasParent() {
		lines := c.Name() + " [OPTION ...] COMMAND [ARGUMENT ...]"
		if c.Runnable() {
			lines = c.Name() + " [OPTION ...]\n" + lines
		}
		return lines
	}
	var lines []string
	for _, sub := range subs {
		lines = append(lines, sub.Term)
	}
	return strings.Join(lines, "\n")
}

// useLine is the line of use without cobra's mark that there are options.
func useLine(c *cobra.Command) string { return strings.TrimSuffix(c.UseLine(), " [flags]") }

// subcommands lists the commands below c that do something themselves, each
// with its line of use.
func subcommands(c *cobra.Command) []Item {
	var items []Item
	for _, sub := range c.Commands() {
		switch below := subcommands(sub); {
		case !sub.IsAvailableCommand() || sub.Name() == "help":
		case len(below) > 0:
			items = append(items, below...)
		default:
			items = append(items, Item{useLine(sub), sub.Short})
		}
	}
	return items
}

// options lists the flags of a set as terms: "-n, --no-stdin", "--cwd DIR".
func options(flags *pflag.FlagSet) []Item {
	var items []Item
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, text := pflag.UnquoteUsage(f)
		term := "--" + f.Name
		if f.Shorthand != "" {
			term = "-" + f.Shorthand + ", " + term
		}
		if value != "" {
			term += " " + value
		}
		items = append(items, Item{term, text})
	})
	return items
}
