package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

var shells = []string{"bash", "zsh", "fish"}

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "print a completion script for a shell",
		Long: `completion prints a script that completes commands, options, tool names and the
fields of typed tools. The names and fields come from what snens has cached;
completing starts no tool.

  bash:  source <(snens completion bash)
  zsh:   snens completion zsh > "${fpath[1]}/_snens"
  fish:  snens completion fish > ~/.config/fish/completions/snens.fish`,
		ValidArgs: shells,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return failf(statusUsage, "cannot print a completion script: name one shell").
					withHint("one of: %s", strings.Join(shells, ", "))
			}
			var err error
			switch args[0] {
			case "bash":
				err = c.Root().GenBashCompletionV2(a.out, true)
			case "zsh":
				err = c.Root().GenZshCompletion(a.out)
			case "fish":
				err = c.Root().GenFishCompletion(a.out, true)
			default:
				return failf(statusUsage, "cannot print a completion script for %q", args[0]).
					withHint("one of: %s", strings.Join(shells, ", "))
			}
			if err != nil {
				return fmt.Errorf("cannot print the completion script: %w", err)
			}
			return nil
		},
	}
}
