// Command snens-tools is the program behind most of the tools in tools/: one
// binary that looks at the name it was called by. tools/read/read is a link to
// it; "snens-tools read ..." does the same.
//
// Each tool has a file cmd_NAME.go, which turns arguments into a request, and
// a package under internal/ that carries the request out on readers and
// writers. It links the standard library and little else, because its start is
// part of every call.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"snens/cmd/snens-tools/internal/cli"
)

// command is one tool.
type command struct {
	name string
	help string // first line the essence, second the usage, then details
	run  func(args []string, std cli.IO) error
}

// commands lists the tools, sorted by name.
func commands() []command {
	return []command{
		{"edit", editHelp, runEdit},
		{"grep", grepHelp, runGrep},
		{"logs", logsHelp, runLogs},
		{"package", packageHelp, runPackage},
		{"priv", privHelp, runPriv},
		{"read", readHelp, runRead},
		{"service", serviceHelp, runService},
		{"sysinfo", sysinfoHelp, runSysinfo},
		{"write", writeHelp, runWrite},
	}
}

func main() {
	os.Exit(run(os.Args, cli.IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

// run dispatches by the base name of argv[0], or by the first argument when
// the program is called by its own name. It returns the exit status.
func run(argv []string, std cli.IO) int {
	if len(argv) == 0 {
		return cli.Report(std.Err, "snens-tools", cli.Usage("", "called without a name (empty argv)"))
	}
	name, args := filepath.Base(argv[0]), argv[1:]
	c, ok := find(name)
	if !ok {
		if len(args) == 0 || args[0] == "--help" {
			return overview(std, len(args) > 0)
		}
		if c, ok = find(args[0]); !ok {
			return cli.Report(std.Err, "snens-tools", cli.Usage("tools: "+strings.Join(names(), ", "), "no tool is called %q", args[0]))
		}
		args = args[1:]
	}
	err := c.run(args, std)
	if errors.Is(err, cli.ErrHelp) {
		_, err = io.WriteString(std.Out, c.help)
	}
	return cli.Report(std.Err, c.name, err)
}

func find(name string) (command, bool) {
	for _, c := range commands() {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

func names() []string {
	var all []string
	for _, c := range commands() {
		all = append(all, c.name)
	}
	return all
}

func overview(std cli.IO, asked bool) int {
	w, status := std.Out, cli.ExitOK
	if !asked {
		w, status = std.Err, cli.ExitUsage
	}
	fmt.Fprintf(w, "snens-tools — the tools shipped with SNENS in one program.\nsnens-tools <tool> [<argument>...]\n\n")
	for _, c := range commands() {
		fmt.Fprintln(w, cli.Essence(c.help))
	}
	return status
}
