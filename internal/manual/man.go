package manual

import (
	"strings"

	"github.com/spf13/cobra"
)

// Man is the manual page of a command, section 1.
func Man(c *cobra.Command, more []Section, also []string) []byte {
	var b strings.Builder
	name := pageName(c)
	b.WriteString(".\\\" Generated from the command; make gen writes it anew.\n")
	b.WriteString(".TH " + strings.ToUpper(roff(name)) + " 1 \"\" \"snens\" \"User Commands\"\n")
	b.WriteString(".SH NAME\n" + roff(name) + " \\- " + roff(c.Short) + "\n")
	b.WriteString(".SH SYNOPSIS\n.B " + strings.Join(strings.Split(roff(synopsis(c)), "\n"), "\n.br\n.B ") + "\n")
	b.WriteString(".SH DESCRIPTION\n")
	manText(&b, description(c))
	manSection(&b, Section{Title: "COMMANDS", Items: subcommands(c)})
	manSection(&b, Section{Title: "OPTIONS", Items: options(c.NonInheritedFlags())})
	manSection(&b, Section{Title: "GLOBAL OPTIONS", Items: options(c.InheritedFlags())})
	if c.Example != "" {
		b.WriteString(".SH EXAMPLES\n")
		manText(&b, c.Example)
	}
	for _, s := range more {
		manSection(&b, s)
	}
	if len(also) > 0 {
		b.WriteString(".SH SEE ALSO\n")
		for i, page := range also {
			comma := ","
			if i == len(also)-1 {
				comma = ""
			}
			b.WriteString(".BR " + roff(page) + " (1)" + comma + "\n")
		}
	}
	return []byte(b.String())
}

// pageName is the command's path with dashes: snens-call.
func pageName(c *cobra.Command) string {
	return strings.ReplaceAll(c.CommandPath(), " ", "-")
}

func manSection(b *strings.Builder, s Section) {
	if s.Text == "" && len(s.Items) == 0 {
		return
	}
	b.WriteString(".SH " + roff(s.Title) + "\n")
	manText(b, s.Text)
	for _, item := range s.Items {
		b.WriteString(".TP\n.B " + roff(item.Term) + "\n" + roff(item.Text) + "\n")
	}
}

func manText(b *strings.Builder, text string) {
	for i, p := range paragraphs(text) {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if p.code {
			b.WriteString(".RS 4\n.nf\n" + roff(p.text) + "\n.fi\n.RE\n")
		} else {
			b.WriteString(roff(p.text) + "\n")
		}
	}
}

// roff makes text mean itself: no requests, no escapes, ASCII dashes.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
