package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"snens/broker/action"
	"snens/supervisor/call"
)

// commands is every subcommand, in the order in which help shows them.
var commands = []struct {
	name string
	make func(*app) *cobra.Command
}{
	{"tools", (*app).toolsCommand},
	{"call", (*app).callCommand},
	{"priv", (*app).privCommand},
	{"approve", (*app).approveCommand},
	{"check", (*app).checkCommand},
	{"test", (*app).testCommand},
	{"new", (*app).newCommand},
	{"doctor", (*app).doctorCommand},
	{"completion", (*app).completionCommand},
	{"version", (*app).versionCommand},
}

// run is the whole program: it reads args (without the program's name), works,
// and returns the exit status.
func run(args []string, stdin, stdout, stderr *os.File, env []string) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr, out: newOutput(stdout), notes: &notes{to: stderr}, env: env}
	name, rest := subcommand(args)
	usage := usageStatus(name)
	root := a.root(name)
	root.SetArgs(args)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return explainFlag(c, err, usage, rest)
	})
	err := root.Execute()
	if name == "call" {
		a.json = a.json || wantsJSON(args)
		a.recordUsage(rest, err)
	}
	return a.finish(err, usage)
}

// root builds the command tree. When only is the name of a subcommand, that
// one alone is built: a call pays for no other command's options.
func (a *app) root(only string) *cobra.Command {
	root := &cobra.Command{
		Use:   "snens",
		Short: "find, describe, call and supervise tools",
		Long: `snens finds tools (ordinary programs in a folder), describes them to people and
to models, and runs each call as one supervised process tree.

Without a command it says what is configured; it starts nothing. The line
"broker" is about the privilege broker (snens-priv), a service of root's that runs
what its policy allows or people approve: snens priv asks it. No tool needs it:
each runs with the rights of whoever calls it.`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		// The completion command is our own: it knows three shells, not four.
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			a.style = a.newStyle()
			return refuseEmpty(c)
		},
	}
	root.SetIn(a.stdin)
	root.SetOut(a.out)
	root.SetErr(a.notes)

	global := root.PersistentFlags()
	global.StringArrayVar(&a.toolsDirs, "tools-dir", nil, "look for tools in `DIR` instead of the configured folders (repeatable)")
	global.StringVar(&a.configFile, "config", "", "read `FILE` instead of the usual snens.toml")
	global.StringVar(&a.session, "session", "", "work in the session `ID` (default $SNENS_SESSION)")
	global.BoolVar(&a.json, "json", false, "print JSON, for programs")
	global.BoolVar(&a.noColor, "no-color", false, "never colour the output")
	global.BoolVarP(&a.verbose, "verbose", "v", false, "log to stderr what is done")
	_ = root.MarkPersistentFlagDirname("tools-dir")
	_ = root.MarkPersistentFlagFilename("config", "toml")

	showVersion := root.Flags().BoolP("version", "V", false, "print the version")
	root.RunE = func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) > 0:
			return unknownCommand(args[0])
		case *showVersion:
			return a.printVersion()
		}
		return a.status()
	}

	for _, c := range commands {
		if c.name == only {
			root.AddCommand(c.make(a))
			return root
		}
	}
	for _, c := range commands {
		root.AddCommand(c.make(a))
	}
	return root
}

// usageStatus is the exit status for a command line that is not understood. The
// wrappers' are such as no command is likely to have.
func usageStatus(command string) int {
	switch command {
	case "call":
		return call.ExitOurs
	case "priv":
		return action.ExitBadRequest
	}
	return statusUsage
}

// usageStatusOf is usageStatus for a command or one below it.
func usageStatusOf(c *cobra.Command) int {
	for c.HasParent() && c.Parent().HasParent() {
		c = c.Parent()
	}
	return usageStatus(c.Name())
}

// valued are the options, global and of call, whose value is the next word.
var valued = []string{"--tools-dir", "--config", "--session", "--args", "--cwd", "--timeout", "--status-fd"}

// subcommand finds the first word of args that is neither an option nor its
// value, and returns it with what follows it.
func subcommand(args []string) (name string, rest []string) {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case slices.Contains(valued, arg):
			i++
		case !strings.HasPrefix(arg, "-"):
			return arg, args[i+1:]
		case arg == "--":
			return "", nil
		}
	}
	return "", nil
}

// refuseEmpty refuses an option that is given an empty value: most often an
// unset variable of a script, which must not mean the default.
func refuseEmpty(c *cobra.Command) (err error) {
	status := usageStatusOf(c)
	c.Flags().Visit(func(f *pflag.Flag) {
		empty := f.Value.String() == ""
		if list, ok := f.Value.(pflag.SliceValue); ok {
			empty = slices.Contains(list.GetSlice(), "")
		}
		if empty && slices.Contains([]string{"config", "cwd", "digest", "session", "socket", "tools-dir"}, f.Name) {
			err = failf(status, "cannot use --%s: its value is empty", f.Name).withHint("give it a value, or leave --%s out", f.Name)
		}
	})
	return err
}

func unknownCommand(name string) error {
	var names []string
	for _, c := range commands {
		names = append(names, c.name)
	}
	f := failf(statusUsage, "cannot run the command %q: there is none of that name", name)
	if near := nearest(name, names); near != "" {
		return f.withHint("did you mean: snens %s", near)
	}
	return f.withHint("the commands are: %s; a tool is called by: snens call %s", strings.Join(names, ", "), name)
}

// explainFlag puts a fault in the options into our own words, with a way out.
func explainFlag(c *cobra.Command, err error, usage int, rest []string) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return failf(usage, "cannot read the options: %w", err).withHint("see: %s --help", c.CommandPath())
	}
	option := "--" + unknown.GetSpecifiedName()
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		option = "-" + short
	}
	f := failf(usage, "cannot use the option %s: %s has no such option", option, c.CommandPath())
	if c.Name() == "call" {
		tool := "NAME"
		if len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
			tool = rest[0]
		}
		return f.withHint("what is meant for the tool goes behind --: snens call %s -- %s", tool, option)
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	if near := nearest(option, names); near != "" {
		return f.withHint("did you mean: %s", near)
	}
	return f.withHint("see: %s --help", c.CommandPath())
}

// noArguments is the rule of commands that take options alone.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return failf(usageStatusOf(c), "cannot take arguments: %s needs none", c.CommandPath())
	}
	return nil
}

// oneName reads the optional NAME of a command.
func oneName(args []string) (string, error) {
	switch len(args) {
	case 0:
		return "", nil
	case 1:
		return args[0], nil
	}
	return "", fmt.Errorf("cannot take %d names: at most one is allowed", len(args))
}
