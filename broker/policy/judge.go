package policy

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"snens/broker/action"
	"snens/internal/escape"
)

// Request is what is judged: a full command, or a rule's id with the words of
// its slots.
type Request struct {
	From  Subject
	Argv  []string            // the command first: an absolute path, or a name that secure_path resolves
	Rule  RuleID              // instead of Argv
	Slots map[string][]string // with Rule
}

// Judgement is the answer. Its zero value denies.
type Judgement struct {
	Decision Decision
	Reason   action.Reason // why it is refused; 0 when it is not
	Rule     *Rule         // the rule that decided; nil when none did
	Argv     []string      // the full command, its first word an absolute path; nil when it could not be told
	Detail   string        // for the requester, escaped; "" for one whom no rule names
	FD       *PathFD       // the word to be passed as a descriptor; nil when there is none
}

// PathFD is a word that fills a slot with as = "fd".
type PathFD struct {
	Word    int    // its index in Argv
	Path    string // absolute and clean
	Beneath string // the folder it must not leave, symlinks included
}

// Judge decides. Rules that deny come first, then the first match counts, and
// what nothing matches is denied. A requester whom no rule with allow or ask
// names learns nothing, not even what is wrong with his request.
func (p *Policy) Judge(req Request) Judgement {
	// First of all, or the time that a look-up takes would tell something too.
	if !p.Names(req.From) {
		return Judgement{Decision: Deny, Reason: action.ReasonDenied}
	}
	return p.judge(req)
}

func (p *Policy) judge(req Request) Judgement {
	argv, named, err := p.command(req)
	if err != nil {
		return Judgement{Reason: action.ReasonBadRequest, Detail: err.Error()}
	}
	j := Judgement{Reason: action.ReasonDenied, Argv: argv, Rule: p.decide(req.From, argv)}
	switch {
	case j.Rule == nil:
		j.Detail = p.hint(req.From, argv, named)
	case named != nil && j.Rule != named:
		j.Reason = action.ReasonRuleShadowed
		j.Detail = fmt.Sprintf("rule %s decides on this command, not rule %s", j.Rule.ID, named.ID)
	case j.Rule.Decision == Ask, j.Rule.Decision == Allow:
		j.Decision, j.Reason, j.FD = j.Rule.Decision, 0, j.Rule.fd(argv)
	default:
		j.Reason = action.ReasonRuleDenies
		j.Detail = fmt.Sprintf("rule %s denies this", j.Rule.ID)
	}
	return j
}

// decide finds the rule that decides, nil when none matches.
func (p *Policy) decide(from Subject, argv []string) *Rule {
	for _, r := range p.order() {
		if _, ok := p.try(r, from, argv); ok {
			return r
		}
	}
	return nil
}

// order yields the rules as they are judged: every deny, then the rest.
func (p *Policy) order() []*Rule {
	out := make([]*Rule, 0, len(p.Rules))
	for _, deny := range []bool{true, false} {
		for _, r := range p.Rules {
			if (r.Decision == Deny) == deny {
				out = append(out, r)
			}
		}
	}
	return out
}

// try judges one rule by itself.
func (p *Policy) try(r *Rule, from Subject, argv []string) (Attempt, bool) {
	if !holds(r.From, from) {
		return Attempt{Rule: r, Step: StepFrom}, false
	}
	if r.Command != argv[0] {
		return Attempt{Rule: r, Step: StepCommand}, false
	}
	words := argv[1:]
	filled, far, ok := r.match(words)
	if !ok {
		return r.missed(StepArgs, words, far), false
	}
	if r.Decision == Deny {
		return Attempt{Rule: r, Step: StepMatched}, true // what cannot be looked up is denied all the same
	}
	for w, i := range filled {
		s := r.Args[i].Slot
		if s == nil {
			continue
		}
		if err := s.look(words[w], p.host); err != nil {
			return r.missed(StepHost, words, miss{w, i, escape.Line(err.Error())}), false
		}
	}
	return Attempt{Rule: r, Step: StepMatched}, true
}

// command makes the full command of a request. named is the rule that the
// request names, nil when it gives a command.
func (p *Policy) command(req Request) (argv []string, named *Rule, err error) {
	if req.Rule != "" {
		if len(req.Argv) > 0 {
			return nil, nil, fmt.Errorf("give a rule or a command, not both")
		}
		named = p.Rule(req.Rule)
		if named == nil || named.Decision == Deny || !holds(named.From, req.From) {
			return nil, nil, fmt.Errorf("no rule %s is for you", quote(string(req.Rule)))
		}
		if argv, err = named.build(req.Slots); err != nil {
			return nil, nil, err
		}
	} else {
		if len(req.Slots) > 0 {
			return nil, nil, fmt.Errorf("slots need the rule they are of")
		}
		argv = slices.Clone(req.Argv)
	}
	if err := checkWords(argv); err != nil {
		return nil, nil, err
	}
	argv[0] = p.resolve(argv[0])
	return argv, named, nil
}

// build makes the full command of a rule and the words of its slots.
func (r *Rule) build(slots map[string][]string) ([]string, error) {
	for _, name := range slices.Sorted(maps.Keys(slots)) {
		if r.slotNamed(name) == nil {
			return nil, fmt.Errorf("rule %s has no slot %s; it has %s", r.ID, quote(name), orNone(r.slotNames()))
		}
	}
	argv := []string{r.Command}
	for _, a := range r.Args {
		if a.Slot == nil {
			argv = append(argv, a.Literal)
			continue
		}
		words := slots[a.Slot.Name]
		switch {
		case len(words) == 0 && !a.Slot.Optional:
			return nil, fmt.Errorf("rule %s needs the slot %s", r.ID, a.Slot.Name)
		case len(words) > a.Slot.Many:
			return nil, fmt.Errorf("rule %s: the slot %s takes at most %d words, not %d", r.ID, a.Slot.Name, a.Slot.Many, len(words))
		}
		argv = append(argv, words...)
	}
	return argv, nil
}

func (r *Rule) slotNames() []string {
	var out []string
	for _, a := range r.Args {
		if a.Slot != nil {
			out = append(out, a.Slot.Name)
		}
	}
	return out
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

func checkWords(argv []string) error {
	switch {
	case len(argv) == 0 || argv[0] == "":
		return fmt.Errorf("there is no command")
	case len(argv)-1 > maxWords:
		return fmt.Errorf("the command has %d arguments; at most %d can be asked for", len(argv)-1, maxWords)
	}
	for i, w := range argv {
		if strings.IndexByte(w, 0) >= 0 {
			return fmt.Errorf("word %d of the command holds a NUL character", i)
		}
	}
	if strings.Contains(argv[0], "/") && (!path.IsAbs(argv[0]) || path.Clean(argv[0]) != argv[0]) {
		return fmt.Errorf("the command %s must be a bare name or a clean absolute path (no //, no dots)", quote(argv[0]))
	}
	return nil
}

// resolve makes a path of a bare name: the first program of that name in
// secure_path. A name that is the last part of no rule's command is left alone:
// nothing is looked up for a request that no rule can match.
func (p *Policy) resolve(name string) string {
	known := func(r *Rule) bool { return path.Base(r.Command) == name }
	if strings.Contains(name, "/") || !slices.ContainsFunc(p.Rules, known) {
		return name
	}
	for _, dir := range p.SecurePath {
		full := path.Join(dir, name)
		if info, err := p.host.Files.File(full); err == nil && info.Executable {
			return full
		}
	}
	return name
}

// fd finds the word that is passed as a descriptor.
func (r *Rule) fd(argv []string) *PathFD {
	filled, _, _ := r.match(argv[1:])
	for w, i := range filled {
		if s := r.Args[i].Slot; s != nil && s.Kind == KindPath && s.As == AsFD {
			return &PathFD{Word: w + 1, Path: argv[w+1], Beneath: s.Beneath}
		}
	}
	return nil
}
