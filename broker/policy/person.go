package policy

import "slices"

// PersonID names a human being: the name in the table of persons, or "uid:N"
// for a uid that is in no entry and therefore a person of its own. Names in the
// table have no colon.
type PersonID string

// PersonOf is the person a uid belongs to.
func (p *Policy) PersonOf(uid UID) PersonID {
	for _, person := range p.Persons {
		if slices.Contains(person.UIDs, uid) {
			return PersonID(person.Name)
		}
	}
	return PersonID("uid:" + uid.String())
}

// PersonOfPrincipal is the person a key's principal belongs to. A principal in
// no entry is nobody: false.
func (p *Policy) PersonOfPrincipal(principal string) (PersonID, bool) {
	for _, person := range p.Persons {
		if slices.Contains(person.Principals, principal) {
			return PersonID(person.Name), true
		}
	}
	return "", false
}

// SamePerson says that two uids are one human being, who must not approve his
// own requests.
func (p *Policy) SamePerson(a, b UID) bool { return p.PersonOf(a) == p.PersonOf(b) }
