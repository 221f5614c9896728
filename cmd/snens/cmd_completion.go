package main

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

var shells = []string{"bash", "zsh", "fish"}

// The scripts are our own: those that cobra makes hand what was typed to eval.
var (
	//go:embed completion/snens.bash
	bashScript string
	//go:embed completion/snens.zsh
	zshScript string
	//go:embed completion/snens.fish
	fishScript string

	completionScripts = map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}
)

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
			script, ok := completionScripts[args[0]]
			if !ok {
				return failf(statusUsage, "cannot print a completion script for %q", args[0]).
					withHint("one of: %s", strings.Join(shells, ", "))
			}
			fmt.Fprint(a.out, script)
			return nil
		},
	}
}
