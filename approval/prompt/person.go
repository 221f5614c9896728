package prompt

import (
	"fmt"
	"strings"

	"snens/broker/action"
)

// PersonID names a human being: a name of the table, or "uid:N". The empty one
// is nobody.
type PersonID string

// Person is one entry of the table.
type Person struct {
	Name       string
	UIDs       []action.UID
	Principals []string
}

// Persons is the table, ready for look-up. The zero value is the empty table.
type Persons struct {
	byUID       map[action.UID]PersonID
	byPrincipal map[string]PersonID
}

// NewPersons checks a table: names are there once and have no colon, a uid and
// a principal belong to one person.
func NewPersons(table []Person) (Persons, error) {
	p := Persons{byUID: map[action.UID]PersonID{}, byPrincipal: map[string]PersonID{}}
	names := map[string]bool{}
	for _, person := range table {
		switch {
		case person.Name == "" || strings.Contains(person.Name, ":"):
			return Persons{}, fmt.Errorf("%q is no name of a person: it must not be empty or hold a colon", person.Name)
		case names[person.Name]:
			return Persons{}, fmt.Errorf("person %q is there twice; join the two entries", person.Name)
		}
		names[person.Name] = true
		for _, uid := range person.UIDs {
			if other, taken := p.byUID[uid]; taken || uid == action.NoID {
				return Persons{}, fmt.Errorf("person %q: uid %v is no uid or belongs to person %q already", person.Name, uid, other)
			}
			p.byUID[uid] = PersonID(person.Name)
		}
		for _, principal := range person.Principals {
			if other, taken := p.byPrincipal[principal]; taken || principal == "" {
				return Persons{}, fmt.Errorf("person %q: principal %q is empty or belongs to person %q already", person.Name, principal, other)
			}
			p.byPrincipal[principal] = PersonID(person.Name)
		}
	}
	return p, nil
}

// OfUID is the person a uid belongs to; always one.
func (p Persons) OfUID(uid action.UID) PersonID {
	if id, ok := p.byUID[uid]; ok {
		return id
	}
	return PersonID("uid:" + uid.String())
}

// OfPrincipal is the person a key's principal belongs to; false when there is none.
func (p Persons) OfPrincipal(principal string) (PersonID, bool) {
	id, ok := p.byPrincipal[principal]
	return id, ok
}
