package main

import (
	"path/filepath"

	"snens/broker/policy"
)

const checkHelp = `snens-priv check — reads the policy as serve would and says what is wrong with it.
snens-priv check [--config FILE] [--user] [--strict]

Errors keep a policy from being loaded: exit status 1. Findings are what loads but
is probably not meant (a rule that is never reached, a group without members):
exit status 0, and 1 with --strict. Beside FILE.toml the files in FILE.d count.

  --config FILE  the policy instead of /etc/snens/priv.toml
  --user         as the broker of one user takes it: files may be the user's own
  --strict       findings are errors
`

func (a *app) check(args []string) error {
	set := options("check")
	config := set.String("config", "", "")
	user := set.Bool("user", false, "")
	strict := set.Bool("strict", false, "")
	if err := parse(set, args, false); err != nil {
		return err
	}
	p, err := a.loadPolicy(*config, *user)
	if err != nil {
		return err
	}
	for _, note := range p.Notes {
		if err := a.printf("note: %s\n", line(note)); err != nil {
			return err
		}
	}
	findings := p.Findings()
	for _, f := range findings {
		if err := a.printf("warning: %s\n", line(f.String())); err != nil {
			return err
		}
	}
	if err := a.printf("%s in %s, %s\n", count(len(p.Rules), "rule"), count(len(p.Files), "file"), count(len(findings), "finding")); err != nil {
		return err
	}
	if *strict && len(findings) > 0 {
		return &failure{status: exitFailed}
	}
	return nil
}

// loadPolicy reads the policy at config, or at the usual place.
func (a *app) loadPolicy(config string, user bool) (*policy.Policy, error) {
	config, err := a.configPath(config, user)
	if err != nil {
		return nil, err
	}
	p, err := policy.LoadSystem(config, dropIns(config), a.policyOptions(user))
	if err != nil {
		f := failf(exitFailed, "%w", err)
		if !user && a.uid != 0 {
			f.hint = "the system's policy must be root's alone; --user takes files of your own"
		}
		return nil, f
	}
	return p, nil
}

func (a *app) configPath(config string, user bool) (string, error) {
	if config == "" {
		p, err := a.placesOf(user)
		return p.config, err
	}
	config, err := filepath.Abs(config)
	if err != nil {
		return "", failf(exitFailed, "cannot find the policy: %w", err)
	}
	return config, nil
}
