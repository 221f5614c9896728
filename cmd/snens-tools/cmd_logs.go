package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"snens/cmd/snens-tools/internal/cli"
	"snens/cmd/snens-tools/internal/logs"
)

const logsHelp = `logs — the newest entries of the systemd journal, or of a file below /var/log.
logs [--unit U] [--since T] [--until T] [--priority P] [--grep R] [--limit N] [--file F]

--unit U      entries of one unit, such as ssh or nginx.service (journal)
--since T     not older than: 30m, 2h, 7d, today, yesterday, 15:04,
              "2006-01-02 15:04", RFC 3339
--until T     not newer than, likewise
--priority P  emerg, alert, crit, err, warning, notice, info or debug: this and
              more urgent ones (journal)
--grep R      entries in which this regular expression matches (Go's syntax)
--limit N     how many entries (default 100, at most 5000)
--file F      a file in /var/log instead of the journal; .gz is unpacked

The newest entries that match are printed, oldest first. Without a journal and
without --file, syslog or messages is read. Lines that begin with "..." say what
was left out. At most 64 KiB are printed.

Exit status: 0 shown, 1 no such entries, 2 bad arguments, 3 the log cannot be read.
`

func parseLogs(args []string) (logs.Request, error) {
	var r logs.Request
	now := time.Now()
	when := func(t *time.Time) func(string) error {
		return func(v string) (err error) {
			*t, err = logs.ParseTime(v, now)
			return err
		}
	}
	set := cli.NewSet(logsHelp)
	set.String("unit", &r.Unit)
	set.Func("since", when(&r.Since))
	set.Func("until", when(&r.Until))
	set.Func("priority", func(v string) error {
		if !slices.Contains(logs.Priorities(), v) {
			return fmt.Errorf("must be one of %s, not %q", strings.Join(logs.Priorities(), ", "), v)
		}
		r.Priority = v
		return nil
	})
	set.Func("grep", func(v string) (err error) {
		r.Grep, err = regexp.Compile(v)
		return err
	})
	set.Int("limit", &r.Limit, 1, logs.MaxLimit)
	set.String("file", &r.File)
	positionals, err := set.Parse(args)
	switch {
	case err != nil:
		return r, err
	case len(positionals) > 0:
		return r, set.Refuse("takes options only, not %q", positionals[0])
	case r.File != "" && (r.Unit != "" || r.Priority != ""):
		return r, set.Refuse("--unit and --priority are for the journal, --file is not")
	case !r.Since.IsZero() && !r.Until.IsZero() && r.Until.Before(r.Since):
		return r, set.Refuse("--until is before --since")
	}
	return r, nil
}

func runLogs(args []string, std cli.IO) error {
	r, err := parseLogs(args)
	if err != nil {
		return err
	}
	n, err := logs.Source{Folder: "/var/log", Journalctl: journalctl("/")}.Show(std.Out, r)
	var refusal *logs.Error
	switch {
	case errors.As(err, &refusal):
		return &cli.Error{Code: exitBroken, Message: refusal.Message, Hint: refusal.Hint}
	case err != nil:
		return &cli.Error{Code: exitBroken, Message: err.Error()}
	case n == 0:
		return &cli.Error{Code: cli.ExitFail}
	}
	return nil
}

// journalctl is the program that reads the journal, "" where there is none:
// the program alone, as in containers, is not enough.
func journalctl(root string) string {
	path, err := exec.LookPath("journalctl")
	if err != nil {
		return ""
	}
	for _, dir := range []string{"var/log/journal", "run/log/journal"} {
		if entries, err := os.ReadDir(root + dir); err == nil && len(entries) > 0 {
			return path
		}
	}
	return ""
}
