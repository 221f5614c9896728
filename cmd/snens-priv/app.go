package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"snens/internal/escape"
)

// app is one call of the program.
type app struct {
	stdout, stderr io.Writer
	getenv         func(string) string
	uid            int
}

// command is one word of the command line. The first line of help says what it
// is for, the second how it is called.
type command struct {
	name string
	help string
	run  func(a *app, args []string) error
}

// commands are all of them, in the order of the overview.
func commands() []command {
	return []command{
		{"serve", serveHelp, (*app).serve},
		{"check", checkHelp, (*app).check},
		{"explain", explainHelp, (*app).explain},
		{"reload", reloadHelp, (*app).reload},
		{"status", statusHelp, (*app).status},
		{"audit verify", verifyHelp, (*app).verify},
	}
}

// run is the program: argv as the kernel gave it, the exit status comes back.
func run(argv []string, _ io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdout: stdout, stderr: stderr, getenv: os.Getenv, uid: os.Geteuid()}
	if len(argv) == 0 {
		return a.finish(usagef("cannot tell what to do: called without a name (empty argv)"))
	}
	return a.finish(a.dispatch(argv[1:]))
}

func (a *app) dispatch(args []string) error {
	if len(args) == 0 {
		a.overview(a.stderr)
		return &failure{status: exitUsage}
	}
	switch args[0] {
	case "--help", "-h", "help":
		a.overview(a.stdout)
		return nil
	case "--version", "-V":
		return a.printf("snens-priv %s\n", version)
	}
	for _, c := range commands() {
		words := strings.Fields(c.name)
		if len(args) < len(words) || strings.Join(args[:len(words)], " ") != c.name {
			continue
		}
		err := c.run(a, args[len(words):])
		if errors.Is(err, flag.ErrHelp) {
			return a.printf("%s", c.help)
		}
		return err
	}
	return usagef("cannot do %q: there is no such command", args[0]).hintf("snens-priv --help lists them")
}

func (a *app) overview(w io.Writer) {
	fmt.Fprint(w, "snens-priv — the privilege broker: asks a policy and people, runs what they allow, once.\n"+
		"snens-priv COMMAND [OPTION...]\n\n")
	for _, c := range commands() {
		essence, rest, _ := strings.Cut(c.help, "\n")
		usage, _, _ := strings.Cut(rest, "\n")
		fmt.Fprintf(w, "%s\n    %s\n", usage, essence[strings.Index(essence, "— ")+len("— "):])
	}
	fmt.Fprint(w, "snens-priv --version | --help\n\nsnens-priv COMMAND --help tells more.\n")
}

func (a *app) printf(format string, args ...any) error {
	if _, err := fmt.Fprintf(a.stdout, format, args...); err != nil {
		return failf(exitFailed, "cannot write the output: %w", err)
	}
	return nil
}

// options makes the set of options of a command; parse reads them.
func options(name string) *flag.FlagSet {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(io.Discard) // what is wrong is said once, by finish
	set.Usage = func() {}
	return set
}

// parse reads options and leaves the words after them, of which there may be
// none unless words says so.
func parse(set *flag.FlagSet, args []string, words bool) error {
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return usagef("cannot read the command line: %s", strings.TrimSpace(err.Error())).hintf("snens-priv %s --help", set.Name())
	}
	if !words && set.NArg() > 0 {
		return usagef("cannot read the command line: %q is not expected; options come first", set.Arg(0)).hintf("snens-priv %s --help", set.Name())
	}
	return nil
}

// line makes text of others fit for one line of a terminal.
func line(s string) string { return escape.Line(s) }
