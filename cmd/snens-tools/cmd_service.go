package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"snens/broker/client"
	"snens/cmd/snens-tools/internal/cli"
	"snens/cmd/snens-tools/internal/privileged"
	"snens/cmd/snens-tools/internal/units"
)

const serviceHelp = `service — see how a systemd unit is doing; start, stop, restart or reload it.
service status|start|stop|restart|reload <unit> [--reason TEXT]

--reason TEXT  tell those who have to approve it why

status asks systemd directly. The others are asked of the privilege broker as
/usr/bin/systemctl ACTION UNIT: root's policy decides, and where it says so people
are asked first, for whom this waits. Nothing else is tried. A unit without a kind
is a service: nginx is nginx.service. The unit's log is shown by the tool logs.

Exit status: 0 done or shown, 1 it ran and failed, 2 bad arguments, 3 there is no
such unit (status), 64 the request was not understood, 69 no broker, 70 a fault,
75 try later, 76 nobody answered, 77 not allowed, 126 and 127 not started.
`

// serviceActions are those that change something; status is the other one.
var serviceActions = []string{"start", "stop", "restart", "reload"}

type serviceRequest struct{ action, unit, reason string }

func parseService(args []string) (r serviceRequest, err error) {
	set := cli.NewSet(serviceHelp)
	set.String("reason", &r.reason)
	words, err := set.Parse(args)
	switch {
	case err != nil:
		return r, err
	case len(words) != 2:
		return r, set.Refuse("needs an action and one unit")
	case words[0] != "status" && !slices.Contains(serviceActions, words[0]):
		return r, set.Refuse("the action must be one of status, %s, not %q", strings.Join(serviceActions, ", "), words[0])
	case words[0] == "status" && r.reason != "":
		return r, set.Refuse("status takes no --reason; nobody is asked")
	}
	r.action = words[0]
	if r.unit, err = units.FullName(words[1]); err != nil {
		return r, set.Refuse("the unit %v", err)
	}
	return r, nil
}

// command is what the broker is asked for; recipes of policies are about it.
func (r serviceRequest) command() []string { return []string{"/usr/bin/systemctl", r.action, r.unit} }

func runService(args []string, std cli.IO) error {
	return doService(args, std, units.Source{Root: "/"})
}

func doService(args []string, std cli.IO, machine units.Source) error {
	r, err := parseService(args)
	if err != nil {
		return err
	}
	ctx, stop := privileged.Context()
	defer stop()
	if r.action != "status" {
		return privileged.Task{
			Tool: "service", Doing: r.action + " " + r.unit, Reason: r.reason,
			Command: client.Command{Argv: r.command()},
		}.Run(ctx, std, os.Environ())
	}
	switch err := machine.Status(ctx, std.Out, r.unit); {
	case errors.Is(err, units.ErrNone):
		return &cli.Error{Code: exitEmpty, Message: fmt.Sprintf("there is no unit %s", r.unit)}
	case err != nil:
		return cli.Fail("", "cannot see how %s is doing: %v", r.unit, err)
	}
	return nil
}
