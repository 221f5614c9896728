package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"snens/broker/action"
	"snens/broker/policy"
)

const explainHelp = `snens-priv explain — tells how the policy judges a command, rule by rule.
snens-priv explain --as USER [--config FILE] [--user] [--json] (-- CMD [ARG...] | --rule RULE [SLOT=WORD...])

Nothing runs and nobody is asked. The last line is the decision: allow, ask or
deny. A slot that takes several words is given once for each.

  --as USER      who asks: a name, or a uid (one without an account is in no group)
  --config FILE  the policy instead of /etc/snens/priv.toml
  --rule RULE    build the command from a rule and its slots; all rules judge it
  --user         as the broker of one user takes the policy
  --json         an object instead of text
`

func (a *app) explain(args []string) error {
	set := options("explain")
	as := set.String("as", "", "")
	config := set.String("config", "", "")
	rule := set.String("rule", "", "")
	user := set.Bool("user", false, "")
	asJSON := set.Bool("json", false, "")
	if err := parse(set, args, true); err != nil {
		return err
	}
	req, err := asked(*rule, set.Args())
	if err != nil {
		return err
	}
	if *as == "" {
		return usagef("cannot explain: say who asks (--as USER)")
	}
	host, err := policy.System(a.policyOptions(*user).Owner)
	if err != nil {
		return failf(exitFailed, "cannot explain: %w", err)
	}
	if req.From, err = subject(host.Accounts, *as); err != nil {
		return err
	}
	p, err := a.loadPolicy(*config, *user)
	if err != nil {
		return err
	}
	if *rule != "" && p.Rule(req.Rule) == nil {
		return failf(exitFailed, "cannot explain: the policy has no rule %q", *rule)
	}
	e := p.Explain(req)
	if !*asJSON {
		return a.printf("%s", e.String())
	}
	text, err := json.Marshal(e)
	if err != nil {
		return failf(exitFailed, "cannot explain: %w", err)
	}
	return a.printf("%s\n", text)
}

// asked makes a request of the words after the options.
func asked(rule string, words []string) (policy.Request, error) {
	if rule == "" {
		if len(words) == 0 {
			return policy.Request{}, usagef("cannot explain: no command; give -- CMD [ARG...] or --rule RULE")
		}
		return policy.Request{Argv: words}, nil
	}
	id, err := action.ParseRuleID(rule)
	if err != nil {
		return policy.Request{}, usagef("cannot explain: %w", err)
	}
	slots := map[string][]string{}
	for _, w := range words {
		name, word, ok := strings.Cut(w, "=")
		if !ok || name == "" {
			return policy.Request{}, usagef("cannot explain: %q is not SLOT=WORD", w)
		}
		slots[name] = append(slots[name], word)
	}
	return policy.Request{Rule: id, Slots: slots}, nil
}

// subject finds a user by name or number.
func subject(accounts policy.Accounts, who string) (policy.Subject, error) {
	account, err := accounts.User(who)
	if err != nil {
		uid, nerr := action.ParseUID(who)
		if nerr != nil {
			return policy.Subject{}, failf(exitFailed, "cannot explain: the user %q: %w", who, err)
		}
		if account, err = accounts.UserID(uid); err != nil {
			return policy.Subject{UID: uid, GID: policy.NoID}, nil
		}
	}
	groups := slices.DeleteFunc(slices.Clone(account.Groups), func(g policy.GID) bool { return g == account.GID })
	return policy.Subject{UID: account.UID, GID: account.GID, Groups: action.SortGIDs(groups)}, nil
}

// count is "1 rule", "2 rules".
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%s %s", strconv.Itoa(n), noun)
}
