package prepare

import (
	"errors"
	"fmt"
	"os"
	"time"

	"snens/broker/action"
	"snens/broker/policy"
	"snens/internal/spawn"
)

// blank is everything of a request that does not follow from its rule.
type blank struct {
	rule      *policy.Rule
	argv      []string // as it is executed
	files     []spawn.File
	opened    []action.OpenedFile
	fd        *policy.PathFD // the word behind opened
	cwd       string
	env       []action.Var
	stdin     action.Stdin
	modes     action.Modes
	requester action.Requester
	expires   time.Time
	nonce     action.Nonce
}

// seal fills in the rest and seals it.
func (m *Maker) seal(b blank) (*action.Sealed, error) {
	as, err := m.runAs(b.rule)
	if err != nil {
		return nil, err
	}
	r := action.Request{
		Argv: b.argv, Opened: b.opened, Cwd: b.cwd, Env: b.env, RunAs: as, Umask: b.rule.Umask,
		Timeout: b.rule.Timeout, Limits: b.rule.Limits, Modes: b.modes, Stdin: b.stdin,
		Requester: b.requester, Rule: b.rule.ID, RuleDigest: b.rule.Digest,
		Expires: b.expires, Nonce: b.nonce, Install: m.o.Install,
	}
	for i, f := range b.files {
		file := action.File{Path: f.Path, Device: f.Dev, Inode: f.Inode, SHA256: f.SHA256}
		if i == 0 {
			r.Executable = file
		} else {
			r.Interpreters = append(r.Interpreters, file)
		}
	}
	return action.Seal(r)
}

// runAs is the rule's, with the groups by the accounts as they were when it was
// loaded. Without root a process keeps its groups whatever the accounts say, so
// in --user mode they are what is told.
func (m *Maker) runAs(r *policy.Rule) (action.RunAs, error) {
	as := r.RunAs.RunAs
	if !m.o.UserMode {
		return as, nil
	}
	if int(as.UID) != os.Geteuid() || int(as.GID) != os.Getegid() {
		return as, fmt.Errorf("rule %s runs as uid %d, gid %d: in --user mode that must be those of the broker, %d and %d", r.ID, as.UID, as.GID, os.Geteuid(), os.Getegid())
	}
	own, err := os.Getgroups()
	if err != nil {
		return as, errors.Join(errors.New("cannot learn our own groups"), err)
	}
	as.Groups = nil
	for _, g := range own {
		as.Groups = append(as.Groups, action.GID(g))
	}
	as.Groups = action.SortGIDs(as.Groups)
	return as, nil
}
