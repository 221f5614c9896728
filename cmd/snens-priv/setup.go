package main

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"

	"snens/internal/accounts"
	"snens/internal/sockets"
)

const serveHelp = `snens-priv serve — listens on two sockets, judges what is asked, asks people, runs it once.
snens-priv serve [--config FILE] [--socket PATH] [--approval-socket PATH] [--state-dir DIR] [--log-dir DIR] [--user]

It stays in the foreground and logs to stderr; a service manager starts it. Sockets
that systemd passes (FileDescriptorName request and approval) win over paths.

  --config FILE            the policy instead of /etc/snens/priv.toml; the files in
                           FILE.d (without .toml) count too
  --socket PATH            where requests come in: /run/snens-priv/request.sock
  --socket-group GROUP     who may connect there, a name or a gid: snens
  --approval-socket PATH   where approvers answer: /run/snens-priv/approval.sock
  --approval-group GROUP   who may connect there: snens-approve
  --state-dir DIR          what waits, and the head of the log: /var/lib/snens-priv
  --log-dir DIR            the audit log: /var/log/snens-priv
  --log-level LEVEL        of what goes to stderr: debug, info, warn, error (info)
  --user                   for the user who starts it and nobody else, without root;
                           no boundary: a guard against mistakes

Signals: HUP loads the policy again, TERM and INT stop in order, a second one hurries.
`

// setup is what the command line of serve says.
type setup struct {
	places
	user          bool
	socketGroup   string
	approvalGroup string
	logLevel      string
}

// readSetup reads it and refuses what makes no sense before anything is touched.
func (a *app) readSetup(args []string) (setup, error) {
	var s setup
	var given places
	set := options("serve")
	for name, at := range map[string]*string{
		"config": &given.config, "socket": &given.request, "approval-socket": &given.approval,
		"state-dir": &given.state, "log-dir": &given.logs,
	} {
		set.StringVar(at, name, "", "")
	}
	set.StringVar(&s.socketGroup, "socket-group", "snens", "")
	set.StringVar(&s.approvalGroup, "approval-group", "snens-approve", "")
	set.StringVar(&s.logLevel, "log-level", "info", "")
	set.BoolVar(&s.user, "user", false, "")
	if err := parse(set, args, false); err != nil {
		return s, err
	}
	switch {
	case !s.user && a.uid != 0:
		return s, failf(exitFailed, "cannot serve: uid %d is not root, so nothing could run as another user", a.uid).
			hintf("snens-priv serve --user is a broker for yourself alone; it is no boundary")
	case s.user && a.uid == 0:
		return s, failf(exitFailed, "cannot serve: --user is for one user without privilege; as root every approver would be the requester, with root's rights").
			hintf("leave --user out")
	}
	var groups []string
	set.Visit(func(f *flag.Flag) {
		if f.Name == "socket-group" || f.Name == "approval-group" {
			groups = append(groups, "--"+f.Name)
		}
	})
	if s.user && len(groups) > 0 {
		return s, usagef("cannot serve: %s means nothing with --user, whose sockets are its user's alone", groups[0])
	}
	usual, err := a.placesOf(s.user)
	if err != nil {
		return s, err
	}
	for _, p := range []struct{ at, given, usual *string }{
		{&s.config, &given.config, &usual.config},
		{&s.request, &given.request, &usual.request},
		{&s.approval, &given.approval, &usual.approval},
		{&s.state, &given.state, &usual.state},
		{&s.logs, &given.logs, &usual.logs},
	} {
		if *p.at, err = filepath.Abs(or(*p.given, *p.usual)); err != nil {
			return s, failf(exitFailed, "cannot serve: %w", err)
		}
	}
	if s.request == s.approval {
		return s, usagef("cannot serve: both sockets are %s", s.request)
	}
	return s, nil
}

// perm says who may connect to a socket.
func (s *setup) perm(group string) (sockets.Perm, error) {
	if s.user {
		return sockets.Perm{Mode: 0o600, UID: uint32(os.Geteuid()), GID: uint32(os.Getegid())}, nil
	}
	if gid, err := strconv.ParseUint(group, 10, 32); err == nil && gid < 1<<32-1 {
		return sockets.Perm{Mode: 0o660, GID: uint32(gid)}, nil
	}
	db, err := accounts.Read("/etc/passwd", "/etc/group")
	if err != nil {
		return sockets.Perm{}, failf(exitFailed, "cannot serve: %w", err)
	}
	g, err := db.Group(group)
	if err != nil {
		return sockets.Perm{}, failf(exitFailed, "cannot serve: the group %q, whose members may connect: %w", group, err).
			hintf("make it (groupadd --system %s), or name another by --socket-group and --approval-group", group)
	}
	return sockets.Perm{Mode: 0o660, GID: g.GID}, nil
}
