package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"snens/broker/action"
	"snens/internal/accounts"
	"snens/internal/audit"
)

// options are those of both commands. Zero fields filter nothing.
type options struct {
	dir    string
	json   bool
	count  int
	follow bool

	id     action.RequestID
	uid    action.UID
	hasUID bool
	rule   action.RuleID
	kind   audit.Kind
	since  time.Time
}

func (o *options) read(args []string) error {
	set := flag.NewFlagSet("snens-audit", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	var user bool
	set.StringVar(&o.dir, "log-dir", "", "")
	set.BoolVar(&user, "user", false, "")
	set.BoolVar(&o.json, "json", false, "")
	set.IntVar(&o.count, "n", 10, "")
	set.BoolVar(&o.follow, "f", false, "")
	set.BoolVar(&o.follow, "follow", false, "")
	set.Func("uid", "", o.setUID)
	set.Func("rule", "", func(s string) (err error) { o.rule, err = action.ParseRuleID(s); return err })
	set.Func("kind", "", func(s string) (err error) {
		if o.kind, err = audit.ParseKind(s); err != nil {
			err = fmt.Errorf("%w; the kinds are %s", err, kinds())
		}
		return err
	})
	set.Func("since", "", o.setSince)
	err := set.Parse(args)
	switch {
	case err == flag.ErrHelp:
		return err
	case err != nil:
		return usagef("cannot read the command line: %w", err)
	case set.NArg() > 1:
		return usagef("cannot read the command line: %q is not expected; options come first", set.Arg(1))
	case o.count < 0 || o.count > math.MaxInt32:
		return usagef("cannot read the command line: -n %d is no number of records", o.count)
	case set.NArg() == 1:
		if o.id, err = action.ParseRequestID(set.Arg(0)); err != nil {
			return usagef("cannot read the command line: %w", err)
		}
	}
	return o.setDir(user)
}

func (o *options) setDir(user bool) (err error) {
	switch {
	case o.dir != "":
	case user:
		o.dir, err = userLogs()
	default:
		o.dir = systemLogs
	}
	return err
}

func (o *options) setUID(s string) error {
	uid, err := action.ParseUID(s)
	if err != nil {
		db, dberr := accounts.Read("/etc/passwd", "/etc/group")
		if dberr != nil {
			return dberr
		}
		u, dberr := db.User(s)
		if dberr != nil {
			return fmt.Errorf("neither a uid nor a user: %w", dberr)
		}
		uid = action.UID(u.UID)
	}
	o.uid, o.hasUID = uid, true
	return nil
}

func (o *options) setSince(s string) error {
	if d, err := time.ParseDuration(s); err == nil {
		o.since = time.Now().Add(-d)
		return nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return fmt.Errorf("%q is neither a duration (90m) nor a time (2026-01-31T12:00:00Z)", s)
	}
	o.since = t
	return nil
}

func kinds() string {
	var words []string
	for _, k := range audit.Kinds() {
		words = append(words, string(k))
	}
	return strings.Join(words, ", ")
}
