package main

import (
	"errors"

	"snens/internal/audit"
)

const verifyHelp = `snens-priv audit verify — follows the chain of the audit log and names the first fault.
snens-priv audit verify [--log-dir DIR] [--state-dir DIR | --no-head] [--user]

Exit status 0: every record is as it was written and none is missing, up to the
head that the state folder holds. 1: one was changed, is missing or was cut off
(the first is named), or the log cannot be read. It can run while the broker
writes. Whoever can write both folders can rewrite history; compare the count
and the hash with what you noted elsewhere.

  --log-dir DIR    instead of /var/log/snens-priv
  --state-dir DIR  instead of /var/lib/snens-priv
  --no-head        a copy of the log alone: what was cut off its end is not noticed
  --user           the usual folders of the broker that you run for yourself
`

func (a *app) verify(args []string) error {
	set := options("audit verify")
	logs := set.String("log-dir", "", "")
	state := set.String("state-dir", "", "")
	noHead := set.Bool("no-head", false, "")
	user := set.Bool("user", false, "")
	if err := parse(set, args, false); err != nil {
		return err
	}
	if *noHead && *state != "" {
		return usagef("cannot verify: --no-head and --state-dir exclude each other")
	}
	where, err := a.placesOf(*user)
	if err != nil {
		return err
	}
	var head *audit.Head
	if !*noHead {
		h, err := audit.ReadHead(or(*state, where.state))
		if err != nil {
			f := failf(exitFailed, "cannot verify the audit log: %w", err)
			if errors.Is(err, audit.ErrNoHead) {
				return f.hintf("without a head nobody can tell what was cut off the end; --no-head verifies the rest")
			}
			return f.hintf("run it as root; --no-head verifies a copy of the log alone")
		}
		head = &h
	}
	report, err := audit.Verify(or(*logs, where.logs), head)
	if err != nil {
		return err
	}
	for _, note := range report.Notes {
		if err := a.printf("note: %s\n", line(note)); err != nil {
			return err
		}
	}
	if head == nil {
		if err := a.printf("note: without a head, what was cut off the end is not noticed\n"); err != nil {
			return err
		}
	}
	return a.printf("%d records in %s, the last has the hash %s\n", report.Head.Count, count(report.Files, "file"), report.Head.Hash)
}

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}
