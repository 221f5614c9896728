package policy

import (
	"fmt"
	"slices"
	"strings"

	"snens/broker/action"
)

// Subject is who asks or approves, as the kernel told at connect.
type Subject action.Requester

// In says whether the subject has the group.
func (s Subject) In(gid GID) bool {
	return s.GID == gid || slices.Contains(s.Groups, gid)
}

// PrincipalKind says what a principal names.
type PrincipalKind string

// The kinds of principals.
const (
	UserPrincipal     PrincipalKind = "user"
	GroupPrincipal    PrincipalKind = "group"
	UIDPrincipal      PrincipalKind = "uid"
	EveryonePrincipal PrincipalKind = "everyone" // in rules that deny only
)

// Principal is an entry of from or approve.from, resolved when the policy was
// loaded.
type Principal struct {
	Kind PrincipalKind
	Name string // as written; "" for everyone
	UID  UID    // of user and uid
	GID  GID    // of group
}

// String is the principal as written.
func (p Principal) String() string {
	if p.Kind == EveryonePrincipal {
		return string(p.Kind)
	}
	return string(p.Kind) + ":" + p.Name
}

// canonical is what counts: the resolved id.
func (p Principal) canonical() string {
	switch p.Kind {
	case GroupPrincipal:
		return "gid:" + p.GID.String()
	case EveryonePrincipal:
		return "everyone"
	}
	return "uid:" + p.UID.String()
}

// Holds says whether s is the principal, or one of its group.
func (p Principal) Holds(s Subject) bool {
	switch p.Kind {
	case UserPrincipal, UIDPrincipal:
		return p.UID == s.UID && s.UID != NoID
	case GroupPrincipal:
		return s.In(p.GID)
	case EveryonePrincipal:
		return true
	}
	return false
}

func holds(list []Principal, s Subject) bool {
	return slices.ContainsFunc(list, func(p Principal) bool { return p.Holds(s) })
}

// parsePrincipal reads an entry of from or approve.from.
func parsePrincipal(s string, accounts Accounts) (Principal, error) {
	kind, name, found := strings.Cut(s, ":")
	p := Principal{Kind: PrincipalKind(kind), Name: name}
	switch {
	case s == string(EveryonePrincipal):
		return Principal{Kind: EveryonePrincipal}, nil
	case !found:
		return p, fmt.Errorf("%s names nobody; write user:NAME, group:NAME or uid:NUMBER", quote(s))
	case p.Kind == "principal":
		return p, errMissing("a principal, who approves by a signature,")
	case p.Kind == UIDPrincipal:
		uid, err := action.ParseUID(name)
		p.UID = uid
		return p, err
	case p.Kind == UserPrincipal:
		account, err := findUser(name, accounts)
		p.UID = account.UID
		return p, err
	case p.Kind == GroupPrincipal:
		gid, err := findGroup(name, accounts)
		p.GID = gid
		return p, err
	}
	return p, fmt.Errorf("%s: %s is no kind of principal; write user:NAME, group:NAME or uid:NUMBER", quote(s), quote(kind))
}

// accountName says why name cannot name a user or group: numbers must not pass
// for names, because tools disagree on what they mean.
func accountName(name string) error {
	if name == "" {
		return fmt.Errorf("the name must not be empty")
	}
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-' && c != '.' && (c != '$' || i != len(name)-1)) {
			return fmt.Errorf("%s is not the name of an account: use letters, digits, - _ ., a letter or _ first", quote(name))
		}
	}
	return nil
}

func findUser(name string, accounts Accounts) (Account, error) {
	if err := accountName(name); err != nil {
		return Account{UID: NoID, GID: NoID}, err
	}
	account, err := accounts.User(name)
	if err == nil && (account.UID == NoID || account.GID == NoID) {
		err = fmt.Errorf("user %s has an id that the kernel takes for none", quote(name))
	}
	if err != nil {
		return Account{UID: NoID, GID: NoID}, err
	}
	return account, nil
}

func findGroup(name string, accounts Accounts) (GID, error) {
	if err := accountName(name); err != nil {
		return NoID, err
	}
	gid, err := accounts.Group(name)
	if err == nil && gid == NoID {
		err = fmt.Errorf("group %s has an id that the kernel takes for none", quote(name))
	}
	if err != nil {
		return NoID, err
	}
	return gid, nil
}
