package policy

import "slices"

// covers says that a matches whatever b matches. It may miss a case, and then
// says no; it never says yes wrongly.
func (p *Policy) covers(a, b *Rule) bool {
	if a.Command != b.Command || !p.coversFrom(a.From, b.From) {
		return false
	}
	if a.AnyArgs {
		return true
	}
	if b.AnyArgs || len(a.Args) != len(b.Args) {
		return false
	}
	for i := range a.Args {
		if !a.Args[i].covers(b.Args[i], a.Decision == Deny) {
			return false
		}
	}
	return true
}

// coversFrom goes by members of groups as they are now.
func (p *Policy) coversFrom(a, b []Principal) bool {
	return !slices.ContainsFunc(b, func(who Principal) bool {
		return !slices.ContainsFunc(a, func(by Principal) bool {
			switch {
			case by.Kind == EveryonePrincipal, by.canonical() == who.canonical():
				return true
			case by.Kind == GroupPrincipal && (who.Kind == UserPrincipal || who.Kind == UIDPrincipal):
				return slices.Contains(p.host.Accounts.Members(by.GID), who.UID)
			}
			return false
		})
	})
}

// covers says that a takes whatever b takes.
func (a Arg) covers(b Arg, deny bool) bool {
	if a.Slot == nil {
		return b.Slot == nil && a.Literal == b.Literal
	}
	s := a.Slot
	accepts := func(word string) bool {
		// What the machine has to say is not known here, except in a rule that
		// denies, which does not ask it.
		return s.reject(word, deny) == "" && (deny || s.Kind != KindPath && s.Kind != KindUser)
	}
	if b.Slot == nil {
		return accepts(b.Literal)
	}
	o := b.Slot
	if s.Many < o.Many || o.Optional && !s.Optional {
		return false
	}
	switch {
	case o.Kind == KindEnum:
		return !slices.ContainsFunc(o.Values, func(v string) bool { return !accepts(v) })
	case s.Kind != o.Kind || o.AllowDash && !s.AllowDash:
		return false
	}
	switch s.Kind {
	case KindInt, KindUser:
		return s.Min <= o.Min && o.Max <= s.Max
	case KindWord:
		return s.Pattern == o.Pattern && o.Max <= s.Max
	case KindUnit:
		return s.pattern == nil || s.Pattern == o.Pattern
	case KindPath:
		// A path as text is looked at more closely than one as a descriptor.
		return (s.Beneath == o.Beneath || beneath(s.Beneath, o.Beneath)) && (deny || s.As == o.As)
	}
	return false
}
