package policy

import (
	"fmt"
	"path"
	"strings"
)

// Step is how far a rule was tried.
type Step string

// The steps, in their order.
const (
	StepFrom    Step = "from"    // the requester is not in from
	StepCommand Step = "command" // another command
	StepArgs    Step = "args"    // a word does not fit by its text
	StepHost    Step = "host"    // a word fits, but the machine says no
	StepMatched Step = "matched"
)

// Attempt is how one rule fared.
type Attempt struct {
	Rule *Rule  `json:"-"`
	ID   RuleID `json:"rule"`
	Step Step   `json:"step"` // where it failed, or StepMatched
	Arg  string `json:"arg"`  // of args and host: "slot unit", "argument 2", "end"
	Word string `json:"word"` // the word that did not fit; "" also when the words ended
	Why  string `json:"why"`  // one line, escaped; names what the entry wants
}

// missed makes the attempt of a miss.
func (r *Rule) missed(step Step, words []string, m miss) Attempt {
	a := Attempt{Rule: r, Step: step, Arg: "end", Why: m.why}
	if m.arg < len(r.Args) {
		a.Arg = fmt.Sprintf("argument %d", m.arg+1)
		if s := r.Args[m.arg].Slot; s != nil {
			a.Arg = "slot " + s.Name
		}
	}
	if m.word < len(words) {
		a.Word = words[m.word]
	}
	return a
}

// text says in one line what did not fit.
func (a Attempt) text() string {
	switch {
	case a.Arg == "end":
		return fmt.Sprintf("the word %s is one too many", quote(a.Word))
	case a.Word == "":
		return fmt.Sprintf("%s: %s", a.Arg, a.Why)
	}
	return fmt.Sprintf("%s: %s: %s", a.Arg, quote(a.Word), a.Why)
}

// Explanation is every rule that was tried, for the administrator. It says
// more than a requester may know.
type Explanation struct {
	Argv     []string  `json:"argv"` // as judged
	Decision string    `json:"decision"`
	Reason   string    `json:"reason"` // "" when it is not refused
	Rule     RuleID    `json:"rule"`   // "" when none decided
	Detail   string    `json:"detail"`
	Attempts []Attempt `json:"attempts"` // in the order of judgement, up to the rule that decided
}

// Explain judges a request and tells how each rule fared.
func (p *Policy) Explain(req Request) Explanation {
	j := p.judge(req)
	e := Explanation{Argv: j.Argv, Decision: j.Decision.String(), Detail: j.Detail, Attempts: []Attempt{}}
	if j.Reason != 0 {
		e.Reason = j.Reason.String()
	}
	if j.Rule != nil {
		e.Rule = j.Rule.ID
	}
	if j.Argv == nil {
		return e
	}
	for _, r := range p.order() {
		a, ok := p.try(r, req.From, j.Argv)
		a.ID = r.ID
		switch a.Step {
		case StepFrom:
			a.Why = "the requester is not in from"
		case StepCommand:
			a.Why = p.otherCommand(r, j.Argv[0])
		case StepMatched:
			a.Why = "decides: " + r.Decision.String()
		case StepArgs, StepHost:
			a.Why = a.text()
		}
		e.Attempts = append(e.Attempts, a)
		if ok {
			break
		}
	}
	return e
}

// otherCommand says what the rule is about, and that it is the same program
// under another name where that is so: the usual mistake.
func (p *Policy) otherCommand(r *Rule, command string) string {
	why := "the rule is about " + quote(r.Command)
	if path.Base(command) != path.Base(r.Command) || !path.IsAbs(command) {
		return why
	}
	mine, err1 := p.host.Files.File(r.Command)
	its, err2 := p.host.Files.File(command)
	if err1 == nil && err2 == nil && mine.ID == its.ID {
		why += ", which is the same file by another path: the path in the rule counts as written"
	}
	return why
}

// String is the explanation for a terminal: one line per rule, then the outcome.
func (e Explanation) String() string {
	var b strings.Builder
	words := make([]string, len(e.Argv))
	for i, w := range e.Argv {
		words[i] = quote(w)
	}
	if len(words) > 0 {
		fmt.Fprintf(&b, "command  %s\n", strings.Join(words, " "))
	}
	for _, a := range e.Attempts {
		fmt.Fprintf(&b, "%-8s %s: %s\n", a.Step, a.ID, a.Why)
	}
	fmt.Fprintf(&b, "%-8s", e.Decision)
	if e.Rule != "" {
		fmt.Fprintf(&b, " by rule %s", e.Rule)
	}
	if e.Reason != "" {
		fmt.Fprintf(&b, " (%s)", e.Reason)
	}
	if e.Detail != "" {
		fmt.Fprintf(&b, ": %s", e.Detail)
	}
	return b.String() + "\n"
}

// hint says to a requester what would have to be different. It tells nothing
// about the machine: a path that is not there and one that he may not use read
// alike.
func (p *Policy) hint(from Subject, argv []string, named *Rule) string {
	var best Attempt
	far := -1
	for _, r := range p.Visible(from) {
		if named != nil && r != named || r.Command != argv[0] {
			continue
		}
		words := argv[1:]
		_, m, ok := r.match(words)
		a := r.missed(StepArgs, words, m)
		if ok {
			m.word = len(words) + 1
			a = Attempt{Rule: r, Step: StepHost}
		}
		if m.word > far {
			far, best = m.word, a
		}
	}
	switch {
	case far < 0:
		return "no rule lets you run " + quote(argv[0])
	case best.Step == StepHost:
		return fmt.Sprintf("rule %s: an argument cannot be used on this machine", best.Rule.ID)
	}
	return fmt.Sprintf("rule %s: %s", best.Rule.ID, best.text())
}
