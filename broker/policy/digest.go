package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"snens/broker/action"
	"snens/internal/escape"
)

// Canonical is the rule as it counts, resolved: lines "name: value", values
// escaped by internal/escape, in a fixed order, every key that has an effect
// written out with its default. The same text means the same rule.
//
// Names of accounts are there with their ids, so that a name which moves to
// another id changes the text. Left out are where the rule stands, its examples
// and i_know: they change nothing about what runs or who decides. Members of
// groups and the table of persons are left out too: who belongs to them is
// asked when somebody connects.
//
// A new key comes as a new line that is written only when the key is set, so
// that digests of older rules stay.
func (r *Rule) Canonical() string {
	var b strings.Builder
	line := func(name, value string) { fmt.Fprintf(&b, "%s: %s\n", name, escape.Escape(value)) }
	number := func(name string, n int64) { line(name, strconv.FormatInt(n, 10)) }
	b.WriteString("snens-rule 1\n")
	line("id", string(r.ID))
	line("about", r.About)
	line("decision", r.Decision.String())
	line("command", r.Command)
	for _, a := range r.Args {
		if a.Slot == nil {
			line("arg", a.Literal)
		} else {
			a.Slot.canonical(line, number)
		}
	}
	if r.AnyArgs {
		line("args", "any")
	}
	for _, p := range canonicalList(r.From) {
		line("from", p)
	}
	if r.Decision == Deny {
		return b.String()
	}
	line("run_as.user", fmt.Sprintf("%d %s", r.RunAs.UID, r.RunAs.User))
	number("run_as.group", int64(r.RunAs.GID))
	for _, gid := range r.RunAs.Groups {
		number("run_as.groups", int64(gid))
	}
	for _, v := range r.base {
		line("env", v.Name+"="+v.Value)
	}
	for _, name := range r.EnvPass {
		line("env_pass", name)
	}
	line("timeout", r.Timeout.String())
	line("cwd", r.Cwd)
	line("umask", fmt.Sprintf("%04o", r.Umask))
	line("stdin", stdinWord(r.Stdin))
	line("detach", strconv.FormatBool(r.Detach))
	number("limits.memory", int64(r.Limits.Memory))
	number("limits.pids", int64(r.Limits.Processes))
	line("limits.cpu", r.Limits.CPU.String())
	number("limits.open_files", int64(r.Limits.OpenFiles))
	number("limits.file_size", int64(r.Limits.FileSize))
	line("sha256", r.SHA256)
	if r.Decision == Ask {
		r.Approve.canonical(line, number)
	}
	return b.String()
}

func (s *Slot) canonical(line func(name, value string), number func(name string, n int64)) {
	line("slot", s.Name)
	line("slot.kind", string(s.Kind))
	for _, v := range s.Values {
		line("slot.value", v)
	}
	number("slot.min", s.Min)
	number("slot.max", s.Max)
	line("slot.pattern", s.Pattern)
	line("slot.beneath", s.Beneath)
	line("slot.as", string(s.As))
	number("slot.many", int64(s.Many))
	line("slot.optional", strconv.FormatBool(s.Optional))
	line("slot.allow_dash", strconv.FormatBool(s.AllowDash))
}

func (a Approve) canonical(line func(name, value string), number func(name string, n int64)) {
	for _, p := range canonicalList(a.From) {
		line("approve.from", p)
	}
	number("approve.need", int64(a.Need))
	line("approve.presence", string(a.Presence))
	line("approve.ttl", a.TTL.String())
	for _, d := range a.Remember {
		line("approve.remember", d.String())
	}
	line("approve.reason_required", strconv.FormatBool(a.ReasonRequired))
}

func digest(r *Rule) Digest { return action.DigestOf(r.Canonical()) }

// canonicalList is sorted: an order that means nothing makes no difference.
func canonicalList(list []Principal) []string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = p.canonical() + " " + p.String()
	}
	slices.Sort(out)
	return out
}
