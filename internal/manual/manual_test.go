package manual_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"snens/internal/manual"
	"snens/internal/testneed"
)

func tree() (root, sub *cobra.Command) {
	root = &cobra.Command{Use: "prog", Short: "does things"}
	root.PersistentFlags().Bool("json", false, "print JSON")
	sub = &cobra.Command{
		Use: "do NAME", Short: "do one thing",
		Long:    ".dots begin this line and a back\\slash is in it.\n\n  as   it-stands\n  'quoted\n\nThe *end*.",
		Example: "  prog do x",
		Run:     func(*cobra.Command, []string) {},
	}
	sub.Flags().StringP("cwd", "c", "", "start in `DIR`")
	hidden := &cobra.Command{Use: "secret", Hidden: true, Run: func(*cobra.Command, []string) {}}
	root.AddCommand(sub, hidden)
	return root, sub
}

func TestMan(t *testing.T) {
	_, sub := tree()
	page := string(manual.Man(sub, []manual.Section{{
		Title: "EXIT STATUS", Items: []manual.Item{{"0", "it went well"}},
	}}, []string{"prog"}))
	for _, want := range []string{
		".TH PROG\\-DO 1 ",
		".SH NAME\nprog\\-do \\- do one thing\n",
		".SH SYNOPSIS\n.B prog do NAME\n",
		"\n\\&.dots begin this line and a back\\eslash is in it.\n",
		".nf\nas   it\\-stands\n\\&'quoted\n.fi\n",
		".SH OPTIONS\n.TP\n.B \\-c, \\-\\-cwd DIR\nstart in DIR\n",
		".SH GLOBAL OPTIONS\n.TP\n.B \\-\\-json\n",
		".SH EXIT STATUS\n.TP\n.B 0\nit went well\n",
		".SH SEE ALSO\n.BR prog (1)\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

func TestManIsCleanRoff(t *testing.T) {
	groff := testneed.Program(t, "groff", "groff-base")
	_, sub := tree()
	cmd := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z")
	cmd.Stdin = bytes.NewReader(manual.Man(sub, nil, []string{"prog", "other"}))
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("groff says %v:\n%s", err, out)
	}
}

func TestMarkdown(t *testing.T) {
	root, sub := tree()
	text := string(manual.Markdown(sub, nil))
	for _, want := range []string{
		"## prog do\n\n```\nprog do NAME\n```\n",
		"\n```\nas   it-stands\n'quoted\n```\n",
		"The \\*end\\*.\n",
		"- `-c, --cwd DIR`: start in DIR\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the section lacks %q:\n%s", want, text)
		}
	}
	if global := string(manual.MarkdownSection(manual.GlobalOptions(root), 2)); !strings.Contains(global, "## Global options\n") || !strings.Contains(global, "- `--json`: print JSON\n") {
		t.Errorf("global options: %s", global)
	}
}

// A program with commands names them all; a command that has commands below it
// is used through those.
func TestCommandsAreListed(t *testing.T) {
	root, sub := tree()
	root.Run = func(*cobra.Command, []string) {}
	sub.AddCommand(&cobra.Command{Use: "it X", Short: "do it", Run: func(*cobra.Command, []string) {}})
	for _, c := range []struct{ page, want string }{
		{string(manual.Man(root, nil, nil)), ".SH SYNOPSIS\n.B prog [OPTION ...]\n.br\n.B prog [OPTION ...] COMMAND [ARGUMENT ...]\n"},
		{string(manual.Man(root, nil, nil)), ".SH COMMANDS\n.TP\n.B prog do it X\ndo it\n.SH"},
		{string(manual.Man(sub, nil, nil)), ".SH SYNOPSIS\n.B prog do it X\n.SH"},
		{string(manual.Markdown(root, nil)), "```\nprog [OPTION ...]\nprog [OPTION ...] COMMAND [ARGUMENT ...]\n```\n"},
		{string(manual.Markdown(root, nil)), "Commands:\n\n- `prog do it X`: do it\n\n"},
		{string(manual.Markdown(sub, nil)), "```\nprog do it X\n```\n"},
	} {
		if !strings.Contains(c.page, c.want) {
			t.Errorf("the page lacks %q:\n%s", c.want, c.page)
		}
	}
}

func TestHiddenCommandsAreLeftOut(t *testing.T) {
	root, _ := tree()
	var names []string
	for _, c := range manual.Commands(root) {
		names = append(names, c.CommandPath())
	}
	if got := strings.Join(names, ", "); got != "prog, prog do" {
		t.Errorf("got %s", got)
	}
}
