package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"snens/broker/action"
)

// Finding is something that loads but is probably not what was meant.
type Finding struct {
	Where string `json:"where"` // FILE:LINE:COLUMN
	Rule  RuleID `json:"rule"`
	Kind  string `json:"kind"` // one of the Finding kinds
	Text  string `json:"text"`
}

// The kinds of findings.
const (
	FindingUnreachable   = "unreachable"       // an earlier rule takes all that this one is about
	FindingSelf          = "approver_is_asker" // an approver could approve only his own requests
	FindingNobody        = "nobody"            // nobody is in the group
	FindingNotInstalled  = "not_installed"     // the command does not exist
	FindingOtherPath     = "other_path"        // the command by its bare name is another path
	FindingSameFile      = "same_file"         // a deny is about the same file by another path
	FindingNeedlessIKnow = "needless_i_know"   // nothing needs i_know
)

// String is the finding as one line.
func (f Finding) String() string { return fmt.Sprintf("%s: rule %s: %s", f.Where, f.Rule, f.Text) }

// Findings are what check reports beside errors, in the order of the rules.
func (p *Policy) Findings() []Finding { return slices.Clone(p.findings) }

// lint fills in the findings.
func (p *Policy) lint() {
	note := func(r *Rule, kind, format string, args ...any) {
		p.findings = append(p.findings, Finding{r.Where, r.ID, kind, fmt.Sprintf(format, args...)})
	}
	order := p.order()
	for _, r := range p.Rules {
		for _, before := range order[:slices.Index(order, r)] {
			if p.covers(before, r) {
				note(r, FindingUnreachable, "never decides: rule %s at %s takes all of it", before.ID, before.Where)
				break
			}
		}
		p.lintPeople(r, note)
		if r.Decision != Deny {
			p.lintCommand(r, note)
		}
	}
}

type noteFunc func(r *Rule, kind, format string, args ...any)

// lintPeople looks for rules that nobody can use or approve.
func (p *Policy) lintPeople(r *Rule, note noteFunc) {
	for _, list := range [][]Principal{r.From, r.Approve.From} {
		for _, who := range list {
			if who.Kind == GroupPrincipal && len(p.host.Accounts.Members(who.GID)) == 0 {
				note(r, FindingNobody, "%s has no members", who)
			}
		}
	}
	if r.Decision != Ask || p.UserMode {
		return
	}
	askers := p.people(r.From)
	if len(askers) != 1 {
		return // whoever approves, somebody else may have asked
	}
	others := 0
	for _, who := range r.Approve.From {
		people := p.people([]Principal{who})
		if slices.Equal(people, askers) {
			note(r, FindingSelf, "%s is always the requester's own person (%s), who may not approve", who, askers[0])
		} else if len(people) > 0 {
			others++
		}
	}
	if others == 0 {
		note(r, FindingSelf, "nobody can approve this: every approver is the requester")
	}
}

// people are the persons that principals stand for, sorted.
func (p *Policy) people(list []Principal) []PersonID {
	var out []PersonID
	for _, who := range list {
		switch who.Kind {
		case GroupPrincipal:
			for _, uid := range p.host.Accounts.Members(who.GID) {
				out = append(out, p.PersonOf(uid))
			}
		case UserPrincipal, UIDPrincipal:
			out = append(out, p.PersonOf(who.UID))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (p *Policy) lintCommand(r *Rule, note noteFunc) {
	info, err := p.host.Files.File(r.Command)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		note(r, FindingNotInstalled, "%s is not installed", quote(r.Command))
	case err == nil && !info.Executable:
		note(r, FindingNotInstalled, "%s is not a program", quote(r.Command))
	case err == nil:
		if full := p.resolve(path.Base(r.Command)); path.IsAbs(full) && full != r.Command {
			note(r, FindingOtherPath, "a request for %s means %s, which this rule does not match; write that path", quote(path.Base(r.Command)), quote(full))
		}
	}
	for _, other := range p.Rules {
		if err != nil || other.Decision != Deny || other.Command == r.Command {
			continue
		}
		if its, err := p.host.Files.File(other.Command); err == nil && its.ID == info.ID {
			note(r, FindingSameFile, "%s is the same file as %s, which rule %s denies by that path only", quote(r.Command), quote(other.Command), other.ID)
		}
	}
	if r.IKnow && !r.needsIKnow(p.host.Files) {
		note(r, FindingNeedlessIKnow, "nothing here needs i_know; remove it, so that it shows when something does")
	}
}

func (r *Rule) needsIKnow(files Files) bool {
	return r.hatch(files) != "" || r.Stdin == action.StdinPass && r.Decision == Ask ||
		slices.ContainsFunc(r.Env, func(v Var) bool { return needsIKnow(v.Name) != "" })
}
