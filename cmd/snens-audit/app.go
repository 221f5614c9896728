package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"snens/internal/escape"
)

// Exit statuses.
const (
	exitFailed = 1
	exitUsage  = 2
)

const systemLogs = "/var/log/snens-priv"

const overview = `snens-audit — shows the audit log of the privilege broker.
snens-audit show [OPTION...] [ID]
snens-audit tail [-n N] [-f] [OPTION...]
snens-audit --version | --help

show prints the records, oldest first; with the ID of a request all about it, with
the text that people reviewed. tail prints the newest, and with -f what comes.

  --uid USER      requests that this user made, and what he did to others
  --rule RULE     requests that this rule decided
  --kind KIND     records of this kind
  --since WHEN    a duration back (90m) or a time (2026-01-31T12:00:00Z)
  --json          one object for each record; characters beyond ASCII are spelled \uXXXX
  --log-dir DIR   instead of /var/log/snens-priv
  --user          the log of the broker that you run for yourself
  -n N            tail: so many records (10)
  -f, --follow    tail: go on with records as they are written

The log's folder is root's and may be read by its group (adm). Nothing is verified
here: snens-priv audit verify does that. Exit status 1: something could not be read.
`

// app is one call of the program.
type app struct {
	ctx        context.Context
	out        *bufio.Writer
	errs       io.Writer
	options    options
	unreadable int // lines that are no records
}

// errUsage is part of an error about the command line.
var errUsage = errors.New("snens-audit --help tells how it is called")

func usagef(format string, args ...any) error {
	return fmt.Errorf(format+"; %w", append(args, errUsage)...)
}

// run is the program: argv as the kernel gave it, the exit status comes back.
func run(ctx context.Context, argv []string, stdout, stderr io.Writer) int {
	a := &app{ctx: ctx, out: bufio.NewWriter(stdout), errs: stderr}
	err := a.dispatch(argv)
	if ferr := a.out.Flush(); err == nil && ferr != nil {
		err = fmt.Errorf("cannot write the output: %w", ferr)
	}
	switch {
	case errors.Is(err, errUsage):
		a.complain(err)
		return exitUsage
	case err != nil:
		a.complain(err)
		return exitFailed
	case a.unreadable > 0:
		return exitFailed
	}
	return 0
}

func (a *app) dispatch(argv []string) error {
	if len(argv) < 2 {
		return usagef("cannot tell what to do: no command")
	}
	switch argv[1] {
	case "--help", "-h", "help":
		_, _ = a.out.WriteString(overview)
		return nil
	case "--version", "-V":
		fmt.Fprintf(a.out, "snens-audit %s\n", version)
		return nil
	case "show":
		return a.with(argv[2:], a.show)
	case "tail":
		return a.with(argv[2:], a.tail)
	}
	return usagef("cannot do %q: there is no such command", argv[1])
}

// with reads the options and runs the command.
func (a *app) with(args []string, command func() error) error {
	err := a.options.read(args)
	if errors.Is(err, flag.ErrHelp) {
		_, _ = a.out.WriteString(overview)
		return nil
	}
	if err != nil {
		return err
	}
	return command()
}

func (a *app) complain(err error) {
	fmt.Fprintf(a.errs, "snens-audit: %s\n", escape.Line(err.Error()))
	if errors.Is(err, os.ErrPermission) {
		fmt.Fprintln(a.errs, "hint: the log may be read by root and by the group of its folder (adm)")
	}
}

// bad names a line that is no record.
func (a *app) bad(file string, number int, err error) {
	if a.unreadable == 0 {
		fmt.Fprintln(a.errs, "snens-audit: a line of the log is not as it was written; snens-priv audit verify tells what is wrong with the log as a whole")
	}
	a.unreadable++
	where := fmt.Sprintf("%s:%d", file, number)
	if number == 0 {
		where = file
	}
	fmt.Fprintf(a.errs, "snens-audit: %s: %s\n", escape.Line(where), escape.Line(err.Error()))
}

// userLogs is where a broker with --user keeps its log.
func userLogs() (string, error) {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home := os.Getenv("HOME")
		if !filepath.IsAbs(home) {
			return "", errors.New("cannot tell where the log of --user is: neither XDG_STATE_HOME nor HOME is an absolute path")
		}
		state = filepath.Join(home, ".local/state")
	}
	return filepath.Join(state, "snens-priv", "log"), nil
}
