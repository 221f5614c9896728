package main

import (
	"fmt"
	"strconv"
	"strings"

	"snens/internal/strictjson"
)

const statusHelp = `snens-priv status — how the daemon is.
snens-priv status [--socket PATH] [--user] [--json]

Exit status 0: it serves. 1: it serves, and the last reload failed or the audit log
cannot be written. 69: no broker is there, or not root's.

  --socket PATH  instead of /run/snens-priv/request.sock
  --user         the broker that you run for yourself
  --json         the object that the daemon sent
`

func (a *app) status(args []string) error {
	set := options("status")
	socket := set.String("socket", "", "")
	user := set.Bool("user", false, "")
	asJSON := set.Bool("json", false, "")
	if err := parse(set, args, false); err != nil {
		return err
	}
	v, err := a.ask(*socket, *user, "status")
	if err != nil {
		return err
	}
	if *asJSON {
		err = a.printf("%s\n", v.JSON())
	} else {
		err = a.printf("%s", describe(answer{&v}))
	}
	if err != nil {
		return err
	}
	s := answer{&v}
	if s.at("policy", "error") != "" || s.at("audit", "error") != "" {
		return &failure{status: exitFailed}
	}
	return nil
}

// answer reads what a daemon, perhaps of another version, sent: what is missing
// is empty.
type answer struct{ v *strictjson.Value }

func (s answer) get(names ...string) *strictjson.Value {
	v := s.v
	for _, name := range names {
		if v == nil {
			return nil
		}
		v = v.Get(name)
	}
	return v
}

// at is a text or number as one line.
func (s answer) at(names ...string) string {
	if v := s.get(names...); v != nil {
		return line(v.Text)
	}
	return ""
}

func describe(s answer) string {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s"+format+"\n", append([]any{name}, args...)...)
	}
	row("version", "%s, pid %s, up %s", s.at("version"), s.at("pid"), s.at("uptime"))
	switch boundary := s.at("boundary"); boundary {
	case "none":
		row("boundary", "none: a guard against mistakes; programs of the same user can get round it")
	default:
		row("boundary", "%s", boundary)
	}
	row("policy", "generation %s, rules: %s, digest %.12s", s.at("policy", "generation"), s.at("policy", "rules"), s.at("policy", "digest"))
	if files := s.get("policy", "files"); files != nil {
		for _, f := range files.Items {
			row("", "%s", line(f.Text))
		}
	}
	if fault := s.get("policy", "error"); fault != nil {
		for i, l := range strings.Split(fault.Text, "\n") {
			if i == 0 {
				row("", "THE LAST RELOAD FAILED, this policy is the one before it: %s", line(l))
			} else {
				row("", "  %s", line(l))
			}
		}
	}
	if list := s.get("sockets"); list != nil {
		for _, l := range list.Items {
			one, how := answer{&l}, "its own"
			if p := one.get("passed"); p != nil && p.Bool {
				how = "passed by systemd"
			}
			row(one.at("name"), "%s, %s", one.at("path"), how)
		}
	}
	row("requests", "%s wait for people, %s run, %s cannot be ended", s.at("requests", "pending"), s.at("requests", "running"), s.at("requests", "unkillable"))
	row("audit", "%s records, the last has the hash %s", s.at("audit", "count"), s.at("audit", "hash"))
	if fault := s.at("audit", "error"); fault != "" {
		row("", "NO RECORD CAN BE WRITTEN, so nothing is run: %s", fault)
	}
	row("groups", "%s", s.at("groups", "text"))
	row("memory", "%s", mebibytes(s.at("memory")))
	return b.String()
}

func mebibytes(text string) string {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return "not known"
	}
	return fmt.Sprintf("%.1f MiB resident", float64(n)/(1<<20))
}
