package manual

import (
	"strings"

	"github.com/spf13/cobra"
)

// Markdown is the section of a command in the reference.
func Markdown(c *cobra.Command, more []Section) []byte {
	var b strings.Builder
	b.WriteString("## " + c.CommandPath() + "\n\n")
	b.WriteString("```\n" + synopsis(c) + "\n```\n\n")
	markdownText(&b, description(c))
	markdownItems(&b, "Commands", subcommands(c))
	markdownItems(&b, "Options", options(c.LocalNonPersistentFlags()))
	if c.Example != "" {
		b.WriteString("Examples:\n\n")
		markdownText(&b, c.Example)
	}
	for _, s := range more {
		b.Write(MarkdownSection(s, 3))
	}
	return []byte(b.String())
}

// MarkdownSection is a section under a heading of the given level.
func MarkdownSection(s Section, level int) []byte {
	var b strings.Builder
	title := s.Title[:1] + strings.ToLower(s.Title[1:])
	b.WriteString(strings.Repeat("#", level) + " " + title + "\n\n")
	markdownText(&b, s.Text)
	markdownItems(&b, "", s.Items)
	return []byte(b.String())
}

// GlobalOptions is the section of the options every command takes.
func GlobalOptions(root *cobra.Command) Section {
	return Section{
		Title: "Global options",
		Text:  "They may stand before or behind the command.",
		Items: options(root.PersistentFlags()),
	}
}

func markdownItems(b *strings.Builder, title string, items []Item) {
	if len(items) == 0 {
		return
	}
	if title != "" {
		b.WriteString(title + ":\n\n")
	}
	for _, item := range items {
		b.WriteString("- `" + item.Term + "`: " + item.Text + "\n")
	}
	b.WriteString("\n")
}

func markdownText(b *strings.Builder, text string) {
	for _, p := range paragraphs(text) {
		if p.code {
			b.WriteString("```\n" + p.text + "\n```\n\n")
		} else {
			b.WriteString(plain(p.text) + "\n\n")
		}
	}
}

// plain keeps text from being read as markup.
func plain(text string) string {
	return strings.NewReplacer("*", `\*`, "_", `\_`, "<", `\<`, "`", "\\`").Replace(text)
}
