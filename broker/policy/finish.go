package policy

import (
	"errors"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strings"

	"snens/broker/action"
	"snens/internal/tomlread"
)

// draft is a rule with the place it came from, while the policy is loading.
type draft struct {
	*Rule
	d    *decoder
	path []string
	seen map[string]bool
	bad  bool // a fault was noted: what is built on its values is left out
}

func (r *draft) at(name string) []string { return tomlread.Child(r.path, name) }

// rule takes one [[rule]] as far as it can be judged alone.
func (d *decoder) rule(path []string, v any) {
	r := &draft{Rule: &Rule{}, d: d, path: path}
	before := d.Count()
	r.seen = table(d, "rule", path, v, ruleKeys, r.Rule)
	for _, name := range []string{"id", "decision", "command", "from"} {
		if !r.seen[name] {
			d.FailKey(path, "a rule needs %s", name)
		}
	}
	r.Where = d.Origin(path)
	if r.seen["id"] {
		r.Where = d.Origin(r.at("id"))
	}
	if d.Count() == before {
		if r.Decision == Deny {
			r.onlyDenies()
		} else {
			r.runs()
		}
	}
	r.bad = d.Count() != before
	if !r.bad {
		r.runExamples()
		r.bad = d.Count() != before
	}
	*d.all = append(*d.all, r)
}

// onlyDenies refuses what a rule that runs nothing cannot mean.
func (r *draft) onlyDenies() {
	useful := []string{"id", "about", "decision", "command", "args", "from", "match", "no_match"}
	for _, k := range ruleKeys {
		if r.seen[k.name] && !slices.Contains(useful, k.name) {
			r.d.FailKey(r.at(k.name), "a rule that denies runs nothing; remove it")
		}
	}
	r.AnyArgs = !r.seen["args"]
	for _, a := range r.Args {
		if a.Slot != nil {
			a.Slot.widen()
		}
	}
}

// widen makes a slot of a rule that denies miss nothing by an accident of
// writing: a line end in a word, or a word longer than the default.
func (s *Slot) widen() {
	if s.pattern != nil {
		s.pattern = regexp.MustCompile(`(?s)\A(?:` + s.Pattern + `)\z`)
	}
	if s.Kind == KindWord && s.Max == maxWordDefault {
		s.Max = math.MaxInt64
	}
}

// runs checks a rule that lets something run, and fills in its defaults.
func (r *draft) runs() {
	if i := slices.IndexFunc(r.From, func(p Principal) bool { return p.Kind == EveryonePrincipal }); i >= 0 {
		r.d.Fail(tomlread.Item(r.at("from"), i), "only a rule that denies can be about everyone; name users or groups")
	}
	r.defaults()
	r.approval()
	r.account()
	r.places()
	for _, v := range r.Env {
		if why := needsIKnow(v.Name); why != "" && !r.IKnow {
			r.d.FailKey(tomlread.Child(r.at("env"), v.Name), "%s; write i_know = true when that is meant", why)
		}
		if slices.Contains(r.EnvPass, v.Name) {
			r.d.Fail(r.at("env_pass"), "%s is set by env already", v.Name)
		}
	}
	if why := r.hatch(r.d.host.Files); why != "" && !r.IKnow {
		r.d.Fail(r.at("command"), "%s: whoever may run it can leave what the rule says. Choose another program or narrower arguments, or write i_know = true when that is meant", why)
	}
}

func (r *draft) defaults() {
	set := func(name string, fill func()) {
		if !r.seen[name] {
			fill()
		}
	}
	set("timeout", func() { r.Timeout = defaultTimeout })
	set("cwd", func() { r.Cwd = "/" })
	set("umask", func() { r.Umask = defaultUmask })
	set("stdin", func() { r.Stdin = action.StdinNone })
}

// approval checks approve against the decision.
func (r *draft) approval() {
	if r.Decision != Ask {
		if r.seen["approve"] {
			r.d.FailKey(r.at("approve"), `only a rule with decision = "ask" is approved; remove it`)
		}
		return
	}
	a := &r.Approve
	if len(a.From) == 0 {
		r.d.FailKey(r.path, "a rule that asks needs approve = {from = [...]}: who decides")
	}
	if i := slices.IndexFunc(a.From, func(p Principal) bool { return p.Kind == EveryonePrincipal }); i >= 0 {
		r.d.Fail(tomlread.Item(tomlread.Child(r.at("approve"), "from"), i), "an approver must be named: user:NAME, group:NAME or uid:NUMBER")
	}
	if a.Need == 0 {
		a.Need = 1
	}
	if a.Presence == "" {
		a.Presence = PresencePeer
		if r.d.opt.UserMode {
			a.Presence = PresenceTTY
		}
	}
	if a.TTL == 0 {
		a.TTL = defaultTTL
	}
	if r.Stdin == action.StdinPass && !r.IKnow {
		r.d.Fail(r.at("stdin"), `an approver cannot see input that is passed; write "sealed", or i_know = true when that is meant`)
	}
}

// account resolves run_as.
func (r *draft) account() {
	accounts, as := r.d.host.Accounts, &r.RunAs
	at := func(name string) []string { return tomlread.Child(r.at("run_as"), name) }
	var account Account
	var err error
	switch {
	case as.User != "":
		account, err = findUser(as.User, accounts)
	case r.d.opt.UserMode:
		account, err = accounts.UserID(r.d.opt.Owner)
	default:
		account, err = findUser("root", accounts)
	}
	if err != nil {
		r.d.Fail(at("user"), "%s", err)
		return
	}
	if r.d.opt.UserMode && account.UID != r.d.opt.Owner {
		r.d.Fail(at("user"), "in --user mode actions run as the uid %d alone", r.d.opt.Owner)
		return
	}
	as.User, as.UID, as.GID, as.Home, as.Groups = account.Name, account.UID, account.GID, account.Home, slices.Clone(account.Groups)
	if as.Group != "" {
		gid, err := findGroup(as.Group, accounts)
		switch {
		case err != nil:
			r.d.Fail(at("group"), "%s", err)
			return
		case r.d.opt.UserMode && !slices.Contains(account.Groups, gid):
			r.d.Fail(at("group"), "in --user mode the group must be one of the user's own")
			return
		}
		as.GID = gid
	}
	as.Groups = action.SortGIDs(append(as.Groups, as.GID))
}

// places checks everything the rule names in the file system.
func (r *draft) places() {
	r.d.trusted(r.at("command"), r.Command)
	if r.Cwd != CwdRequester {
		r.d.trusted(r.at("cwd"), r.Cwd)
	}
	for i, a := range r.Args {
		if a.Slot == nil || a.Slot.Kind != KindPath || a.Slot.As != AsText {
			continue
		}
		at := tomlread.Child(tomlread.Item(r.at("args"), i), "beneath")
		if err := r.d.host.Files.Trusted(a.Slot.Beneath); err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.d.Fail(at, `%s. Whoever can change the folder can swap the path after it was judged; make the folder root's, or write as = "fd"`, err)
		}
	}
}

// runExamples holds the rule to its own examples.
func (r *draft) runExamples() {
	for i, words := range r.Match {
		if _, far, ok := r.match(words); !ok {
			r.d.Fail(tomlread.Item(r.at("match"), i), "[%s] does not match: %s", strings.Join(quoteEach(words), ", "), r.missed(StepArgs, words, far).text())
		}
	}
	for i, words := range r.NoMatch {
		if r.Fits(words) {
			r.d.Fail(tomlread.Item(r.at("no_match"), i), "[%s] does match", strings.Join(quoteEach(words), ", "))
		}
	}
}

// together checks the rules of all files against each other.
func together(all []*draft) {
	seen := map[RuleID]string{}
	for _, r := range all {
		if where := seen[r.ID]; where != "" {
			r.d.Fail(r.at("id"), "there is a rule %s already, at %s", r.ID, where)
		} else if r.ID != "" {
			seen[r.ID] = r.Where
		}
	}
	for _, r := range all {
		if !r.bad && r.Decision != Deny && r.RunAs.UID != 0 && !r.d.opt.UserMode {
			r.runsAsApprover(all)
		}
	}
}

// runsAsApprover refuses a rule whose command could approve: it would be the
// requester's, acting with the identity of an approver.
func (r *draft) runsAsApprover(all []*draft) {
	self := Subject{UID: r.RunAs.UID, GID: r.RunAs.GID, Groups: r.RunAs.Groups}
	for _, other := range all {
		for _, p := range other.Approve.From {
			if p.Holds(self) {
				r.d.Fail(r.at("run_as"), "the user %s may approve (%s in rule %s), so what runs as him could approve too; run as root or as an account that approves nothing", quote(r.RunAs.User), p, other.ID)
				return
			}
		}
	}
}
