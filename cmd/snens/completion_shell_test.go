package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"snens/internal/testneed"
)

// In a shell on a terminal Tab completes names, fields and values, and what
// was typed is not evaluated.
func TestCompletionInShells(t *testing.T) {
	for shell, start := range map[string][]string{
		"bash": {"--norc", "--noprofile", "-i"},
		"zsh":  {"-f", "-i"},
		"fish": {"--private", "-i"},
	} {
		t.Run(shell, func(t *testing.T) {
			program := testneed.Program(t, shell)
			b := newBench(t)
			typedTool(b)
			bin := t.TempDir()
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(exe, filepath.Join(bin, "snens")); err != nil {
				t.Fatal(err)
			}
			config := b.file("home/.config/snens/snens.toml", "tools_dir = [\""+b.dir+"\"]\n", 0o644)
			script := filepath.Join(bin, "script")
			setUp := map[string]string{
				"bash": "PS1='> '; source " + script + "\n",
				"zsh":  "PS1='> '; unsetopt zle_bracketed_paste; autoload -U compinit; compinit -u -D; source " + script + "\n",
				"fish": "function fish_prompt; echo '> '; end; source " + script + "\n",
			}[shell]
			b.env = append(b.env, "PATH="+bin+":"+os.Getenv("PATH"), "TERM=xterm", "XDG_CONFIG_HOME="+filepath.Dir(filepath.Dir(config)))
			if status, _, stderr := b.run("", "tools"); status != 0 {
				t.Fatalf("cannot fill the cache: %s", stderr)
			}
			_, text, _ := b.run("", "completion", shell)
			if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			limit, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			cmd := exec.CommandContext(limit, program, start...)
			cmd.Env, cmd.Dir = b.env, t.TempDir()
			terminal := startInTerminal(t, cmd)
			_, _ = terminal.WriteString(setUp + "echo rea''dy\n")
			readUntil(t, terminal, "ready\r\n")
			_, _ = terminal.WriteString("snens call $(touch evaluated) \t\x15")
			// Only what is completed thrice is a call with this output.
			_, _ = terminal.WriteString("snens call sho\twor\to\t\r")
			readUntil(t, terminal, "<out>\r\n")
			if exists(filepath.Join(cmd.Dir, "evaluated")) {
				t.Error("what was typed was evaluated")
			}
		})
	}
}
