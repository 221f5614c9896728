package main

import (
	"errors"
	"os"
	"slices"
	"strings"

	"snens/broker/client"
	"snens/cmd/snens-tools/internal/cli"
	"snens/cmd/snens-tools/internal/packages"
	"snens/cmd/snens-tools/internal/privileged"
)

const packageHelp = `package — search, show, install, remove and upgrade Debian packages.
package search|show|installed|install|remove|upgrade|update [--reason TEXT] [--] <name>...

--reason TEXT  tell those who have to approve it why

search (by regular expressions, all of which fit), show and installed (all, or the
names) ask apt and dpkg directly and change nothing. The others are asked of the
privilege broker, as exactly these commands:
  install  /usr/bin/apt-get install --yes --no-remove NAME...
  remove   /usr/bin/apt-get remove --yes NAME...
  upgrade  /usr/bin/apt-get install --yes --no-remove --only-upgrade NAME...
           without a name: /usr/bin/apt-get upgrade --yes
  update   /usr/bin/apt-get update    (fetches the lists of packages)
Root's policy decides, and where it says so people are asked first, for whom this
waits. Nothing else is tried.

Exit status: 0 done or shown, 1 it ran and failed, 2 bad arguments, 3 nothing
found, 64 the request was not understood, 69 no broker, 70 a fault, 75 try later,
76 nobody answered, 77 not allowed, 126 and 127 not started.
`

var (
	packageReads   = []string{"search", "show", "installed"}
	packageChanges = []string{"install", "remove", "upgrade", "update"}
)

type packageRequest struct {
	action, reason string
	names          []string
}

func parsePackage(args []string) (r packageRequest, err error) {
	set := cli.NewSet(packageHelp)
	set.String("reason", &r.reason)
	words, err := set.Parse(args)
	if err != nil {
		return r, err
	}
	all := slices.Concat(packageReads, packageChanges)
	if len(words) == 0 || !slices.Contains(all, words[0]) {
		return r, set.Refuse("the first word must be one of %s", strings.Join(all, ", "))
	}
	r.action, r.names = words[0], words[1:]
	switch {
	case len(r.names) == 0 && slices.Contains([]string{"search", "show", "install", "remove"}, r.action):
		return r, set.Refuse("%s needs a name", r.action)
	case len(r.names) > 0 && r.action == "update":
		return r, set.Refuse("update takes no name; upgrade does")
	case r.reason != "" && slices.Contains(packageReads, r.action):
		return r, set.Refuse("%s takes no --reason; nobody is asked", r.action)
	}
	check := packages.CheckName
	switch r.action {
	case "remove":
		check = packages.CheckRemoved
	case "search":
		check = func(s string) error {
			if s == "" {
				return errors.New("a pattern is empty")
			}
			return nil
		}
	}
	for _, name := range r.names {
		if err := check(name); err != nil {
			return r, set.Refuse("%v", err)
		}
	}
	return r, nil
}

// command is what the broker is asked for; recipes of policies are about it.
func (r packageRequest) command() []string {
	argv := []string{"/usr/bin/apt-get"}
	switch {
	case r.action == "install":
		argv = append(argv, "install", "--yes", "--no-remove")
	case r.action == "remove":
		argv = append(argv, "remove", "--yes")
	case r.action == "upgrade" && len(r.names) > 0:
		argv = append(argv, "install", "--yes", "--no-remove", "--only-upgrade")
	case r.action == "upgrade":
		argv = append(argv, "upgrade", "--yes")
	default:
		argv = append(argv, r.action)
	}
	return append(argv, r.names...)
}

func runPackage(args []string, std cli.IO) error {
	r, err := parsePackage(args)
	if err != nil {
		return err
	}
	ctx, stop := privileged.Context()
	defer stop()
	if slices.Contains(packageChanges, r.action) {
		return privileged.Task{
			Tool: "package", Doing: strings.TrimSpace(r.action + " " + strings.Join(r.names, " ")), Reason: r.reason,
			Command: client.Command{Argv: r.command()},
		}.Run(ctx, std, os.Environ())
	}
	read, doing := packages.Search, "search packages"
	switch r.action {
	case "show":
		read, doing = packages.Show, "show packages"
	case "installed":
		read, doing = packages.Installed, "list installed packages"
	}
	switch err := read(ctx, std.Out, r.names); {
	case errors.Is(err, packages.ErrNone):
		return &cli.Error{Code: exitEmpty, Message: "nothing was found"}
	case err != nil:
		return cli.Fail("", "cannot %s: %v", doing, err)
	}
	return nil
}
